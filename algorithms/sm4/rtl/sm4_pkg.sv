// SPDX-License-Identifier: Apache-2.0
//
// SM4 (GB/T 32907-2016; section numbers of draft-ribose-cfrg-sm4): S-box from its definition, the two linear
// maps, the constants of the key schedule. Words are big-endian in a block, bytes come first-byte-low.
package sm4_pkg;

  localparam int unsigned Rounds = 32;

  typedef logic [7:0] byte_t;
  typedef logic [31:0] word_t;
  typedef logic [127:0] block_t;

  // FK (7.3.1), word 0 first.
  localparam word_t SystemParameter[4] = '{32'hA3B1BAC6, 32'h56AA3350, 32'h677D9197, 32'hB27022DC};
  // CK (7.3.2): byte j of word i is 7 (4i + j) mod 256, so each byte grows by 28.
  localparam word_t FirstConstant = 32'h00070E15;

  function automatic word_t next_constant(input word_t ck);
    for (int i = 0; i < 4; i++) next_constant[8*i+:8] = ck[8*i+:8] + 8'd28;
  endfunction

  // Multiplication in GF(2^8) mod x^8+x^7+x^6+x^5+x^4+x^2+1.
  function automatic byte_t multiply(input byte_t a, input byte_t b);
    byte_t product = '0;
    byte_t shifted = a;
    for (int i = 0; i < 8; i++) begin
      if (b[i]) product ^= shifted;
      shifted = {shifted[6:0], 1'b0} ^ (8'hF5 & {8{shifted[7]}});
    end
    return product;
  endfunction

  // a^254 is 1/a, and 0 for 0.
  function automatic byte_t invert(input byte_t a);
    byte_t power = a;
    byte_t product = 8'h01;
    for (int i = 0; i < 7; i++) begin
      power   = multiply(power, power);
      product = multiply(product, power);
    end
    return product;
  endfunction

  // Bit i is the sum of bits i, i+1, i+2, i+5 and i+7, and of the constant's.
  function automatic byte_t affine(input byte_t a);
    return a ^ {a[0], a[7:1]} ^ {a[1:0], a[7:2]} ^ {a[4:0], a[7:5]} ^ {a[6:0], a[7]} ^ 8'hD3;
  endfunction

  typedef byte_t [255:0] table_t;

  function automatic table_t make_table();
    for (int i = 0; i < 256; i++) make_table[i] = affine(invert(affine(byte_t'(i))));
  endfunction

  localparam table_t SBox = make_table();

  // Tau (6.2.1).
  function automatic word_t substitute(input word_t a);
    for (int i = 0; i < 4; i++) substitute[8*i+:8] = SBox[a[8*i+:8]];
  endfunction

  function automatic word_t rotl(input word_t a, input int unsigned n);
    return (a << n) | (a >> (32 - n));
  endfunction

  // L of the rounds (6.2.2) and L' of the key schedule (7.3).
  function automatic word_t mix(input word_t b);
    return b ^ rotl(b, 2) ^ rotl(b, 10) ^ rotl(b, 18) ^ rotl(b, 24);
  endfunction

  function automatic word_t mix_key(input word_t b);
    return b ^ rotl(b, 13) ^ rotl(b, 23);
  endfunction

  // The wire's byte order to that of a word, and back.
  function automatic word_t swap(input word_t x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

endpackage

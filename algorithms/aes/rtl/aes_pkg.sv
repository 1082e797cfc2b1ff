// SPDX-License-Identifier: Apache-2.0
//
// AES (FIPS 197): field arithmetic, the S-box from its definition, and the two column mixers. A word is four
// bytes of a column or of the key schedule, row 0 at bits 7:0, so that nothing is reordered at the boundary:
// byte i of a block sits at bits 8i+7:8i. "Rotate right by 8" is therefore the RotWord of the standard.
package aes_pkg;

  // Implementations of the S-box behind aes_sbox.
  localparam int unsigned SBoxEbr = 0;  // block RAM
  localparam int unsigned SBoxTower = 1;  // logic, GF((2^4)^2)

  typedef logic [7:0] byte_t;
  typedef logic [31:0] word_t;
  typedef logic [127:0] block_t;

  // Four bytes to be looked up in aes_sbox and what for, and what comes of each.
  typedef struct packed {
    logic  rest;
    logic  decrypt;
    logic  last;
    word_t a;
  } look_t;

  typedef struct packed {
    word_t x;
    word_t y;
  } sub_t;

  // Multiplication by x in GF(2^8) mod x^8+x^4+x^3+x+1.
  function automatic byte_t xtime(input byte_t a);
    return {a[6:0], 1'b0} ^ (8'h1b & {8{a[7]}});
  endfunction

  function automatic byte_t multiply(input byte_t a, input byte_t b);
    byte_t product = '0;
    byte_t shifted = a;
    for (int i = 0; i < 8; i++) begin
      if (b[i]) product ^= shifted;
      shifted = xtime(shifted);
    end
    return product;
  endfunction

  // a^254 is 1/a, and 0 for 0 (4.2): 254 = 2+4+...+128.
  function automatic byte_t invert(input byte_t a);
    byte_t power = a;
    byte_t product = 8'h01;
    for (int i = 0; i < 7; i++) begin
      power   = multiply(power, power);
      product = multiply(product, power);
    end
    return product;
  endfunction

  // The affine map of SubBytes (5.1.1) without its constant 0x63: bit i is the sum of bits i, i+4 .. i+7.
  function automatic byte_t affine(input byte_t a);
    return a ^ {a[3:0], a[7:4]} ^ {a[4:0], a[7:5]} ^ {a[5:0], a[7:6]} ^ {a[6:0], a[7]};
  endfunction

  // Its inverse, without the constant 0x05: bit i is the sum of bits i+2, i+5 and i+7.
  function automatic byte_t affine_inverse(input byte_t a);
    return {a[1:0], a[7:2]} ^ {a[4:0], a[7:5]} ^ {a[6:0], a[7]};
  endfunction

  function automatic byte_t sub_byte(input byte_t a);
    return affine(invert(a)) ^ 8'h63;
  endfunction

  function automatic byte_t inv_sub_byte(input byte_t a);
    return invert(affine_inverse(a) ^ 8'h05);
  endfunction

  // Row r takes the byte of row r+n.
  function automatic word_t ror8(input word_t a);
    return {a[7:0], a[31:8]};
  endfunction

  function automatic word_t ror16(input word_t a);
    return {a[15:0], a[31:16]};
  endfunction

  function automatic word_t ror24(input word_t a);
    return {a[23:0], a[31:24]};
  endfunction

  // xtime of each byte; one expression over the word, which simulates in a few instructions.
  function automatic word_t xtime_word(input word_t a);
    word_t carry = (a >> 7) & 32'h0101_0101;
    return ((a << 1) & 32'hfefe_fefe) ^ carry ^ (carry << 1) ^ (carry << 3) ^ (carry << 4);
  endfunction

  // InvMixColumns (5.3.3): MixColumns of the column to which 4(a[r] + a[r+2]) has been added.
  function automatic word_t inv_mix_word(input word_t a);
    word_t half = xtime_word(xtime_word(a ^ ror16(a)));
    word_t b = a ^ half;
    return xtime_word(b ^ ror8(b)) ^ ror8(b) ^ ror16(b) ^ ror24(b);
  endfunction

endpackage

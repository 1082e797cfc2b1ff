// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89 (RFC 5830) in the byte order of Magma (RFC 8891): the published sets of S-boxes and the order of the
// round keys. The standard leaves the S-boxes open; Magma is the cipher with the set of TC 26.
package gost_pkg;

  localparam int unsigned Rounds = 32;
  localparam int unsigned Sets = 5;

  typedef logic [31:0] word_t;
  typedef logic [63:0] block_t;  // byte 0 at bits 7:0
  typedef logic [4:0] round_t;

  // By set, by nibble, the lowest first: what 0 to 15 become, as hexadecimal digits, the first one for 0.
  // verilog_format: off
  localparam block_t SBox[Sets][8] = '{
    // id-tc26-gost-28147-param-Z (RFC 8891, 4.1): Magma
    '{64'hC462A5B9E8D703F1, 64'h68239A5C1E47BD0F, 64'hB3582FADE174C960, 64'hC821D4F670A53E9B,
      64'h7F5A816D093EB42C, 64'h5DF692CAB78143E0, 64'h8E25691CF4B0DA37, 64'h17ED05834FA69CB2},
    // id-Gost28147-89-CryptoPro-A-ParamSet (RFC 4357, 11.2), then B, C, D
    '{64'h96328B17A4EFC0D5, 64'h37E98AF0526CB4D1, 64'hE462B3D8CF5A0719, 64'hE7ACD13902B4F856,
      64'hB5198DF0E423C7A6, 64'h3ADC120B75948FE6, 64'h1D297A608C45F3BE, 64'hBAF50CE8623917D4},
    '{64'h84B135092EACD67F, 64'h012A4D5C973FB86E, 64'hEC0A92DB758F3614, 64'h750DB6123ACF4E98,
      64'h27CF95AB140D68E3, 64'h83264DEBC17FA095, 64'h52AB91C374D06F8E, 64'h04BE8371A296FD5C},
    '{64'h1BC29D0F458EA763, 64'h017DB4528EFC9A63, 64'h825049FA37CD6E1B, 64'h36015DA8B297EFC4,
      64'h8DB0451293CE6FA7, 64'hC9B18E247365A0FD, 64'hA968DE20F35B41C7, 64'h7405A2FEC61BD938},
    '{64'hFC2A645079ED1B83, 64'hB634CFE27D805A91, 64'h1CB0FE65AD489372, 64'h15ECA70D62B493F8,
      64'h0C89D2AB73654EF1, 64'h80F325EB1A47C9D6, 64'h306F1E92D8C4BA57, 64'h1A68FB04C3597D2E}
  };
  // verilog_format: on

  // The LUT that makes bit `place` of what an S-box says.
  function automatic logic [15:0] lut(input logic [2:0] set, input logic [2:0] nibble,
                                      input logic [1:0] place);
    for (int unsigned v = 0; v < 16; v++) lut[v] = SBox[set][nibble][4*(15-v)+32'(place)];
  endfunction

  // True if all S-boxes are permutations.
  function automatic bit sets_are_sound();
    logic [15:0] seen;
    for (int unsigned set = 0; set < Sets; set++) begin
      for (int unsigned nibble = 0; nibble < 8; nibble++) begin
        seen = '0;
        for (int unsigned v = 0; v < 16; v++) seen[SBox[set][nibble][4*v+:4]] = 1'b1;
        if (seen != '1) return 1'b0;
      end
    end
    return 1'b1;
  endfunction

  // Which word of the key a round adds: in order three times, then backwards; decryption the other way round.
  function automatic logic [2:0] key_word(input round_t round, input logic decrypt);
    logic backward;
    backward = decrypt ? round >= 8 : round >= 24;
    return round[2:0] ^ {3{backward}};
  endfunction

  // The wire's byte order to that of a word, and back.
  function automatic word_t swap(input word_t x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  function automatic word_t rotate_left_11(input word_t x);
    return {x[20:0], x[31:21]};
  endfunction

endpackage

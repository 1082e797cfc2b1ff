// SPDX-License-Identifier: Apache-2.0
//
// DES (FIPS 46-3): the tables in the standard's own rows, and the functions a round is made of. The
// standard numbers bits from 1 at the left; block and key come with byte 0 at bits 7:0, as on the wire.
// In that byte order the initial permutation and permuted choice 1 are an 8 x 8 transposition followed by
// a choice of rows, and they are written so, because a simulator moves rows faster than single bits;
// `tables_agree` holds them against the standard's tables when a core is elaborated.
package des_pkg;

  typedef logic [63:0] block_t;  // byte 0 at bits 7:0
  typedef logic [31:0] half_t;  // bit 1 of the standard at bit 31
  typedef logic [47:0] subkey_t;  // bit 1 of the standard at bit 47

  // C and D of the key schedule, bit 1 of the standard at bit 27 of each.
  typedef struct packed {
    logic [27:0] c;
    logic [27:0] d;
  } key_t;

  localparam int unsigned Rounds = 16;

  // verilog_format: off
  localparam int IpTable[64] = '{
    58, 50, 42, 34, 26, 18, 10,  2,
    60, 52, 44, 36, 28, 20, 12,  4,
    62, 54, 46, 38, 30, 22, 14,  6,
    64, 56, 48, 40, 32, 24, 16,  8,
    57, 49, 41, 33, 25, 17,  9,  1,
    59, 51, 43, 35, 27, 19, 11,  3,
    61, 53, 45, 37, 29, 21, 13,  5,
    63, 55, 47, 39, 31, 23, 15,  7
  };

  localparam int ETable[48] = '{
    32,  1,  2,  3,  4,  5,
     4,  5,  6,  7,  8,  9,
     8,  9, 10, 11, 12, 13,
    12, 13, 14, 15, 16, 17,
    16, 17, 18, 19, 20, 21,
    20, 21, 22, 23, 24, 25,
    24, 25, 26, 27, 28, 29,
    28, 29, 30, 31, 32,  1
  };

  localparam int PTable[32] = '{
    16,  7, 20, 21,
    29, 12, 28, 17,
     1, 15, 23, 26,
     5, 18, 31, 10,
     2,  8, 24, 14,
    32, 27,  3,  9,
    19, 13, 30,  6,
    22, 11,  4, 25
  };

  // S1 to S8: row from the first and last input bit, column from the four between them.
  localparam int SBox[8][4][16] = '{
    '{'{14,  4, 13,  1,  2, 15, 11,  8,  3, 10,  6, 12,  5,  9,  0,  7},
      '{ 0, 15,  7,  4, 14,  2, 13,  1, 10,  6, 12, 11,  9,  5,  3,  8},
      '{ 4,  1, 14,  8, 13,  6,  2, 11, 15, 12,  9,  7,  3, 10,  5,  0},
      '{15, 12,  8,  2,  4,  9,  1,  7,  5, 11,  3, 14, 10,  0,  6, 13}},
    '{'{15,  1,  8, 14,  6, 11,  3,  4,  9,  7,  2, 13, 12,  0,  5, 10},
      '{ 3, 13,  4,  7, 15,  2,  8, 14, 12,  0,  1, 10,  6,  9, 11,  5},
      '{ 0, 14,  7, 11, 10,  4, 13,  1,  5,  8, 12,  6,  9,  3,  2, 15},
      '{13,  8, 10,  1,  3, 15,  4,  2, 11,  6,  7, 12,  0,  5, 14,  9}},
    '{'{10,  0,  9, 14,  6,  3, 15,  5,  1, 13, 12,  7, 11,  4,  2,  8},
      '{13,  7,  0,  9,  3,  4,  6, 10,  2,  8,  5, 14, 12, 11, 15,  1},
      '{13,  6,  4,  9,  8, 15,  3,  0, 11,  1,  2, 12,  5, 10, 14,  7},
      '{ 1, 10, 13,  0,  6,  9,  8,  7,  4, 15, 14,  3, 11,  5,  2, 12}},
    '{'{ 7, 13, 14,  3,  0,  6,  9, 10,  1,  2,  8,  5, 11, 12,  4, 15},
      '{13,  8, 11,  5,  6, 15,  0,  3,  4,  7,  2, 12,  1, 10, 14,  9},
      '{10,  6,  9,  0, 12, 11,  7, 13, 15,  1,  3, 14,  5,  2,  8,  4},
      '{ 3, 15,  0,  6, 10,  1, 13,  8,  9,  4,  5, 11, 12,  7,  2, 14}},
    '{'{ 2, 12,  4,  1,  7, 10, 11,  6,  8,  5,  3, 15, 13,  0, 14,  9},
      '{14, 11,  2, 12,  4,  7, 13,  1,  5,  0, 15, 10,  3,  9,  8,  6},
      '{ 4,  2,  1, 11, 10, 13,  7,  8, 15,  9, 12,  5,  6,  3,  0, 14},
      '{11,  8, 12,  7,  1, 14,  2, 13,  6, 15,  0,  9, 10,  4,  5,  3}},
    '{'{12,  1, 10, 15,  9,  2,  6,  8,  0, 13,  3,  4, 14,  7,  5, 11},
      '{10, 15,  4,  2,  7, 12,  9,  5,  6,  1, 13, 14,  0, 11,  3,  8},
      '{ 9, 14, 15,  5,  2,  8, 12,  3,  7,  0,  4, 10,  1, 13, 11,  6},
      '{ 4,  3,  2, 12,  9,  5, 15, 10, 11, 14,  1,  7,  6,  0,  8, 13}},
    '{'{ 4, 11,  2, 14, 15,  0,  8, 13,  3, 12,  9,  7,  5, 10,  6,  1},
      '{13,  0, 11,  7,  4,  9,  1, 10, 14,  3,  5, 12,  2, 15,  8,  6},
      '{ 1,  4, 11, 13, 12,  3,  7, 14, 10, 15,  6,  8,  0,  5,  9,  2},
      '{ 6, 11, 13,  8,  1,  4, 10,  7,  9,  5,  0, 15, 14,  2,  3, 12}},
    '{'{13,  2,  8,  4,  6, 15, 11,  1, 10,  9,  3, 14,  5,  0, 12,  7},
      '{ 1, 15, 13,  8, 10,  3,  7,  4, 12,  5,  6, 11,  0, 14,  9,  2},
      '{ 7, 11,  4,  1,  9, 12, 14,  2,  0,  6, 10, 13, 15,  3,  5,  8},
      '{ 2,  1, 14,  7,  4, 10,  8, 13, 15, 12,  9,  0,  3,  5,  6, 11}}
  };

  localparam int Pc1Table[56] = '{
    57, 49, 41, 33, 25, 17,  9,
     1, 58, 50, 42, 34, 26, 18,
    10,  2, 59, 51, 43, 35, 27,
    19, 11,  3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15,
     7, 62, 54, 46, 38, 30, 22,
    14,  6, 61, 53, 45, 37, 29,
    21, 13,  5, 28, 20, 12,  4
  };

  // Left shifts in front of each round, table of page 21.
  localparam int Shifts[Rounds] = '{1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1};
  // verilog_format: on

  // One S-box and P behind it as one table: the four output bits at their places among zeros, so that a
  // round is eight look-ups. The tables run backwards: the inverters in front of them cost nothing and keep
  // Yosys from taking a register and the tables behind it for a synchronous ROM, which would move the
  // register behind the tables.
  typedef half_t [63:0] sp_t;

  function automatic sp_t sp_box(input int unsigned box);
    sp_t        table_out;
    logic [3:0] s;
    for (int i = 0; i < 64; i++) begin
      // Row: bits 1 and 6 of the input, column: bits 2 to 5.
      s = 4'(SBox[box][2*(i/32)+i%2][(i/2)%16]);
      for (int b = 0; b < 32; b++) begin
        // Bit b+1 behind P comes from bit PTable[b] in front of it.
        table_out[63-i][31-b] = (PTable[b] - 1) / 4 == int'(box) ? s[3-(PTable[b]-1)%4] : 1'b0;
      end
    end
    return table_out;
  endfunction

  localparam sp_t Sp1 = sp_box(0);
  localparam sp_t Sp2 = sp_box(1);
  localparam sp_t Sp3 = sp_box(2);
  localparam sp_t Sp4 = sp_box(3);
  localparam sp_t Sp5 = sp_box(4);
  localparam sp_t Sp6 = sp_box(5);
  localparam sp_t Sp7 = sp_box(6);
  localparam sp_t Sp8 = sp_box(7);

  // E: eight windows of six bits, each overlapping its neighbours by one on both sides.
  function automatic subkey_t expand(input half_t r);
    return {r[0], r[31:27], r[28:23], r[24:19], r[20:15], r[16:11], r[12:7], r[8:3], r[4:0], r[31]};
  endfunction

  // R from E(R): the four bits in the middle of each window.
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic half_t contract(input subkey_t x);
    return {x[46:43], x[40:37], x[34:31], x[28:25], x[22:19], x[16:13], x[10:7], x[4:1]};
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  // f(R, K) without the exclusive-or of K: S and P of x = E(R) ^ K.
  function automatic half_t sp_layer(input subkey_t x);
    subkey_t n;
    n = ~x;
    return Sp1[n[47:42]] | Sp2[n[41:36]] | Sp3[n[35:30]] | Sp4[n[29:24]]
         | Sp5[n[23:18]] | Sp6[n[17:12]] | Sp7[n[11:6]] | Sp8[n[5:0]];
  endfunction

  function automatic half_t f(input half_t r, input subkey_t k);
    return sp_layer(expand(r) ^ k);
  endfunction

  // Byte i, bit j goes to byte j, bit i: the 2 x 2, then 4 x 4, then 8 x 8 sub-squares are transposed.
  function automatic block_t transpose(input block_t x);
    block_t y;
    y = x;
    y = (y & 64'hAA55AA55AA55AA55) | ((y & 64'h00AA00AA00AA00AA) << 7) | ((y >> 7) & 64'h00AA00AA00AA00AA);
    y = (y & 64'hCCCC3333CCCC3333) | ((y & 64'h0000CCCC0000CCCC) << 14) | ((y >> 14) & 64'h0000CCCC0000CCCC);
    y = (y & 64'hF0F0F0F00F0F0F0F) | ((y & 64'h00000000F0F0F0F0) << 28) | ((y >> 28) & 64'h00000000F0F0F0F0);
    return y;
  endfunction

  // IP: {L, R}. The columns of the block, even ones to L, odd ones to R, the right one first.
  function automatic block_t initial_permutation(input block_t x);
    block_t t;
    t = transpose(x);
    return {t[55:48], t[39:32], t[23:16], t[7:0], t[63:56], t[47:40], t[31:24], t[15:8]};
  endfunction

  // The inverse of IP, of {R16, L16}.
  function automatic block_t final_permutation(input block_t x);
    return transpose({x[31:24], x[63:56], x[23:16], x[55:48], x[15:8], x[47:40], x[7:0], x[39:32]});
  endfunction

  // Permuted choice 1: leaves out the parity bits, which are the right column.
  function automatic key_t permuted_choice_1(input block_t x);
    logic [63:8] t;
    t = 56'(transpose(x) >> 8);
    return '{c: {t[63:56], t[55:48], t[47:40], t[39:36]}, d: {t[15:8], t[23:16], t[31:24], t[35:32]}};
  endfunction

  // Permuted choice 2, in the standard's rows and numbers: C is b[1] to b[28], D b[29] to b[56].
  // verilog_format: off
  /* verilator lint_off ASCRANGE */
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic subkey_t permuted_choice_2(input logic [1:56] b);
    return {
      b[14], b[17], b[11], b[24], b[ 1], b[ 5],
      b[ 3], b[28], b[15], b[ 6], b[21], b[10],
      b[23], b[19], b[12], b[ 4], b[26], b[ 8],
      b[16], b[ 7], b[27], b[20], b[13], b[ 2],
      b[41], b[52], b[31], b[37], b[47], b[55],
      b[30], b[40], b[51], b[45], b[33], b[48],
      b[44], b[49], b[39], b[56], b[34], b[53],
      b[46], b[42], b[50], b[36], b[29], b[32]
    };
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
  /* verilator lint_on ASCRANGE */
  // verilog_format: on

  function automatic key_t rotate_left_1(input key_t x);
    return '{c: {x.c[26:0], x.c[27]}, d: {x.d[26:0], x.d[27]}};
  endfunction

  function automatic key_t rotate_left_2(input key_t x);
    return '{c: {x.c[25:0], x.c[27:26]}, d: {x.d[25:0], x.d[27:26]}};
  endfunction

  function automatic key_t rotate_right_2(input key_t x);
    return '{c: {x.c[1:0], x.c[27:2]}, d: {x.d[1:0], x.d[27:2]}};
  endfunction

  // End to end, each half for itself.
  function automatic key_t turn(input key_t x);
    key_t y;
    for (int i = 0; i < 28; i++) begin
      y.c[i] = x.c[27-i];
      y.d[i] = x.d[27-i];
    end
    return y;
  endfunction

  // True if the functions above are what the standard's tables say; they are linear, so it is enough to
  // look at every input bit on its own. Bit n of the standard is bit 7-(n-1)%8 of byte (n-1)/8.
  function automatic bit tables_agree();
    block_t x, y;
    key_t    k;
    subkey_t e;
    for (int n = 1; n <= 64; n++) begin
      x = '0;
      x[8*((n-1)/8)+7-(n-1)%8] = 1'b1;
      y = initial_permutation(x);
      k = permuted_choice_1(x);
      for (int i = 0; i < 64; i++) if (y[63-i] != (IpTable[i] == n)) return 1'b0;
      for (int i = 0; i < 56; i++) if (k[55-i] != (Pc1Table[i] == n)) return 1'b0;
      if (final_permutation(y) != x) return 1'b0;
    end
    for (int n = 1; n <= 32; n++) begin
      e = expand(half_t'(1) << (32 - n));
      for (int i = 0; i < 48; i++) if (e[47-i] != (ETable[i] == n)) return 1'b0;
    end
    return 1'b1;
  endfunction

endpackage

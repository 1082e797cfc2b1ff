// SPDX-License-Identifier: Apache-2.0
//
// Serpent (Anderson, Biham, Knudsen: the AES submission), bit-sliced: the S-boxes as tables, applied to whole
// words, and the linear mix with a round key merged into it. Word 0 is bits 31:0 of a block and bit 0 of every
// S-box; bytes of words and keys are little-endian (the order of NESSIE, and of everybody who ciphers packets
// with Serpent), so that nothing is reordered at the boundary.
package serpent_pkg;

  typedef logic [31:0] word_t;
  typedef word_t [3:0] block_t;

  // Entry v of S-box i is SBoxes[i][v].
  typedef logic [15:0][3:0] table_t;

  localparam logic [3:0] SBoxes[8][16] = '{
    '{3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12},
    '{15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4},
    '{8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2},
    '{0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14},
    '{1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13},
    '{15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1},
    '{7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0},
    '{1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6}
  };

  // The fractional part of the golden ratio, which goes into every word of the key schedule.
  localparam word_t Phi = 32'h9e3779b9;

  function automatic table_t sbox_table(input logic [2:0] index, input bit inverse);
    for (int unsigned v = 0; v < 16; v++) begin
      if (inverse) sbox_table[SBoxes[index][v]] = 4'(v);
      else sbox_table[v] = SBoxes[index][v];
    end
  endfunction

  function automatic word_t rol(input word_t x, input int unsigned by);
    return (x << by) | (x >> (32 - by));
  endfunction

  function automatic word_t ror(input word_t x, input int unsigned by);
    return (x >> by) | (x << (32 - by));
  endfunction

  // The form of a round key that is merged into the linear mix on either side of it, where words 0 and 2 take in
  // words 1 and 3 with their parts of the key. Words 1 and 3 stay.
  function automatic block_t merge_key(input block_t k);
    return {k[3], k[2] ^ rol(k[3] ^ (k[1] << 7), 22), k[1], k[0] ^ rol(k[1] ^ k[3], 5)};
  endfunction

  // The linear mix; then the round key of which k is the merged form. No bit is a sum of more than four.
  function automatic block_t mix(input block_t x, input block_t k);
    word_t x0, x1, x2, x3;
    x0 = rol(x[0], 13);
    x2 = rol(x[2], 3);
    x1 = rol(x[1] ^ x0 ^ x2, 1) ^ k[1];
    x3 = rol(x[3] ^ x2 ^ (x0 << 3), 7) ^ k[3];
    x0 = rol(x0 ^ x1 ^ x3, 5) ^ k[0];
    x2 = rol(x2 ^ x3 ^ (x1 << 7), 22) ^ k[2];
    return {x3, x2, x1, x0};
  endfunction

  // The round key of which k is the merged form; then the inverse of the linear mix.
  function automatic block_t unmix(input block_t x, input block_t k);
    word_t x0, x1, x2, x3;
    x2 = ror(x[2] ^ k[2], 22) ^ x[3] ^ (x[1] << 7);
    x0 = ror(x[0] ^ k[0], 5) ^ x[1] ^ x[3];
    x3 = ror(x[3] ^ k[3], 7) ^ x2 ^ (x0 << 3);
    x1 = ror(x[1] ^ k[1], 1) ^ x0 ^ x2;
    return {x3, ror(x2, 3), x1, ror(x0, 13)};
  endfunction

endpackage

// SPDX-License-Identifier: Apache-2.0
//
// IDEA (Lai and Massey; X. Lai, On the Design and Security of Block Ciphers, 1992): words, blocks, and where
// the 52 subkeys go. Words are 16 bits, big-endian on the wire; in multiplications zero stands for 2^16.
package idea_pkg;

  localparam int unsigned Rounds = 8;  // and half of one behind them
  localparam int unsigned Roles = 6;  // subkeys of a round

  // How a product modulo 2^16 + 1 deals with a word of zero: see idea_mul.
  localparam int unsigned MulLowHigh = 0;
  localparam int unsigned MulBiham = 1;

  typedef logic [15:0] word_t;
  typedef logic [63:0] block_t;

  // The subkeys of a round, Z1 to Z6 of the thesis, are roles 0 to 5. Roles 0, 3, 4 and 5 multiply; their
  // subkeys are stored less one. Row 8 is the output transformation: its two additive subkeys are exchanged, as
  // the data path exchanges the words they go with.
  typedef logic [2:0] role_t;
  typedef logic [3:0] round_t;

  // What idea_mul makes: y, and the same in two parts, y = rest ^ patch = rest + patch. The patch is there long before
  // the rest, and for MulBiham the rest of x = 0 is zero. And rest = part + one, a little sooner.
  typedef struct packed {
    word_t y;
    word_t rest;
    word_t part;
    word_t patch;
    logic  one;
  } product_t;

  // A subkey that idea_key_schedule has made: of which set, round and role.
  typedef struct packed {
    logic               valid;
    core_pkg::context_t number;
    logic               decrypt;
    round_t             round;
    role_t              role;
    word_t              word;
  } subkey_t;

  // Eight words of a key, and a beat that replaces half of them.
  typedef word_t [7:0] key_t;

  // Word n (0 to 3) of a block or of a key beat.
  function automatic word_t word_of(input block_t block, input int unsigned n);
    return {block[16*n+:8], block[16*n+8+:8]};
  endfunction

  function automatic key_t with_beat(input key_t key, input logic upper, input block_t beat);
    key_t words = key;
    for (int unsigned n = 0; n < 4; n++) words[{upper, 2'(n)}] = word_of(beat, n);
    return words;
  endfunction

  function automatic block_t block_of(input word_t a, input word_t b, input word_t c, input word_t d);
    return {d[7:0], d[15:8], c[7:0], c[15:8], b[7:0], b[15:8], a[7:0], a[15:8]};
  endfunction

  function automatic logic additive(input role_t role);
    return role == 3'd1 || role == 3'd2;
  endfunction

endpackage

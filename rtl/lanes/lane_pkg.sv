// SPDX-License-Identifier: Apache-2.0
//
// What the parts of lane_front have in common.
package lane_pkg;

  // What is to be done with a block; ECB is none of these.
  typedef struct packed {
    logic ctr;
    logic cbc;
    logic decrypt;  // never with ctr
  } way_t;

  // The parameters of lane_front, as its parts get them.
  typedef struct packed {
    logic [7:0]  algorithm;
    logic [63:0] key_lengths;
    logic        encrypt;
    logic        decrypt;
    logic        ecb;
    logic        cbc;
    logic        ctr;
    int unsigned block_bytes;
    int unsigned lanes;
    int unsigned contexts;
    int unsigned tickets;
    int unsigned lane_blocks;
  } shape_t;

  localparam shape_t AnyShape = '{
    algorithm: 8'h01,
    key_lengths: 64'd1 << 16,
    encrypt: 1'b1,
    decrypt: 1'b1,
    ecb: 1'b1,
    cbc: 1'b1,
    ctr: 1'b1,
    block_bytes: 16,
    lanes: 8,
    contexts: 8,
    tickets: 4,
    lane_blocks: 128
  };

endpackage

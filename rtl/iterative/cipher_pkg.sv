// SPDX-License-Identifier: Apache-2.0
//
// What the parts of cipher_front have in common.
package cipher_pkg;

  // Modes besides ECB, CBC and CTR.
  typedef struct packed {
    logic ofb;
    logic cfb8;  // CFB with bytes
    logic cfb;   // CFB with blocks
  } modes_t;

  // What tops tell cipher_front, and that its parts.
  typedef struct packed {
    logic [7:0]  algorithm;    // the code that frames must carry
    logic [63:0] key_lengths;  // bit n set: a key of n bytes is legal
    int unsigned block_bytes;  // 8 or 16
    int unsigned block_bits;
    logic        decrypt;      // whether the core can do that
    modes_t      modes;
    // Take a beat in the very clock in which a block enters the core: for a core so fast that this clock counts, at
    // the price of a path from its handshake to the shell. Not in CTR, CFB, OFB.
    logic        eager;
    logic        unhurried;    // the core takes two clocks or more: its block is seen to be the last later
  } shape_t;

  localparam shape_t AnyShape = '{
    algorithm: 8'h01,
    key_lengths: 64'h1_0101_0000,
    block_bytes: 16,
    block_bits: 128,
    decrypt: 1'b1,
    modes: '1,
    eager: 1'b0,
    unhurried: 1'b0
  };

  // What a frame asks of the blocks.
  typedef struct packed {
    logic stream;    // the core encrypts, and payload goes to the mask: CTR, CFB, OFB
    logic count;     // of these CTR
    logic cfb;       // of these CFB
    logic feedback;  // results enter with the next block: CBC and CFB encryption, OFB
    logic mixing;    // what leaves the core is mixed with the mask: the same, and CBC decryption
  } kind_t;

endpackage

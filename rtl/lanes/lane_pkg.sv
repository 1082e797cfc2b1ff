// SPDX-License-Identifier: Apache-2.0
//
// What the parts of lane_front have in common and tell each other. Lanes, contexts and blocks are as wide here as in
// the widest shape; what is above a shape's own width is zero.
package lane_pkg;

  import core_pkg::*;
  import slot_pkg::*;

  // Frames in flight, where nothing else is said.
  localparam int unsigned UsualLanes = 8;

  typedef logic [3:0] lane_t;
  typedef logic [127:0] block_t;

  // What is to be done with a block; ECB is none of these.
  typedef struct packed {
    logic ctr;
    logic cbc;
    logic decrypt;  // never with ctr
  } way_t;

  // The frame that comes, for lane_table: it opens its lane, its key can be used, it closes.
  typedef struct packed {
    lane_t       lane;
    logic        open;
    context_t    key;
    way_t        way;
    logic [15:0] tag;
    logic [31:0] payload_len;
    logic        arm;
    logic        close;
    status_e     status;
  } frame_t;

  // What lane_table has for the next one.
  typedef struct packed {
    logic     lane_valid;
    lane_t    lane;
    logic     key_valid;
    context_t key;
    logic     idle;        // no lane is at work
  } free_t;

  // What lane_table knows of the lane that lane_issue looks at,
  typedef struct packed {
    logic     ready;
    way_t     way;
    context_t key;
  } look_t;

  // of the one that lane_find looks at,
  typedef struct packed {
    logic    active;
    logic    closed;
    status_e status;
  } find_t;

  // and of the one that is being answered.
  typedef struct packed {
    logic [15:0] tag;
    logic [31:0] payload_len;
  } answer_t;

  // A lane to be answered.
  typedef struct packed {
    logic    valid;
    lane_t   lane;
    status_e status;
    logic    finished;  // all of it is there
    logic    skip;      // and nothing of it is to be sent
    logic    any;       // there is something to be sent
  } found_t;

  // A lane's block: an IV, a mask, a result. The next block of its lane waits for one that is fed back.
  typedef struct packed {
    logic   valid;
    logic   feedback;
    lane_t  lane;
    block_t block;
  } lane_block_t;

  // A block on its way from the buffer to the core, the first of a burst, the last.
  typedef struct packed {
    logic     valid;
    logic     first;
    logic     last;
    lane_t    lane;
    way_t     way;
    context_t key;
  } going_t;

  // A block for the core.
  typedef struct packed {
    logic     valid;
    logic     decrypt;
    context_t key;
    block_t   block;
  } offer_t;

  // The parameters of lane_front, as its parts get them.
  typedef struct packed {
    logic [7:0]  algorithm;
    logic [63:0] key_lengths;
    logic        decrypt;
    int unsigned block_bytes;
    int unsigned lanes;
    int unsigned contexts;
    int unsigned tickets;
    int unsigned lane_blocks;
  } shape_t;

  localparam shape_t AnyShape = '{
    algorithm: 8'h01,
    key_lengths: 64'd1 << 16,
    decrypt: 1'b1,
    block_bytes: 16,
    lanes: 8,
    contexts: 8,
    tickets: 4,
    lane_blocks: 128
  };

endpackage

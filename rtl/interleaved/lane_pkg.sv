// SPDX-License-Identifier: Apache-2.0
//
// What the parts of lane_front have in common and tell each other. Lanes, contexts and blocks are as wide here as in
// the widest shape; what is above a shape's own width is zero.
package lane_pkg;

  import core_pkg::*;
  import slot_pkg::*;

  // Frames in flight, where nothing else is said: one for each key of the core.
  localparam int unsigned UsualLanes = UsualContexts;

  typedef logic [3:0] lane_t;
  typedef logic [127:0] block_t;

  // Blocks of a lane, counted without end, and one of them in a buffer.
  localparam int unsigned MaxLaneBlocks = 256;

  typedef logic [$clog2(MaxLaneBlocks):0] blocks_t;

  typedef struct packed {
    lane_t                            lane;
    logic [$clog2(MaxLaneBlocks)-1:0] block;
  } place_t;

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
    blocks_t done;
    blocks_t sent;
    blocks_t left;      // between them
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

  // What is asked of the input buffer: how many blocks there are in the lane that lane_issue looks at, and in the one
  // that lane_outlet looks at; the block that is to be read, which takes two clocks. And what it is told: how many of the
  // lane that is being filled have been answered.
  typedef struct packed {
    lane_t   issue_lane;
    lane_t   outlet_lane;
    logic    read;
    place_t  read_at;
    blocks_t sent;
  } buffer_req_t;

  typedef struct packed {
    blocks_t issue_written;
    blocks_t outlet_written;
    block_t  read_data;
  } buffer_rsp_t;

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
    // What numbers of these take.
    int unsigned block_bits;
    int unsigned lane_bits;
    int unsigned context_bits;
    int unsigned ptr_bits;
  } shape_t;

  localparam shape_t AnyShape = '{
    algorithm: 8'h01,
    key_lengths: 64'd1 << 16,
    decrypt: 1'b1,
    block_bytes: 16,
    lanes: 8,
    contexts: 8,
    tickets: 4,
    lane_blocks: 128,
    block_bits: 128,
    lane_bits: 3,
    context_bits: 3,
    ptr_bits: 7
  };

endpackage

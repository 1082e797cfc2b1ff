// SPDX-License-Identifier: Apache-2.0
//
// The shape of a tile and the fields of its contexts, printed from array/shape.toml by `ace array rtl`.
package array_pkg;

  localparam int unsigned Alus = 2;
  localparam int unsigned Rotators = 1;
  localparam int unsigned Quads = 1;
  localparam int unsigned Multipliers = 1;
  localparam int unsigned Memories = 1;
  localparam int unsigned Inputs = 1;
  localparam int unsigned Outputs = 1;
  localparam int unsigned Sources = 7;
  localparam int unsigned AluOperands = 3;
  localparam int unsigned SelectBits = 3;
  localparam int unsigned DelayBits = 5;
  localparam int unsigned LineBits = 4;
  localparam int unsigned LongLineBits = 5;
  localparam int unsigned MemoryBits = 9;
  localparam int unsigned StreamBits = 8;
  localparam int unsigned KeyWordBits = 9;
  localparam int unsigned KeyOffsetBits = 8;
  localparam int unsigned ConstantBits = 6;
  localparam int unsigned ContextBits = 8;
  localparam int unsigned StageBits = 5;
  localparam int unsigned ContextWords = 4;
  localparam int unsigned ContextUsed = 250;
  // What a set has to be compiled for.
  localparam logic [31:0] Version = 32'h970ffbe1;

  // What a port takes in the clock after, and how old a value it reads.
  typedef struct packed {
    logic [DelayBits-1:0]  delay;
    logic [SelectBits-1:0] select;
  } port_t;

  // A word of the key of the block that is so many stages old, or a constant.
  typedef struct packed {
    logic                     used;
    logic                     constant;
    logic [StageBits-1:0]     stage;
    logic [KeyOffsetBits-1:0] word;
  } key_t;

  typedef struct packed {
    key_t                    key;
    logic [8:0]              op;
    port_t [AluOperands-1:0] ports;
  } alu_ctx_t;

  typedef struct packed {
    key_t       key;
    logic [2:0] op;
    port_t      amount;
    port_t      value;
  } rotator_ctx_t;

  typedef struct packed {
    logic [14:0] op;
    port_t [3:0] ports;
  } quad_ctx_t;

  typedef struct packed {
    logic [4:0] op;
    port_t      b;
    port_t      a;
  } multiplier_ctx_t;

  typedef struct packed {
    logic [MemoryBits-1:0] read_at;
    logic [MemoryBits-1:0] write_at;
    logic                  write;
    port_t                 value;
  } memory_ctx_t;

  typedef struct packed {logic [StreamBits-1:0] read_at;} input_ctx_t;

  typedef struct packed {
    logic [StreamBits-1:0] write_at;
    logic                  write;
    port_t                 value;
  } output_ctx_t;

  // What a bank runs with: its last context, and by how much a block moves each base.
  typedef struct packed {
    logic                   bank;
    logic [MemoryBits-1:0]  memory_stride;
    logic [StreamBits-1:0]  output_stride;
    logic [StreamBits-1:0]  input_stride;
    logic [ContextBits-1:0] last;
  } settings_t;

  // Where a word that is loaded goes. Contexts, tables and constants go to the bank that does not run.
  typedef enum logic [2:0] {
    TargetNone = 3'd0,
    // The word of the context that lane names.
    TargetContext = 3'd1,
    // Lanes by mask: odd ones take the high half, even ones the low one; or all the low half, rotated by a byte
    // for each lane.
    TargetTable = 3'd2,
    // Lane 0: into the ALUs' key memories; lane 1: into the rotators'.
    TargetConstant = 3'd3,
    TargetKey = 3'd4,
    // Words of the stream, one for each input.
    TargetInput = 3'd5,
    TargetSettings = 3'd6
  } target_e;

  typedef struct packed {
    target_e     target;
    // Of words of the stream: which of a tile's ways they are for. All else goes to all of them.
    logic        way;
    logic        rotate;
    logic [3:0]  lane;
    logic [8:0]  at;
    logic [63:0] data;
  } write_t;

  typedef struct packed {
    output_ctx_t [Outputs-1:0] outputs;
    input_ctx_t [Inputs-1:0] inputs;
    memory_ctx_t [Memories-1:0] memories;
    multiplier_ctx_t [Multipliers-1:0] multipliers;
    quad_ctx_t [Quads-1:0] quads;
    rotator_ctx_t [Rotators-1:0] rotators;
    alu_ctx_t [Alus-1:0] alus;
  } context_t;

endpackage

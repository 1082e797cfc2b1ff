// SPDX-License-Identifier: Apache-2.0
//
// What core, unit and memory of the Molen machine tell each other.
package molen_pkg;

  typedef logic [31:0] word_t;

  // Places of microcode in the control store, of sixteen words each.
  localparam int unsigned Places = 8;
  typedef logic [$clog2(Places)-1:0] place_t;
  typedef logic [$clog2(16*Places)-1:0] store_at_t;

  // Opcodes of RV32IM and Molen's own.
  localparam logic [6:0] OpLoad = 7'h03, OpCustom0 = 7'h0b, OpFence = 7'h0f, OpImmediate = 7'h13;
  localparam logic [6:0] OpAuipc = 7'h17, OpStore = 7'h23, OpRegister = 7'h33, OpLui = 7'h37;
  localparam logic [6:0] OpBranch = 7'h63, OpJalr = 7'h67, OpJal = 7'h6f, OpSystem = 7'h73;

  // Why the machine stands still.
  typedef enum logic [2:0] {
    CauseStop,       // ecall, ebreak
    CauseIllegal,
    CauseAlignment,
    CauseMicrocode,  // there is none at the address, or it does what there is not
    CauseOperation,  // the unit is not configured for it
    CauseRefused     // a set was refused
  } cause_t;

  // The instructions as the unit is told them.
  typedef enum logic [1:0] {
    UnitPset    = 2'd0,
    UnitCset    = 2'd1,
    UnitExecute = 2'd2,
    UnitControl = 2'd3
  } molen_t;

  typedef struct packed {
    logic       valid;
    logic [1:0] operation;
    logic [4:0] number;     // of a control register
    word_t      address;    // of the microcode
    word_t      operand;
  } unit_req_t;

  typedef struct packed {
    logic   done;
    logic   trap;
    cause_t cause;
    word_t  data;
  } unit_rsp_t;

endpackage

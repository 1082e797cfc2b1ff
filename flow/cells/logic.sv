// SPDX-License-Identifier: Apache-2.0
//
// Simulation models of the ECP5 logic cells that a synthesised netlist holds. Two-valued: a flip-flop starts
// at its reset value, as after configuration. A parameter value that is not modelled is an elaboration error.

module LUT4 #(
  parameter logic [15:0] INIT = '0
) (
  input  logic A,
  input  logic B,
  input  logic C,
  input  logic D,
  output logic Z
);
  assign Z = INIT[{D, C, B, A}];
endmodule

// Two LUT4 make a LUT5.
module PFUMX (
  input  logic ALUT,
  input  logic BLUT,
  input  logic C0,
  output logic Z
);
  assign Z = C0 ? ALUT : BLUT;
endmodule

// Two LUT5 make a LUT6, and so on.
module L6MUX21 (
  input  logic D0,
  input  logic D1,
  input  logic SD,
  output logic Z
);
  assign Z = SD ? D1 : D0;
endmodule

// Two bits of a carry chain. A LUT4 gives propagate; its lower quarter (a LUT2 of A and B) gives generate.
// INJECT1 cuts the carry off the sum and makes generate zero.
module CCU2C #(
  parameter logic [15:0] INIT0 = '0,
  parameter logic [15:0] INIT1 = '0,
  parameter INJECT1_0 = "YES",
  parameter INJECT1_1 = "YES"
) (
  input  logic CIN,
  input  logic A0,
  input  logic B0,
  input  logic C0,
  input  logic D0,
  input  logic A1,
  input  logic B1,
  input  logic C1,
  input  logic D1,
  output logic S0,
  output logic S1,
  output logic COUT
);
  localparam bit Inject0 = INJECT1_0 == "YES";
  localparam bit Inject1 = INJECT1_1 == "YES";
  if (!Inject0 && INJECT1_0 != "NO") begin : gen_bad_0
    $error("CCU2C: INJECT1_0 is neither YES nor NO");
  end
  if (!Inject1 && INJECT1_1 != "NO") begin : gen_bad_1
    $error("CCU2C: INJECT1_1 is neither YES nor NO");
  end

  logic propagate0, propagate1, generate0, generate1, carry;

  assign propagate0 = INIT0[{D0, C0, B0, A0}];
  assign generate0  = !Inject0 && INIT0[{2'b00, B0, A0}];
  assign S0         = propagate0 ^ (!Inject0 && CIN);
  assign carry      = propagate0 ? CIN : generate0;
  assign propagate1 = INIT1[{D1, C1, B1, A1}];
  assign generate1  = !Inject1 && INIT1[{2'b00, B1, A1}];
  assign S1         = propagate1 ^ (!Inject1 && carry);
  assign COUT       = propagate1 ? carry : generate1;
endmodule

// A flip-flop: rising edge of CLK only. LSR is set or reset, synchronous or not.
module TRELLIS_FF #(
  parameter GSR = "ENABLED",  // the global reset is not modelled: a model starts as after configuration
  parameter CEMUX = "1",
  parameter CLKMUX = "CLK",
  parameter LSRMUX = "LSR",
  parameter SRMODE = "LSR_OVER_CE",
  parameter REGSET = "RESET",
  parameter LSRMODE = "LSR"
) (
  input  logic CLK,
  input  logic LSR,
  input  logic CE,
  input  logic DI,
  input  logic M,
  output logic Q
);
  localparam logic SetValue = REGSET == "SET";
  logic enable;

  if (CEMUX == "1") begin : gen_always
    assign enable = 1'b1;
  end else if (CEMUX == "CE") begin : gen_ce
    assign enable = CE;
  end else if (CEMUX == "INV") begin : gen_ce_low
    assign enable = !CE;
  end else begin : gen_ce_bad
    $error("TRELLIS_FF: CEMUX is none of 1, CE, INV");
  end
  if (CLKMUX != "CLK") begin : gen_clk_bad
    $error("TRELLIS_FF: only CLKMUX = CLK is modelled");
  end
  if (LSRMODE != "LSR") begin : gen_lsrmode_bad
    $error("TRELLIS_FF: only LSRMODE = LSR is modelled");
  end
  if (REGSET != "SET" && REGSET != "RESET") begin : gen_regset_bad
    $error("TRELLIS_FF: REGSET is neither SET nor RESET");
  end

  initial Q = SetValue;

  if (SRMODE == "ASYNC" && LSRMUX == "INV") begin : gen_async_low
    always_ff @(posedge CLK or negedge LSR) begin
      if (!LSR) Q <= SetValue;
      else if (enable) Q <= DI;
    end
  end else if (SRMODE == "ASYNC" && LSRMUX == "LSR") begin : gen_async
    always_ff @(posedge CLK or posedge LSR) begin
      if (LSR) Q <= SetValue;
      else if (enable) Q <= DI;
    end
  end else if (SRMODE == "LSR_OVER_CE" && (LSRMUX == "LSR" || LSRMUX == "INV")) begin : gen_sync
    always_ff @(posedge CLK) begin
      if (LSR ^ (LSRMUX == "INV")) Q <= SetValue;
      else if (enable) Q <= DI;
    end
  end else begin : gen_lsr_bad
    $error("TRELLIS_FF: this SRMODE or LSRMUX is not modelled");
  end
endmodule

// Distributed memory, 16 words of 4 bits: written at the rising edge, read without a clock.
module TRELLIS_DPR16X4 #(
  parameter WCKMUX = "WCK",
  parameter WREMUX = "WRE",
  parameter logic [63:0] INITVAL = '0
) (
  input  logic [3:0] DI,
  input  logic [3:0] WAD,
  input  logic       WRE,
  input  logic       WCK,
  input  logic [3:0] RAD,
  output logic [3:0] DO
);
  if (WCKMUX != "WCK" || WREMUX != "WRE") begin : gen_bad
    $error("TRELLIS_DPR16X4: only WCKMUX = WCK and WREMUX = WRE are modelled");
  end

  logic [3:0] mem[16];
  initial for (int i = 0; i < 16; i++) mem[i] = INITVAL[4*i+:4];

  always_ff @(posedge WCK) if (WRE) mem[WAD] <= DI;
  assign DO = mem[RAD];
endmodule

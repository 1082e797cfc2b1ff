// SPDX-License-Identifier: Apache-2.0
//
// What the ECP5's cells at the pins do, written from their descriptions (FPGA-TN-02035, FPGA-TN-02200). A delay line is
// its count of taps alone: what a tap does to a sampling point says the PHY model, which asks for it. So it is with the
// oscillator, whose clocks the model makes.
module IDDRX1F (
  input  logic D,
  input  logic SCLK,
  input  logic RST,
  output logic Q0,
  output logic Q1
);
  logic rise, fall;

  always_ff @(posedge SCLK) rise <= D;
  always_ff @(negedge SCLK) fall <= D;
  always_ff @(posedge SCLK or posedge RST) begin
    if (RST) {Q0, Q1} <= '0;
    else {Q0, Q1} <= {rise, fall};
  end
endmodule

module ODDRX1F (
  input  logic D0,
  input  logic D1,
  input  logic SCLK,
  input  logic RST,
  output logic Q
);
  logic first, second;

  always_ff @(posedge SCLK or posedge RST) begin
    if (RST) {first, second} <= '0;
    else {first, second} <= {D0, D1};
  end
  assign Q = SCLK ? first : second;
endmodule

module DELAYF #(
  parameter DEL_MODE = "USER_DEFINED",
  parameter int DEL_VALUE = 0
) (
  input  logic A,
  input  logic LOADN,
  input  logic MOVE,
  input  logic DIRECTION,
  output logic Z,
  output logic CFLAG
);
  logic [6:0] taps;

  if (DEL_MODE != "USER_DEFINED") begin : gen_bad
    $error("DELAYF: only DEL_MODE = USER_DEFINED is modelled");
  end

  assign Z     = A;
  assign CFLAG = DIRECTION ? taps == '0 : taps == '1;

  // At its ends it stays.
  always_ff @(negedge MOVE or negedge LOADN) begin
    if (!LOADN) taps <= 7'(DEL_VALUE);
    else if (!CFLAG) taps <= DIRECTION ? taps - 7'd1 : taps + 7'd1;
  end
endmodule

module EHXPLLL #(
  parameter int CLKI_DIV = 1,
  parameter int CLKFB_DIV = 1,
  parameter int CLKOP_DIV = 8,
  parameter int CLKOS_DIV = 8,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter CLKOS_ENABLE = "DISABLED",
  parameter FEEDBK_PATH = "CLKOP",
  parameter int CLKOP_CPHASE = 0,
  parameter int CLKOS_CPHASE = 0,
  parameter OUTDIVIDER_MUXA = "DIVA",
  parameter OUTDIVIDER_MUXB = "DIVB",
  parameter PLLRST_ENA = "DISABLED",
  parameter INTFB_WAKE = "DISABLED",
  parameter STDBY_ENABLE = "DISABLED",
  parameter DPHASE_SOURCE = "DISABLED"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic PHASESEL1,
  input  logic PHASESEL0,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic STDBY,
  input  logic PLLWAKESYNC,
  input  logic RST,
  input  logic ENCLKOP,
  input  logic ENCLKOS,
  output logic CLKOP,
  output logic CLKOS,
  output logic LOCK
);
  // The model writes them: flow/board/model.vlt.
  logic op, os, lock;

  if (FEEDBK_PATH != "CLKOP" || CLKOP_ENABLE != "ENABLED") begin : gen_feedback_bad
    $error("EHXPLLL: only a feedback by CLKOP is modelled");
  end
  if (PLLRST_ENA != "DISABLED" || STDBY_ENABLE != "DISABLED" || DPHASE_SOURCE != "DISABLED") begin : gen_way_bad
    $error("EHXPLLL: reset, standby and moving phases are not modelled");
  end

  assign CLKOP = op;
  assign CLKOS = os;
  assign LOCK  = lock;
endmodule

module BB (
  input  logic I,
  input  logic T,
  output logic O,
  inout  wire  B
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The ECP5's cells at the pins, by name alone: synthesis knows them, and flow/cells/pads.sv says what they do.
(* blackbox *)
module IDDRX1F (
  input  logic D,
  input  logic SCLK,
  input  logic RST,
  output logic Q0,
  output logic Q1
);
endmodule

(* blackbox *)
module ODDRX1F (
  input  logic D0,
  input  logic D1,
  input  logic SCLK,
  input  logic RST,
  output logic Q
);
endmodule

(* blackbox *)
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
endmodule

(* blackbox *)
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
endmodule

(* blackbox *)
module BB (
  input  logic I,
  input  logic T,
  output logic O,
  inout  wire  B
);
endmodule

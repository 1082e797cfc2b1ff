// SPDX-License-Identifier: Apache-2.0
// Primitives of the ECP5 that Yosys's cells_bb.v does not declare: pads and flip-flops. Declarations only; what they mean
// is in boxes.py.
(* blackbox *) module TRELLIS_IO (inout B, input I, input T, output O);
  parameter DIR = "INPUT";
endmodule
(* blackbox *) module TRELLIS_FF (input CLK, LSR, CE, DI, M, output Q);
  parameter GSR = "ENABLED";
  parameter CEMUX = "1";
  parameter CLKMUX = "CLK";
  parameter LSRMUX = "LSR";
  parameter SRMODE = "LSR_OVER_CE";
  parameter REGSET = "RESET";
  parameter LSRMODE = "LSR";
endmodule
(* blackbox *) module IB (input I, output O); endmodule
(* blackbox *) module IBPU (input I, output O); endmodule
(* blackbox *) module IBPD (input I, output O); endmodule
(* blackbox *) module OB (input I, output O); endmodule
(* blackbox *) module OBZ (input I, T, output O); endmodule
(* blackbox *) module OBZPU (input I, T, output O); endmodule
(* blackbox *) module OBZPD (input I, T, output O); endmodule
(* blackbox *) module BB (input I, T, output O, inout B); endmodule
(* blackbox *) module BBPU (input I, T, output O, inout B); endmodule
(* blackbox *) module BBPD (input I, T, output O, inout B); endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The slice's cells that the network's multiplexers are made of, by name alone: synthesis knows them.
(* blackbox *)
module LUT4 #(
  parameter logic [15:0] INIT = 16'd0
) (
  input  logic A,
  input  logic B,
  input  logic C,
  input  logic D,
  output logic Z
);
endmodule

(* blackbox *)
module PFUMX (
  input  logic ALUT,
  input  logic BLUT,
  input  logic C0,
  output logic Z
);
endmodule

(* blackbox *)
module L6MUX21 (
  input  logic D0,
  input  logic D1,
  input  logic SD,
  output logic Z
);
endmodule

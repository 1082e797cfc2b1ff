// SPDX-License-Identifier: Apache-2.0
//
// What the slice's cells that rtl/array names do, for simulation.
module LUT4 #(
  parameter logic [15:0] INIT = 16'd0
) (
  input  logic A,
  input  logic B,
  input  logic C,
  input  logic D,
  output logic Z
);
  assign Z = INIT[{D, C, B, A}];
endmodule

module PFUMX (
  input  logic ALUT,
  input  logic BLUT,
  input  logic C0,
  output logic Z
);
  assign Z = C0 ? ALUT : BLUT;
endmodule

module L6MUX21 (
  input  logic D0,
  input  logic D1,
  input  logic SD,
  output logic Z
);
  assign Z = SD ? D1 : D0;
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The same LUT in a netlist (init_lut.sv): the flow has it in place of those LUT4 that are kept.
module KEPT_LUT4 #(
  parameter logic [15:0] INIT = '0
) (
  input  logic A,
  input  logic B,
  input  logic C,
  input  logic D,
  output logic Z
);
  import "DPI-C" function int ace_model_contents(
    input string name,
    input int init
  );

  logic [15:0] contents;

  initial contents = 16'(ace_model_contents($sformatf("%m"), {16'b0, INIT}));

  assign Z = contents[{D, C, B, A}];
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A kept LUT of a netlist that is told what it holds.
module filled_lut (
  input  logic [ 3:0] in_i,
  input  logic [15:0] held_i,
  output logic        out_o
);

  assign out_o = held_i[in_i];

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The LUT whose contents variants change, as models have it: what it holds is decided when a slot is made
// (ace_model_new), so that one model serves a base and all of its variants. The flow reads it in place of the RTL's.
module init_lut #(
  // What it holds if nothing else is said.
  parameter logic [15:0] Init = '0
) (
  input  logic [3:0] in_i,
  output logic       out_o
);
  import "DPI-C" function int ace_model_contents(
    input string name,
    input int init
  );

  logic [15:0] contents;

  initial contents = 16'(ace_model_contents($sformatf("%m"), {16'b0, Init}));

  assign out_o = contents[in_i];
endmodule

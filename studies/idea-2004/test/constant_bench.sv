// SPDX-License-Identifier: Apache-2.0
//
// IDEA under keys that are known, side by side: 0, all ones, Lai's, and any.
module constant_bench
  import idea_paths_pkg::*;
(
  input  logic        clk_i,
  input  logic [63:0] block_i,
  output logic [63:0] block_o[4]
);

  localparam logic [3:0][127:0] Keys = {
    128'h9f3c_0000_71d4_ffff_2b08_0001_c6aa_5e97,
    128'h0001_0002_0003_0004_0005_0006_0007_0008,
    128'(~'0),
    128'd0
  };

  for (genvar k = 0; k < 4; k++) begin : gen_key
    idea_constant #(
      .Key(Keys[k])
    ) u_constant (
      .clk_i,
      .block_i,
      .block_o(block_o[k])
    );
  end

endmodule

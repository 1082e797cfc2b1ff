// SPDX-License-Identifier: Apache-2.0
//
// The four data paths of the study side by side, and a phase that is combinational.
module idea_bench
  import idea_paths_pkg::*;
(
  input logic clk_i,

  input  logic        key_first_i,
  input  logic        key_valid_i,
  input  logic [15:0] key_i,
  input  logic [ 3:0] start_i,
  input  logic [63:0] block_i,
  output logic [ 3:0] ready_o,
  output logic [ 3:0] valid_o,
  output logic [63:0] block_o    [4],

  input  logic [63:0] x_i,
  input  logic [95:0] z_i,
  output logic [63:0] y_o
);

  for (genvar p = 0; p < 3; p++) begin : gen_path
    idea_paths #(
      .Path(p)
    ) u_path (
      .clk_i,
      .key_first_i,
      .key_valid_i,
      .key_i,
      .ready_o(ready_o[p]),
      .start_i(start_i[p]),
      .block_i,
      .valid_o(valid_o[p]),
      .block_o(block_o[p])
    );
  end

  idea_substages u_substages (
    .clk_i,
    .key_valid_i,
    .key_i,
    .start_i(start_i[3]),
    .block_i,
    .valid_o(valid_o[3]),
    .block_o(block_o[3])
  );
  assign ready_o[3] = 1'b1;

  idea_unit #(
    .Unit(3)
  ) u_phase (
    .clk_i,
    .x_i,
    .z_i,
    .y_o
  );

endmodule

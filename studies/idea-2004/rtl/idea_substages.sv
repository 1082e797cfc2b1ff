// SPDX-License-Identifier: Apache-2.0
//
// The paper's future work: phases divided into stages, a block a clock. Each multiplication takes three stages, each
// sum and each exclusive-or one. Subkeys and words as in idea_paths.
//
// Cycles: a block every clock, its result 8 * 13 + 4 clocks behind it.
module idea_substages
  import idea_paths_pkg::*;
(
  input logic clk_i,

  input logic  key_valid_i,
  input word_t key_i,

  input  logic        start_i,
  input  word_t [3:0] block_i,
  output logic        valid_o,
  output word_t [3:0] block_o
);

  localparam int unsigned Phases = 8;
  localparam int unsigned Latency = Phases * 13 + 4;

  word_t [Phases*6+3:0] z_q;
  word_t [3:0] x[Phases+1];
  word_t [3:0] block_q;
  logic [Latency-1:0] valid_q;

  always_ff @(posedge clk_i) begin
    if (key_valid_i) z_q <= {key_i, z_q[Phases*6+3:1]};
    block_q <= block_i;
    valid_q <= {valid_q[Latency-2:0], start_i};
  end

  assign valid_o = valid_q[Latency-1];
  assign x[0]    = block_q;

  for (genvar p = 0; p < Phases; p++) begin : gen_phase
    idea_stages u_stages (
      .clk_i,
      .x_i(x[p]),
      .z_i(z_q[6*p+:6]),
      .y_o(x[p+1])
    );
  end

  // The transformation behind the phases: two products, two sums that wait for them.
  word_t [2:0] b_q, c_q;

  for (genvar m = 0; m < 2; m++) begin : gen_product
    idea_multiply #(
      .Registers(1'b1)
    ) u_product (
      .clk_i,
      .x_i(x[Phases][3*m]),
      .k_i(z_q[6*Phases+3*m]),
      .y_o(block_o[3*m])
    );
  end

  always_ff @(posedge clk_i) begin
    b_q <= {b_q[1:0], x[Phases][2] + z_q[6*Phases+1]};
    c_q <= {c_q[1:0], x[Phases][1] + z_q[6*Phases+2]};
  end

  assign block_o[1] = b_q[2];
  assign block_o[2] = c_q[2];

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What two spill registers at the exit hold: the same but for results.
module twice_response (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [64:0] data_a_q,
  input logic [64:0] data_b_q,
  input logic [64:0] spare_a_q,
  input logic [64:0] spare_b_q,
  input logic        spare_valid_q,
  input logic        valid_q
);

  // The spare word has no reset.
  logic settled_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) settled_q <= 1'b0;
    else settled_q <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !settled_q) assert (!valid_q && !spare_valid_q && data_a_q == '0 && data_b_q == '0);
    if (settled_q) begin
      assert (data_a_q[64] == data_b_q[64]);
      if (data_a_q[64]) assert (data_a_q == data_b_q);
      if (spare_valid_q) begin
        assert (spare_a_q[64] == spare_b_q[64]);
        if (spare_a_q[64]) assert (spare_a_q == spare_b_q);
      end else begin
        assert (spare_a_q == spare_b_q);
      end
      if (!valid_q) assert (data_a_q == data_b_q && !spare_valid_q);
    end
  end

endmodule

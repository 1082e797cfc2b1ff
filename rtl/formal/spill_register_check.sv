// SPDX-License-Identifier: Apache-2.0
//
// spill_register: nothing is seen but what counts, and whoever says so shows no more to it.
module spill_register_check #(
  parameter int unsigned Width = 64,
  parameter bit Quiet = 1'b0
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             s_valid_i,
  input logic [Width-1:0] s_data_i
);

  always_ff @(posedge clk_i) begin
    if (rst_ni && Quiet && !s_valid_i) begin
      assert (s_data_i == '0)
      else $error("data without valid is not zero");
    end
  end

endmodule

bind spill_register spill_register_check #(
  .Width(Width),
  .Quiet(Quiet)
) u_check (.*);

bind spill_register cell_rules #(
  .Width(Width),
  .Zero (1'b1)
) u_rules (.*);

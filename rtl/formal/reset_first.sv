// SPDX-License-Identifier: Apache-2.0
//
// The reset of a proof: in the first clock and never again. Registers hold anything before.
module reset_first (
  input  logic clk_i,
  output logic rst_no
);

  logic past_q = 1'b0;

  always_ff @(posedge clk_i) past_q <= 1'b1;

  assign rst_no = past_q;

endmodule

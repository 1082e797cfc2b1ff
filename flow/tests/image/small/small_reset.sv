// SPDX-License-Identifier: Apache-2.0
// A reset that begins at once and ends with its clock.
module small_reset (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no
);
  logic [1:0] reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_q <= '0;
    else reset_q <= {reset_q[0], 1'b1};
  end
  assign rst_no = reset_q[1];
endmodule

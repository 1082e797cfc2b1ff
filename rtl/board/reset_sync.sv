// SPDX-License-Identifier: Apache-2.0
//
// A reset for one clock: it begins at once, and ends with an edge of the clock, two or three after its cause has ended.
module reset_sync (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no
);

  logic [1:0] free_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      free_q <= '0;
      rst_no <= 1'b0;
    end else begin
      free_q <= {free_q[0], 1'b1};
      rst_no <= free_q[1];
    end
  end

endmodule

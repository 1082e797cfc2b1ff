// SPDX-License-Identifier: Apache-2.0
//
// The PHY's reset: 2^Bits clocks. Data sheets ask for 10 ms.
module phy_reset #(
  parameter int unsigned Bits = 20
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no
);

  logic [Bits-1:0] count_q;
  logic [  Bits:0] count;

  assign count = {1'b0, count_q} + (Bits + 1)'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      rst_no  <= 1'b0;
    end else begin
      count_q <= count[Bits-1:0];
      rst_no  <= rst_no || count[Bits];
    end
  end

endmodule

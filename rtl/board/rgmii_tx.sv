// SPDX-License-Identifier: Apache-2.0
//
// RGMII out at 1 Gb/s. The clock leaves with the data's edges, and the PHY delays it: after a reset those of these boards
// do.
//
// Latency: 1 clock and the pads' registers.
module rgmii_tx (
  input logic clk_i,
  input logic rst_ni,

  input logic       valid_i,
  input logic [7:0] byte_i,

  output logic       clk_o,
  output logic       ctl_o,
  output logic [3:0] data_o
);

  logic valid_q;
  logic [7:0] byte_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      byte_q  <= '0;
    end else begin
      valid_q <= valid_i;
      byte_q  <= byte_i;
    end
  end

  ODDRX1F u_clk (
    .D0  (1'b1),
    .D1  (1'b0),
    .SCLK(clk_i),
    .RST (1'b0),
    .Q   (clk_o)
  );

  ODDRX1F u_ctl (
    .D0  (valid_q),
    .D1  (valid_q),
    .SCLK(clk_i),
    .RST (1'b0),
    .Q   (ctl_o)
  );

  for (genvar i = 0; i < 4; i++) begin : gen_pad
    ODDRX1F u_data (
      .D0  (byte_q[i]),
      .D1  (byte_q[i+4]),
      .SCLK(clk_i),
      .RST (1'b0),
      .Q   (data_o[i])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// RGMII in at 1 Gb/s: five pads with a delay line each, of which both edges of the PHY's clock take a bit. The low half
// of a byte comes with the rising edge. The control pad says valid there, and valid XOR error with the falling edge.
//
// Latency: the pads' registers and 1 clock.
module rgmii_rx (
  input logic clk_i,
  input logic rst_ni,

  input logic [3:0] data_i,
  input logic       ctl_i,

  // Of all delay lines: low takes them to tap 0; a tap further where move_i falls; or back. No clock is involved.
  input logic load_ni,
  input logic move_i,
  input logic down_i,

  output logic       valid_o,
  output logic       error_o,
  output logic [7:0] byte_o
);

  logic [4:0] pad, rise, fall;

  assign pad = {ctl_i, data_i};

  for (genvar i = 0; i < 5; i++) begin : gen_pad
    logic late, unused_flag;

    DELAYF #(
      .DEL_MODE ("USER_DEFINED"),
      .DEL_VALUE(0)
    ) u_delay (
      .A        (pad[i]),
      .LOADN    (load_ni),
      .MOVE     (move_i),
      .DIRECTION(down_i),
      .Z        (late),
      .CFLAG    (unused_flag)
    );

    IDDRX1F u_iddr (
      .D   (late),
      .SCLK(clk_i),
      .RST (1'b0),
      .Q0  (rise[i]),
      .Q1  (fall[i])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      error_o <= 1'b0;
      byte_o  <= '0;
    end else begin
      valid_o <= rise[4];
      error_o <= rise[4] ^ fall[4];
      byte_o  <= {fall[3:0], rise[3:0]};
    end
  end

endmodule

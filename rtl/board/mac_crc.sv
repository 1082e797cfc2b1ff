// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 of IEEE 802.3, a byte a clock.
//
// Latency: 2 clocks from a byte to the CRC that has it.
module mac_crc
  import board_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic        start_i,
  input  logic        valid_i,
  input  logic [ 7:0] byte_i,   // zero while not valid
  output logic [31:0] crc_o
);

  logic go_q;  // the lowest byte has one of the frame in it
  logic [7:0] low_q;
  logic [23:0] high_q;
  logic [31:0] next;

  assign next  = {8'd0, high_q} ^ crc_of(low_q);
  assign crc_o = {high_q, low_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) go_q <= 1'b0;
    else go_q <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      high_q <= '1;
      low_q  <= '1;
    end else begin
      if (go_q) high_q <= next[31:8];
      if (go_q || valid_i) low_q <= (go_q ? next[7:0] : low_q) ^ byte_i;
    end
  end

endmodule

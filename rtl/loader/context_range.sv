// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of small streams: bits of a stream, and the range that decisions divide.
//
// Clocks: a bit each by which the range is doubled, and one for each byte; what a zero takes is there one clock after
// its probability.
module context_range
  import load_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  input  read_t s_i,
  output logic  s_ready_o,

  // The number's first bits are wanted, and are there with the next clock.
  input  logic fill_i,
  output logic filled_o,
  // The range may be doubled, and needs no more of it.
  input  logic double_i,
  output logic normal_o,

  // A decision: the probability of a zero a clock before, and what it is.
  input  logic [7:0] zero_i,
  input  logic       decide_i,
  output logic       set_o,

  // More bits were taken than there are; all of them were.
  output logic beyond_o,
  output logic at_end_o
);

  logic [7:0] bits_q;  // of a byte, and how many are left of it
  logic [3:0] left_q;
  logic behind_q;  // it is none of the stream's
  logic [4:0] over_q;  // such bits that were taken, 16 and more if these are too many
  logic [15:0] range_q, number_q, split_q;
  logic [16:0] rest;
  logic [3:0] filled_q;  // bits of the number at the beginning
  logic shifts;

  assign shifts    = left_q != '0 && (fill_i || (double_i && !range_q[15]));
  assign s_ready_o = left_q == '0;
  assign filled_o  = shifts && &filled_q;
  assign normal_o  = range_q[15];
  assign rest      = {1'b0, number_q} - {1'b0, split_q};
  assign set_o     = !rest[16];
  assign beyond_o  = over_q[4];
  assign at_end_o  = over_q[3];

  always_ff @(posedge clk_i) begin
    split_q <= range_q[15:8] * zero_i;
    if (shifts) begin
      bits_q <= bits_q << 1;
      left_q <= left_q - 1'b1;
      if (behind_q && !over_q[4]) over_q <= over_q + 1'b1;
      number_q <= {number_q[14:0], bits_q[7]};
      if (!fill_i) range_q <= range_q << 1;
      filled_q <= filled_q + 1'b1;
    end else begin
      if (s_i.valid && s_ready_o) begin
        bits_q   <= s_i.data;
        behind_q <= s_i.behind;
        left_q   <= 4'd8;
      end
      if (decide_i) begin
        range_q <= set_o ? range_q - split_q : split_q;
        if (set_o) number_q <= rest[15:0];
      end
    end
    if (clear_i) begin
      left_q   <= '0;
      over_q   <= '0;
      range_q  <= '1;
      filled_q <= '0;
    end
  end

endmodule

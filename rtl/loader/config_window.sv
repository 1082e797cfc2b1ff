// SPDX-License-Identifier: Apache-2.0
//
// The bits of a stream: the next ones, of which up to 18 are taken at a time. Bytes are put behind the bits that are
// there while these are not too many, and all are moved when some are taken; one byte waits in front of them.
//
// Clocks: none besides those of who takes, as long as a code takes 8 bits a clock in the mean; four until the first
// bits are there.
module config_window
  import load_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  input  read_t s_i,
  output logic  s_ready_o,

  // So many bits are taken, while it is full.
  input  logic         take_i,
  input  logic [  4:0] length_i,
  // At least 18 bits are there.
  output logic         full_o,
  // The next bits, the first one highest, zeros behind those that are there.
  output logic [31:14] bits_o,
  // Of the stream at most 7 bits are left, or more were taken than it has.
  output logic         rest_o,
  output logic         beyond_o
);

  logic [31:0] bits_q;
  logic [5:0] count_q, there;  // bits that are there; that will be, if none are taken
  logic signed [6:0] left_q, more;  // those of them that are not behind the stream; that will be
  logic full_q, room_q, load;
  logic next_valid_q, next_behind_q;  // the byte that waits
  logic [7:0] next_q;
  logic signed [6:0] spare;  // more than it has to hold
  logic [3:0] over;  // more than with which it takes another byte
  logic [31:0] placed;

  assign load   = next_valid_q && room_q;
  assign there  = count_q + {2'b0, load, 3'b0};
  assign more   = left_q + $signed({3'b0, load && !next_behind_q, 3'b0});
  assign spare  = $signed({1'b0, there}) - 7'sd18;
  assign over   = there > 6'd24 ? 4'(there - 6'd24) : 4'd0;
  assign placed = load ? {next_q, 24'd0} >> count_q[4:0] : '0;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      bits_q <= '0;
      count_q <= '0;
      left_q <= '0;
      full_q <= 1'b0;
      room_q <= 1'b1;
      next_valid_q <= 1'b0;
    end else begin
      next_valid_q <= s_i.valid || (next_valid_q && !room_q);
      bits_q <= take_i ? (bits_q | placed) << length_i : bits_q | placed;
      count_q <= take_i ? there - {1'b0, length_i} : there;
      left_q <= take_i ? more - $signed({2'b0, length_i}) : more;
      full_q <= spare >= (take_i ? $signed({2'b0, length_i}) : 7'sd0);
      room_q <= take_i ? {1'b0, length_i} >= {2'b0, over} : over == '0;
    end
    if (s_ready_o) {next_behind_q, next_q} <= {s_i.behind, s_i.data};
  end

  assign s_ready_o = !next_valid_q || room_q;
  assign full_o    = full_q;
  assign bits_o    = bits_q[31:14];
  assign rest_o    = left_q[6:3] == '0;
  assign beyond_o  = left_q[6];

endmodule

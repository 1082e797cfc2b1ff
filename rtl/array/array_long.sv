// SPDX-License-Identifier: Apache-2.0
//
// The one frame under way that is longer than a lane's buffer: its blocks begin while it comes, and its results leave
// meanwhile. The buffer goes round: a beat comes in when there is room, and a block begins when it is there and something
// behind it, or the end is known to be right. A frame that ends too early or too late is given up when the tile has no
// block of it.
module array_long
  import array_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input set_t set_i,

  // The frame that comes in is such a one; a beat of its payload; its trailer.
  input  logic  long_i,
  input  lane_t lane_i,
  input  logic  beat_i,
  input  logic  ended_i,
  input  logic  fine_i,
  output logic  room_o,

  // There is one, and its lane.
  output logic  active_o,
  output lane_t lane_o,

  // Of it: a block begins; a block's result is there; the next block may begin, as far as the one before goes.
  input logic issued_i,
  input logic returned_i,
  input logic again_i,
  // A beat of its results has been read; the answer has left.
  input logic sent_i,
  input logic left_i,

  // It may begin a block; it has failed; beats of results have not been read yet.
  output logic ready_o,
  output logic done_o,
  output logic results_o
);

  // Beats in the buffer, less what a block in the tile still needs: the block, or its mask.
  localparam logic [8:0] Room = 9'd240;

  logic sending_q, leaving_q, results_q;
  logic active_q, wants_q, wanted_q, all_q, failed_q, enough_q, room_q;
  lane_t lane_q;
  logic [8:0] in_q, issued_q, returned_q, sent_q;
  logic [5:0] flight_q;
  logic [3:0] block_q;
  logic claim;

  assign claim     = long_i && !active_q;
  assign active_o  = active_q;
  assign lane_o    = lane_q;
  assign room_o    = active_q && lane_q == lane_i && room_q;
  assign ready_o   = wants_q && wanted_q && enough_q && !failed_q;
  assign done_o    = wants_q && failed_q && flight_q == '0;
  assign results_o = results_q;

  always_ff @(posedge clk_i) block_q <= set_i.hash ? 4'd8 : 4'(set_i.input_words >> 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {active_q, wants_q, wanted_q, all_q, failed_q, enough_q, room_q, sending_q, leaving_q, results_q} <= '0;
      {lane_q, in_q, issued_q, returned_q, sent_q, flight_q} <= '0;
    end else begin
      wanted_q  <= wants_q;
      enough_q  <= all_q || 9'(in_q - issued_q) > 9'(block_q);
      room_q    <= 9'(in_q - (set_i.hash ? issued_q : sent_q)) < Room;
      in_q      <= in_q + 9'(beat_i);
      sending_q <= sent_i;
      leaving_q <= left_i;
      sent_q    <= sent_q + 9'(sending_q);
      results_q <= active_q && !left_i && !leaving_q && !set_i.hash && sent_q != returned_q;
      if (issued_i) issued_q <= issued_q + 9'(block_q);
      if (returned_i) returned_q <= returned_q + 9'(block_q);
      flight_q <= flight_q + 6'(issued_i) - 6'(returned_i);
      if (again_i) wants_q <= 1'b1;
      else if (ready_o || done_o) wants_q <= 1'b0;
      if (active_q && ended_i && lane_q == lane_i) begin
        all_q    <= fine_i;
        failed_q <= !fine_i;
      end
      if (leaving_q) active_q <= 1'b0;
      if (claim) begin
        active_q <= 1'b1;
        lane_q <= lane_i;
        wants_q <= 1'b1;
        {wanted_q, all_q, failed_q, enough_q, room_q, results_q} <= '0;
        {in_q, issued_q, returned_q, sent_q, flight_q} <= '0;
      end
    end
  end

endmodule

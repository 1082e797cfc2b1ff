// SPDX-License-Identifier: Apache-2.0
//
// Looks for a lane to be answered, one a clock: its frame is finished, or its buffer of results is full. While a lane
// that is not finished is being answered, that lane alone is looked at.
//
// Clocks from what makes a lane ready to found_o: 2 + the time until it is looked at, at most Lanes.
module lane_find
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  // No lane is being answered; the one that is; more of it is to come.
  input logic  idle_i,
  input lane_t lane_i,
  input logic  streaming_i,

  // The lane looked at: blocks that came, are done and have been sent, counted without end.
  output lane_t   find_o,
  input  find_t   find_i,
  input  blocks_t written_i,
  input  blocks_t done_i,
  input  blocks_t sent_i,

  output found_t found_o
);

  typedef logic [Shape.ptr_bits:0] count_t;

  logic [Shape.lane_bits-1:0] find_q, seen_lane_q;
  find_t seen_q;  // the lane looked at before; active if it is not the one that is being answered
  count_t seen_written_q, seen_done_q, seen_sent_q, waiting;
  logic finished;

  assign find_o   = lane_t'(find_q);
  assign waiting  = seen_done_q - seen_sent_q;
  assign finished = seen_q.closed && seen_done_q == seen_written_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {find_q, seen_q, seen_lane_q, seen_written_q, seen_done_q, seen_sent_q, found_o} <= '0;
    else if (!found_o.valid || idle_i || streaming_i) begin
      find_q           <= streaming_i ? lane_i[Shape.lane_bits-1:0] : find_q + Shape.lane_bits'(1);
      seen_q           <= find_i;
      // A lane that is taken is not to be found again.
      seen_q.active    <= find_i.active && !streaming_i && (idle_i || find_q != lane_i[Shape.lane_bits-1:0]);
      seen_lane_q      <= find_q;
      seen_written_q   <= written_i[Shape.ptr_bits:0];
      seen_done_q      <= done_i[Shape.ptr_bits:0];
      seen_sent_q      <= sent_i[Shape.ptr_bits:0];
      found_o.valid    <= seen_q.active && (finished || waiting[Shape.ptr_bits]);
      found_o.lane     <= lane_t'(seen_lane_q);
      found_o.status   <= seen_q.status;
      found_o.finished <= finished;
      found_o.skip     <= finished && seen_q.status != StatusOk;
      found_o.any      <= seen_done_q != seen_sent_q;
      found_o.done     <= blocks_t'(seen_done_q);
      found_o.sent     <= blocks_t'(seen_sent_q);
      found_o.left     <= blocks_t'(waiting);
    end
  end

endmodule

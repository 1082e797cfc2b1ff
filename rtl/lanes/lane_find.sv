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
  parameter shape_t Shape = AnyShape,

  localparam int unsigned LaneBits = $clog2(Shape.lanes),
  localparam int unsigned PtrBits  = $clog2(Shape.lane_blocks)
) (
  input logic clk_i,
  input logic rst_ni,

  // No lane is being answered; the one that is; more of it is to come.
  input logic                idle_i,
  input logic [LaneBits-1:0] lane_i,
  input logic                streaming_i,

  // The lane looked at: blocks that came, are done and have been sent, counted without end.
  output logic  [LaneBits-1:0] find_o,
  input  find_t                find_i,
  input  logic  [   PtrBits:0] written_i,
  input  logic  [   PtrBits:0] done_i,
  input  logic  [   PtrBits:0] sent_i,

  output found_t             found_o,
  output logic   [PtrBits:0] done_o,
  output logic   [PtrBits:0] sent_o,
  output logic   [PtrBits:0] left_o
);

  typedef logic [PtrBits:0] count_t;

  logic [LaneBits-1:0] find_q, seen_lane_q;
  find_t seen_q;  // the lane looked at before; active if it is not the one that is being answered
  count_t seen_written_q, seen_done_q, seen_sent_q, waiting;
  logic finished;

  assign find_o   = find_q;
  assign waiting  = seen_done_q - seen_sent_q;
  assign finished = seen_q.closed && seen_done_q == seen_written_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      find_q         <= '0;
      seen_q         <= '0;
      seen_lane_q    <= '0;
      seen_written_q <= '0;
      seen_done_q    <= '0;
      seen_sent_q    <= '0;
      found_o        <= '0;
      done_o         <= '0;
      sent_o         <= '0;
      left_o         <= '0;
    end else if (!found_o.valid || idle_i || streaming_i) begin
      find_q           <= streaming_i ? lane_i : find_q + LaneBits'(1);
      seen_q           <= find_i;
      // A lane that is taken is not to be found again.
      seen_q.active    <= find_i.active && !streaming_i && (idle_i || find_q != lane_i);
      seen_lane_q      <= find_q;
      seen_written_q   <= written_i;
      seen_done_q      <= done_i;
      seen_sent_q      <= sent_i;
      found_o.valid    <= seen_q.active && (finished || waiting[PtrBits]);
      found_o.lane     <= lane_t'(seen_lane_q);
      found_o.status   <= seen_q.status;
      found_o.finished <= finished;
      found_o.skip     <= finished && seen_q.status != StatusOk;
      found_o.any      <= seen_done_q != seen_sent_q;
      done_o           <= seen_done_q;
      sent_o           <= seen_sent_q;
      left_o           <= waiting;
    end
  end

endmodule

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
  output logic    [LaneBits-1:0] find_o,
  input  logic                   find_active_i,
  input  logic                   find_closed_i,
  input  status_e                find_status_i,
  input  logic    [   PtrBits:0] find_written_i,
  input  logic    [   PtrBits:0] find_done_i,
  input  logic    [   PtrBits:0] find_sent_i,

  // A lane to be answered.
  output logic                   found_o,
  output logic    [LaneBits-1:0] found_lane_o,
  output status_e                found_status_o,
  // All of it is there; and nothing of it is to be sent; there is something to be sent.
  output logic                   found_finished_o,
  output logic                   found_skip_o,
  output logic                   found_any_o,
  output logic    [   PtrBits:0] found_done_o,
  output logic    [   PtrBits:0] found_sent_o,
  output logic    [   PtrBits:0] found_left_o
);

  typedef logic [LaneBits-1:0] lane_t;
  typedef logic [PtrBits:0] count_t;

  lane_t find_q;
  logic seen_valid_q;  // the lane looked at before was active, and not the one that is being answered
  lane_t seen_lane_q;
  logic seen_closed_q;
  status_e seen_status_q;
  count_t seen_written_q, seen_done_q, seen_sent_q, waiting;
  logic finished;

  assign find_o   = find_q;
  assign waiting  = seen_done_q - seen_sent_q;
  assign finished = seen_closed_q && seen_done_q == seen_written_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      find_q           <= '0;
      seen_valid_q     <= 1'b0;
      seen_lane_q      <= '0;
      seen_closed_q    <= 1'b0;
      seen_status_q    <= StatusOk;
      seen_written_q   <= '0;
      seen_done_q      <= '0;
      seen_sent_q      <= '0;
      found_o          <= 1'b0;
      found_lane_o     <= '0;
      found_status_o   <= StatusOk;
      found_finished_o <= 1'b0;
      found_skip_o     <= 1'b0;
      found_any_o      <= 1'b0;
      found_done_o     <= '0;
      found_sent_o     <= '0;
      found_left_o     <= '0;
    end else if (!found_o || idle_i || streaming_i) begin
      find_q           <= streaming_i ? lane_i : find_q + lane_t'(1);
      // A lane that is taken is not to be found again.
      seen_valid_q     <= find_active_i && !streaming_i && (idle_i || find_q != lane_i);
      seen_lane_q      <= find_q;
      seen_closed_q    <= find_closed_i;
      seen_status_q    <= find_status_i;
      seen_written_q   <= find_written_i;
      seen_done_q      <= find_done_i;
      seen_sent_q      <= find_sent_i;
      found_o          <= seen_valid_q && (finished || waiting[PtrBits]);
      found_lane_o     <= seen_lane_q;
      found_status_o   <= seen_status_q;
      found_finished_o <= finished;
      found_skip_o     <= finished && seen_status_q != StatusOk;
      found_any_o      <= seen_done_q != seen_sent_q;
      found_done_o     <= seen_done_q;
      found_sent_o     <= seen_sent_q;
      found_left_o     <= waiting;
    end
  end

endmodule

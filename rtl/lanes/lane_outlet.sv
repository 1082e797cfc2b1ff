// SPDX-License-Identifier: Apache-2.0
//
// Frames out: takes results into the lanes' parts of the output buffer and answers the lane that lane_find has found: results, then the trailer. A lane whose buffer is full is answered, too,
// as far as it has come, and has the outlet to itself until its trailer is out: that is how a frame longer
// than the buffer passes. A frame with a fault is answered by its trailer alone, unless its results are
// already on their way.
//
// Clocks per frame: its result beats and 5; from a result to its beat at m_axis 6 + the time until the lane is
// looked at, at most Lanes.
module lane_outlet
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape,

  localparam int unsigned BlockBits = 8 * Shape.block_bytes,
  localparam int unsigned LaneBits  = $clog2(Shape.lanes),
  localparam int unsigned PtrBits   = $clog2(Shape.lane_blocks)
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A result.
  input logic                 result_valid_i,
  input logic [ LaneBits-1:0] result_lane_i,
  input logic [BlockBits-1:0] result_i,

  // The lane looked at.
  output logic    [LaneBits-1:0] find_o,
  input  logic                   find_active_i,
  input  logic                   find_closed_i,
  input  status_e                find_status_i,
  input  logic    [   PtrBits:0] find_written_i,

  // The lane that is being answered; it is free from the clock after release_o.
  output logic [LaneBits-1:0] lane_o,
  input  logic [        15:0] tag_i,
  input  logic [        31:0] payload_len_i,
  output logic                release_o,

  // How many blocks of a lane have been answered.
  input  logic [LaneBits-1:0] intake_lane_i,
  output logic [   PtrBits:0] intake_sent_o,

  // No answer is under way.
  output logic        quiet_o,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  localparam bit Wide = Shape.block_bytes == 16;
  localparam int unsigned Sides = Shape.block_bytes / 8;

  typedef logic [LaneBits-1:0] lane_t;
  typedef logic [PtrBits:0] count_t;

  count_t done_of_find;
  lane_t lane_q;
  count_t sent_q;
  logic [Sides-1:0][63:0] side;

  lane_results #(
    .Shape(Shape)
  ) u_results (
    .clk_i,
    .rst_ni,
    .clear_i,
    .result_valid_i,
    .result_lane_i,
    .result_i,
    .find_i     (find_o),
    .find_done_o(done_of_find),
    .read_at_i  ({lane_q, sent_q[PtrBits-1:0]}),
    .read_data_o(side)
  );

  // -- which lane -----------------------------------------------------------------------------------------

  typedef enum logic [3:0] {
    Find,  // no lane is being answered
    Send,  // results go out
    Last,  // then the trailer
    Gone,  // until it has gone
    Turn,  // more of the same lane is wanted: what was known of it is old
    Wait,
    Look,
    Know,
    More
  } state_e;

  logic [8:0] at_d, at_q;  // one bit for each state, and one of them set
  logic found;  // a lane to be answered
  lane_t found_lane;
  status_e found_status;
  logic found_finished, found_skip, found_any;
  count_t found_done, found_sent, found_left;
  count_t sent_of_find;
  logic streaming;  // the lane that is being answered is not finished
  logic take_run;  // blocks are known to be there, or the end
  logic whole_q;  // the lane is finished: behind what is being sent comes the trailer
  status_e status_q;

  assign streaming = !at_q[Find] && !whole_q;
  assign take_run  = at_q[Find] ? found : at_q[More] && (found_any || found_finished);

  lane_find #(
    .Shape(Shape)
  ) u_find (
    .clk_i,
    .rst_ni,
    .idle_i          (at_q[Find]),
    .lane_i          (lane_q),
    .streaming_i     (streaming),
    .find_o,
    .find_active_i,
    .find_closed_i,
    .find_status_i,
    .find_written_i,
    .find_done_i     (done_of_find),
    .find_sent_i     (sent_of_find),
    .found_o         (found),
    .found_lane_o    (found_lane),
    .found_status_o  (found_status),
    .found_finished_o(found_finished),
    .found_skip_o    (found_skip),
    .found_any_o     (found_any),
    .found_done_o    (found_done),
    .found_sent_o    (found_sent),
    .found_left_o    (found_left)
  );

  // -- beats of the lane ----------------------------------------------------------------------------------

  logic go, side_q, last_side, block_sent;
  count_t left_q;  // blocks of this run
  logic   run_end_q;  // one is left
  logic [1:0] trailer_valid_q, beat_valid_q, beat_side_q, beat_last_q;
  count_t sent_d;

  logic   short_q;  // the payload ends in the first half of its last block
  assign sent_d     = sent_q + count_t'(1);
  assign last_side  = !Wide || side_q;
  assign block_sent = at_q[Send] && go && last_side;

  logic send;  // the lane has something to send
  assign send       = found_any && !found_skip;

  assign at_d[Find] = (at_q[Find] && !found) || (at_q[Gone] && release_o);
  assign at_d[Send] = (take_run && send) || (at_q[Send] && !(block_sent && run_end_q));
  assign at_d[Last] = (take_run && !send) || (block_sent && run_end_q && whole_q) || (at_q[Last] && !go);
  assign at_d[Gone] = (at_q[Last] && go) || (at_q[Gone] && !release_o);
  assign at_d[Turn] = block_sent && run_end_q && !whole_q;
  assign at_d[Wait] = at_q[Turn];
  assign at_d[Look] = at_q[Wait];
  assign at_d[Know] = at_q[Look];
  assign at_d[More] = at_q[Know] || (at_q[More] && !take_run);

  for (genvar i = 0; i < 2; i++) begin : gen_sent
    count_t data;

    ram_logic #(
      .Width(PtrBits + 1),
      .Depth(Shape.lanes)
    ) u_sent (
      .clk_i,
      .clear_i,
      .write_i     (at_q[Last] || at_q[Turn]),
      .write_at_i  (lane_q),
      .write_data_i(sent_q),
      .read_at_i   (i == 0 ? find_o : intake_lane_i),
      .read_data_o (data)
    );
  end

  assign sent_of_find  = gen_sent[0].data;
  assign intake_sent_o = gen_sent[1].data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q      <= 9'(1 << Find);
      lane_q    <= '0;
      sent_q    <= '0;
      left_q    <= '0;
      run_end_q <= 1'b0;
      side_q    <= 1'b0;
      whole_q   <= 1'b0;
      status_q  <= StatusOk;
      short_q   <= 1'b0;
    end else begin
      at_q    <= at_d;
      short_q <= Wide && Shape.ctr && payload_len_i[3:0] inside {[4'd1 : 4'd8]};
      if (take_run) begin
        lane_q   <= found_lane;
        whole_q  <= found_finished;
        status_q <= found_status;
        left_q    <= found_left;
        run_end_q <= found_left == count_t'(1);
        sent_q   <= found_skip ? found_done : found_sent;
        side_q   <= 1'b0;
      end else begin
        if (at_q[Send] && go) side_q <= !last_side;
        if (block_sent) begin
          sent_q    <= sent_d;
          left_q    <= left_q - count_t'(1);
          run_end_q <= left_q == count_t'(2);
        end
      end
    end
  end

  // -- on their way out -----------------------------------------------------------------------------------

  logic [63:0] data;
  logic [7:0] keep_q;  // of the last beat, bytes that count
  trailer_t trailer;

  assign lane_o = lane_q;
  assign release_o = trailer_valid_q[1];

  assign trailer = '{
      reserved: '0,
      status: status_q,
      tag: tag_i,
      result_len: payload_len_i & {32{status_q == StatusOk}}
    };

  always_comb begin
    data = side[Wide&&beat_side_q[1]?Sides-1 : 0];
    for (int unsigned k = 0; k < 8; k++) begin
      if (Shape.ctr && beat_last_q[1] && !keep_q[k]) data[8*k+:8] = '0;
    end
    if (trailer_valid_q[1]) data = trailer;
  end

  // Beats are on their way for three clocks and do not stop: none sets out unless there is room for all.
  lane_queue #(
    .Room(8)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clear_i,
    .push_i(beat_valid_q[1] || trailer_valid_q[1]),
    .data_i(data),
    .last_i(trailer_valid_q[1]),
    .room_o(go),
    .quiet_o,
    .m_axis_tdata,
    .m_axis_tvalid,
    .m_axis_tready,
    .m_axis_tlast
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trailer_valid_q <= '0;
      beat_valid_q    <= '0;
      beat_side_q     <= '0;
      beat_last_q     <= '0;
      keep_q          <= '0;
    end else begin
      for (int unsigned k = 0; k < 8; k++) begin
        keep_q[k] <= payload_len_i[2:0] == '0 || 3'(k) < payload_len_i[2:0];
      end
      // The lane is known for a clock when its second beat or the second of these stages comes.
      beat_valid_q <= {beat_valid_q[0], at_q[Send] && go && !(side_q && run_end_q && whole_q && short_q)};
      beat_side_q <= {beat_side_q[0], side_q};
      beat_last_q <= {beat_last_q[0] && (!Wide || beat_side_q[0] || short_q), run_end_q && whole_q};
      trailer_valid_q <= {trailer_valid_q[0], at_q[Last] && go};
    end
  end

endmodule

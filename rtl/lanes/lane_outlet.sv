// SPDX-License-Identifier: Apache-2.0
//
// Frames out: takes results into the lanes' parts of the output buffer, looks for a lane whose frame is
// finished, and answers it: results, then the trailer. A lane whose buffer is full is answered, too,
// as far as it has come, and has the outlet to itself until its trailer is out: that is how a frame longer
// than the buffer passes. A frame with a fault is answered by its trailer alone, unless its results are
// already on their way.
//
// Clocks per frame: its result beats and 5; from a result to its beat at m_axis 6 + the time until the lane is
// looked at, at most Lanes.
module lane_outlet
  import slot_pkg::*;
#(
  parameter int unsigned BlockBytes = 16,
  parameter bit Ctr = 1'b1,
  parameter int unsigned Lanes = 8,
  parameter int unsigned LaneBlocks = 128,

  localparam int unsigned BlockBits = 8 * BlockBytes,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned PtrBits   = $clog2(LaneBlocks)
) (
  input logic clk_i,
  input logic rst_ni,

  input logic                sweep_i,
  input logic [LaneBits-1:0] sweep_lane_i,

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

  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  localparam bit Wide = BlockBytes == 16;
  localparam int unsigned Sides = BlockBytes / 8;

  typedef logic [LaneBits-1:0] lane_t;
  typedef logic [PtrBits:0] count_t;

  // -- results into the buffer ----------------------------------------------------------------------------

  count_t done_of_result, done_of_find;
  lane_t lane_q;
  count_t sent_q;
  logic [Sides-1:0][63:0] side;

  // Counts of results, once for each reader.
  for (genvar i = 0; i < 2; i++) begin : gen_done
    count_t data;

    lane_ram #(
      .Width(PtrBits + 1),
      .Depth(Lanes)
    ) u_done (
      .clk_i,
      .write_i     (result_valid_i || sweep_i),
      .write_at_i  (sweep_i ? sweep_lane_i : result_lane_i),
      .write_data_i((done_of_result + count_t'(1)) & {PtrBits + 1{!sweep_i}}),
      .read_at_i   (i == 0 ? result_lane_i : find_o),
      .read_data_o (data)
    );
  end

  assign done_of_result = gen_done[0].data;
  assign done_of_find   = gen_done[1].data;

  for (genvar h = 0; h < Sides; h++) begin : gen_side
    lane_memory #(
      .Width(64),
      .Depth(Lanes * LaneBlocks)
    ) u_memory (
      .clk_i,
      .write_i     (result_valid_i),
      .write_at_i  ({result_lane_i, done_of_result[PtrBits-1:0]}),
      .write_data_i(result_i[64*h+:64]),
      .read_i      (1'b1),
      .read_at_i   ({lane_q, sent_q[PtrBits-1:0]}),
      .read_data_o (side[h])
    );
  end

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
  lane_t find_q;
  logic seen_valid_q;  // the lane looked at before was active, and not the one that is being answered
  lane_t seen_lane_q;
  logic seen_closed_q;
  status_e seen_status_q;
  count_t seen_written_q, seen_done_q, seen_sent_q, waiting;
  logic finished;
  logic found_q;  // a lane to be answered
  lane_t found_lane_q;
  status_e found_status_q;
  logic found_finished_q;  // all of it is there
  logic found_skip_q;  // and nothing of it is to be sent
  logic found_any_q;  // there is something to be sent
  count_t found_done_q, found_sent_q, found_left_q;
  count_t sent_of_find;
  logic streaming;  // the lane that is being answered is not finished
  logic take_run;  // blocks are known to be there, or the end
  logic whole_q;  // the lane is finished: behind what is being sent comes the trailer
  status_e status_q;

  assign streaming = !at_q[Find] && !whole_q;
  assign take_run  = at_q[Find] ? found_q : at_q[More] && (found_any_q || found_finished_q);
  assign find_o    = find_q;
  assign waiting   = seen_done_q - seen_sent_q;
  assign finished  = seen_closed_q && seen_done_q == seen_written_q;

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
      found_q          <= 1'b0;
      found_lane_q     <= '0;
      found_status_q   <= StatusOk;
      found_finished_q <= 1'b0;
      found_skip_q     <= 1'b0;
      found_any_q      <= 1'b0;
      found_done_q     <= '0;
      found_sent_q     <= '0;
      found_left_q     <= '0;
    end else if (!found_q || at_q[Find] || streaming) begin
      find_q           <= streaming ? lane_q : find_q + lane_t'(1);
      // A lane that is taken is not to be found again.
      seen_valid_q     <= find_active_i && !streaming && (at_q[Find] || find_q != lane_q);
      seen_lane_q      <= find_q;
      seen_closed_q    <= find_closed_i;
      seen_status_q    <= find_status_i;
      seen_written_q   <= find_written_i;
      seen_done_q      <= done_of_find;
      seen_sent_q      <= sent_of_find;
      found_q          <= seen_valid_q && (finished || waiting[PtrBits]);
      found_lane_q     <= seen_lane_q;
      found_status_q   <= seen_status_q;
      found_finished_q <= finished;
      found_skip_q     <= finished && seen_status_q != StatusOk;
      found_any_q      <= seen_done_q != seen_sent_q;
      found_done_q     <= seen_done_q;
      found_sent_q     <= seen_sent_q;
      found_left_q     <= waiting;
    end
  end

  // -- beats of the lane ----------------------------------------------------------------------------------

  logic go_q, side_q, last_side, block_sent;
  count_t left_q;  // blocks of this run
  logic   run_end_q;  // one is left
  logic [1:0] trailer_valid_q, beat_valid_q, beat_side_q, beat_last_q;
  count_t sent_d;

  logic   short_q;  // the payload ends in the first half of its last block
  assign sent_d     = sent_q + count_t'(1);
  assign last_side  = !Wide || side_q;
  assign block_sent = at_q[Send] && go_q && last_side;

  logic send;  // the lane has something to send
  assign send       = found_any_q && !found_skip_q;

  assign at_d[Find] = (at_q[Find] && !found_q) || (at_q[Gone] && release_o);
  assign at_d[Send] = (take_run && send) || (at_q[Send] && !(block_sent && run_end_q));
  assign at_d[Last] = (take_run && !send) || (block_sent && run_end_q && whole_q) || (at_q[Last] && !go_q);
  assign at_d[Gone] = (at_q[Last] && go_q) || (at_q[Gone] && !release_o);
  assign at_d[Turn] = block_sent && run_end_q && !whole_q;
  assign at_d[Wait] = at_q[Turn];
  assign at_d[Look] = at_q[Wait];
  assign at_d[Know] = at_q[Look];
  assign at_d[More] = at_q[Know] || (at_q[More] && !take_run);

  for (genvar i = 0; i < 2; i++) begin : gen_sent
    count_t data;

    lane_ram #(
      .Width(PtrBits + 1),
      .Depth(Lanes)
    ) u_sent (
      .clk_i,
      .write_i     (at_q[Last] || at_q[Turn] || sweep_i),
      .write_at_i  (sweep_i ? sweep_lane_i : lane_q),
      .write_data_i(sent_q & {PtrBits + 1{!sweep_i}}),
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
      short_q <= Wide && Ctr && payload_len_i[3:0] inside {[4'd1 : 4'd8]};
      if (take_run) begin
        lane_q   <= found_lane_q;
        whole_q  <= found_finished_q;
        status_q <= found_status_q;
        left_q    <= found_left_q;
        run_end_q <= found_left_q == count_t'(1);
        sent_q   <= found_skip_q ? found_done_q : found_sent_q;
        side_q   <= 1'b0;
      end else begin
        if (at_q[Send] && go_q) side_q <= !last_side;
        if (block_sent) begin
          sent_q    <= sent_d;
          left_q    <= left_q - count_t'(1);
          run_end_q <= left_q == count_t'(2);
        end
      end
    end
  end

  // -- on their way out -----------------------------------------------------------------------------------

  // Beats are on their way for three clocks and do not stop: a queue takes them, and none sets out unless
  // there is room for all.
  localparam int unsigned QueueBits = 4;

  logic [63:0] data;
  logic [7:0] keep_q;  // of the last beat, bytes that count
  trailer_t trailer;
  logic push, pop, out_last;
  logic [63:0] out_data;
  logic [QueueBits-1:0] push_at_q, pop_at_q;
  logic [QueueBits:0] used_q;

  assign lane_o = lane_q;
  assign release_o = trailer_valid_q[1];
  assign push = beat_valid_q[1] || trailer_valid_q[1];
  assign pop = used_q != '0 && (!m_axis_tvalid || m_axis_tready);

  assign trailer = '{
      reserved: '0,
      status: status_q,
      tag: tag_i,
      result_len: payload_len_i & {32{status_q == StatusOk}}
    };

  always_comb begin
    data = side[Wide&&beat_side_q[1]?Sides-1 : 0];
    for (int unsigned k = 0; k < 8; k++) begin
      if (Ctr && beat_last_q[1] && !keep_q[k]) data[8*k+:8] = '0;
    end
    if (trailer_valid_q[1]) data = trailer;
  end

  lane_ram #(
    .Width(65),
    .Depth(2 ** QueueBits)
  ) u_queue (
    .clk_i,
    .write_i     (push),
    .write_at_i  (push_at_q),
    .write_data_i({trailer_valid_q[1], data}),
    .read_at_i   (pop_at_q),
    .read_data_o ({out_last, out_data})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trailer_valid_q <= '0;
      beat_valid_q    <= '0;
      beat_side_q     <= '0;
      beat_last_q     <= '0;
      keep_q          <= '0;
      push_at_q       <= '0;
      pop_at_q        <= '0;
      used_q          <= '0;
      go_q            <= 1'b0;
      m_axis_tvalid   <= 1'b0;
      m_axis_tdata    <= '0;
      m_axis_tlast    <= 1'b0;
    end else begin
      for (int unsigned k = 0; k < 8; k++) begin
        keep_q[k] <= payload_len_i[2:0] == '0 || 3'(k) < payload_len_i[2:0];
      end
      // The lane is known for a clock when its second beat or the second of these stages comes.
      beat_valid_q <= {beat_valid_q[0], at_q[Send] && go_q && !(side_q && run_end_q && whole_q && short_q)};
      beat_side_q <= {beat_side_q[0], side_q};
      beat_last_q <= {beat_last_q[0] && (!Wide || beat_side_q[0] || short_q), run_end_q && whole_q};
      trailer_valid_q <= {trailer_valid_q[0], at_q[Last] && go_q};
      push_at_q <= push_at_q + QueueBits'(push);
      pop_at_q <= pop_at_q + QueueBits'(pop);
      used_q <= used_q + (QueueBits + 1)'(push) - (QueueBits + 1)'(pop);
      go_q <= used_q[QueueBits:QueueBits-1] == '0;
      m_axis_tvalid <= used_q != '0 || (m_axis_tvalid && !m_axis_tready);
      if (!m_axis_tvalid || m_axis_tready) begin
        m_axis_tdata <= out_data;
        m_axis_tlast <= out_last;
      end
    end
  end

endmodule

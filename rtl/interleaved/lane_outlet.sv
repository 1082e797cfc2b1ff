// SPDX-License-Identifier: Apache-2.0
//
// Frames out: takes results into the lanes' parts of the output buffer and answers the lane that lane_find has found:
// results, then the trailer. A lane whose buffer is full is answered, too, as far as it has come, and has the outlet to
// itself until its trailer is out: that is how a frame longer than the buffer passes. A frame with a fault is answered
// by its trailer alone, unless its results are already on their way.
//
// Clocks per frame: its result beats and 5; from a result to its beat at m_axis 6 + the time until the lane is
// looked at, at most Lanes.
module lane_outlet
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input lane_block_t result_i,

  // The lane looked at.
  output lane_t   find_o,
  input  find_t   find_i,
  input  blocks_t find_written_i,

  // The lane that is being answered; it is free from the clock after release_o.
  output lane_t   lane_o,
  input  answer_t answer_i,
  output logic    release_o,

  // How many blocks of a lane have been answered.
  input  lane_t   intake_lane_i,
  output blocks_t intake_sent_o,

  // No answer is under way.
  output logic    quiet_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i
);

  localparam bit Wide = Shape.block_bytes == 16;
  localparam int unsigned Sides = Shape.block_bytes / 8;

  typedef logic [Shape.ptr_bits:0] count_t;

  blocks_t done_of_find;
  logic [Shape.lane_bits-1:0] lane_q;
  count_t sent_q;
  place_t read_at;
  block_t read_data;
  logic [Sides-1:0][63:0] side;

  assign read_at = '{lane: lane_t'(lane_q), block: $bits(read_at.block)'(sent_q[Shape.ptr_bits-1:0])};
  assign side    = read_data[64*Sides-1:0];

  lane_results #(
    .Shape(Shape)
  ) u_results (
    .clk_i,
    .rst_ni,
    .clear_i,
    .result_i,
    .find_i     (find_o),
    .find_done_o(done_of_find),
    .read_at_i  (read_at),
    .read_data_o(read_data)
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
  found_t found;
  blocks_t sent_of_find;
  logic streaming;  // the lane that is being answered is not finished
  logic take_run;  // blocks are known to be there, or the end
  logic whole_q;  // the lane is finished: behind what is being sent comes the trailer
  status_e status_q;

  assign streaming = !at_q[Find] && !whole_q;
  assign take_run  = at_q[Find] ? found.valid : at_q[More] && (found.any || found.finished);

  lane_find #(
    .Shape(Shape)
  ) u_find (
    .clk_i,
    .rst_ni,
    .idle_i     (at_q[Find]),
    .lane_i     (lane_t'(lane_q)),
    .streaming_i(streaming),
    .find_o,
    .find_i,
    .written_i  (find_written_i),
    .done_i     (done_of_find),
    .sent_i     (sent_of_find),
    .found_o    (found)
  );

  // -- beats of the lane ----------------------------------------------------------------------------------

  logic go, side_q, last_side, block_sent;
  count_t left_q;  // blocks of this run
  logic   run_end_q;  // one is left
  logic trailer_valid_q, beat_valid_q, beat_side_q, beat_last_q;
  count_t sent_d;

  logic   short_q;  // the payload ends in the first half of its last block
  assign sent_d     = sent_q + count_t'(1);
  assign last_side  = !Wide || side_q;
  assign block_sent = at_q[Send] && go && last_side;

  logic send;  // the lane has something to send
  assign send       = found.any && !found.skip;

  assign at_d[Find] = (at_q[Find] && !found.valid) || (at_q[Gone] && release_o);
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
      .Width(Shape.ptr_bits + 1),
      .Depth(Shape.lanes)
    ) u_sent (
      .clk_i,
      .clear_i,
      .write_i     (at_q[Last] || at_q[Turn]),
      .write_at_i  (lane_q),
      .write_data_i(sent_q),
      .read_at_i   (Shape.lane_bits'(i == 0 ? find_o : intake_lane_i)),
      .read_data_o (data)
    );
  end

  assign sent_of_find  = blocks_t'(gen_sent[0].data);
  assign intake_sent_o = blocks_t'(gen_sent[1].data);

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
      short_q <= Wide && answer_i.payload_len[3:0] inside {[4'd1 : 4'd8]};
      if (take_run) begin
        lane_q    <= found.lane[Shape.lane_bits-1:0];
        whole_q   <= found.finished;
        status_q  <= found.status;
        left_q    <= found.left[Shape.ptr_bits:0];
        run_end_q <= found.left == blocks_t'(1);
        sent_q    <= count_t'(found.skip ? found.done : found.sent);
        side_q    <= 1'b0;
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

  // A beat sets out, comes to the memory's output register, and is pushed with what is chosen for it: bytes of one half
  // of the block, or the trailer.
  logic [Sides-1:0][7:0] use_q;
  logic [7:0] keep_q;  // of the last beat, bytes that count
  logic ends;  // the beat in the output register is the last
  logic push_q;
  trailer_t trailer_q;
  stream_t pushed;

  assign lane_o = lane_t'(lane_q);
  assign ends   = beat_last_q && (!Wide || beat_side_q || short_q);

  always_comb begin
    pushed = '{valid: push_q || release_o, last: release_o, data: trailer_q};
    for (int unsigned h = 0; h < Sides; h++) begin
      for (int unsigned k = 0; k < 8; k++) pushed.data[8*k+:8] |= side[h][8*k+:8] & {8{use_q[h][k]}};
    end
  end

  // Beats are on their way for three clocks and do not stop: none sets out unless there is room for all.
  lane_queue #(
    .Room(8)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clear_i,
    .beat_i(pushed),
    .room_o(go),
    .quiet_o,
    .m_axis_o,
    .m_axis_ready_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)
      {trailer_valid_q, beat_valid_q, beat_side_q, beat_last_q, keep_q, use_q, push_q, release_o} <= '0;
    else begin
      beat_valid_q    <= at_q[Send] && go && !(side_q && run_end_q && whole_q && short_q);
      beat_side_q     <= side_q;
      beat_last_q     <= run_end_q && whole_q;
      trailer_valid_q <= at_q[Last] && go;
      push_q          <= beat_valid_q;
      release_o       <= trailer_valid_q;
      // The lane is known for a clock when its first beat is in the output register.
      for (int unsigned k = 0; k < 8; k++) begin
        keep_q[k] <= answer_i.payload_len[2:0] == '0 || 3'(k) < answer_i.payload_len[2:0];
        for (int unsigned h = 0; h < Sides; h++) begin
          use_q[h][k] <= beat_valid_q && (!Wide || beat_side_q == 1'(h)) && (keep_q[k] || !ends);
        end
      end
    end
  end

  // Zero whenever no trailer comes, in the first clock of a clear or a reset, too.
  always_ff @(posedge clk_i) begin
    if (!trailer_valid_q) trailer_q <= '0;
    else
      trailer_q <= '{reserved: '0, status: status_q, tag: answer_i.tag, result_len: answer_i.payload_len};
    if (!trailer_valid_q || status_q != StatusOk) trailer_q.result_len <= '0;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// As many frames as there are lanes, and blocks of all of them in the tile. A frame comes through the one shell into its
// lane's buffer, its blocks go from there into the tile and their results back to where they were, and its answer leaves.
// Lanes have no logic of their own but a few bits: what is known of them lies in memories.
//
// The buffers have one port to read and one to write, and turns at them: in odd clocks issue reads and return writes, in
// even ones return or outlet reads and admit writes. A start of the tile takes a block for each of its ways, from any lanes.
module array_lanes
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  // From 2 to 16, a power of two.
  parameter int unsigned Lanes = 16,
  // Of the tile.
  parameter int unsigned Ways  = 2
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,
  // The tile changes to another bank; it has just done so, and nothing may be chosen yet.
  input logic   changing_i,
  input logic   hold_i,

  // The set that runs, and its bank.
  input set_t set_i,
  input logic run_i,

  // A frame for the lane that intake has found, until open_o is low again: the lane has all of it, or what is wrong with
  // it is known.
  input  stream_t               s_i,
  output logic                  s_ready_o,
  input  lane_t                 lane_i,
  input  lane_key_t             key_i,
  input  logic      [Lanes-1:0] given_i,
  output logic      [Lanes-1:0] free_o,
  output logic                  open_o,
  // The result of the last one is a frame, a clock behind; the entrance knows where such frames of lanes go.
  output logic                  joins_o,
  input  logic      [Lanes-1:0] planned_i,
  output logic                  forget_o,

  // States of hashes, from the loader.
  input logic        state_write_i,
  input logic [ 6:0] state_at_i,
  input logic [63:0] state_data_i,

  // The tile.
  input  logic                                           start_i,
  input  logic   [StreamBits-1:0]                        input_base_i,
  input  logic   [StreamBits-1:0]                        output_base_i,
  output logic   [      Ways-1:0][KeyWordBits-1:0]       key_base_o,
  output write_t                                         write_o,
  output logic   [StreamBits-1:0]                        read_at_o,
  input  logic   [      Ways-1:0][    Outputs-1:0][31:0] words_i,

  // A lane's result is a frame; whether the entrance takes it, or nobody will; its beats.
  output ask_t    ask_o,
  input  logic    passing_i,
  input  logic    taken_i,
  input  logic    refused_i,
  output stream_t forward_o,
  input  logic    forward_ready_i,

  // The loader's answers, and all answers.
  input  stream_t       loader_i,
  output logic          loader_ready_o,
  output logic          loader_left_o,
  input  logic    [7:0] fault_i,
  output logic          empty_o,
  output stream_t       m_axis_o,
  input  logic          m_axis_ready_i
);

  localparam int unsigned LaneBits = $clog2(Lanes);
  if (Lanes < 2 || Lanes > 16 || Lanes != 1 << LaneBits) begin : gen_illegal
    $error("array_lanes: lanes are a power of two from 2 to 16");
  end

  logic odd_q;
  // The entrance is far away.
  lane_t lane_q;
  lane_key_t key_q;
  logic [Lanes-1:0] used_q, ready_q, done_q, fresh_q, outer_q, forward_q, bad_q;
  logic open_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) odd_q <= 1'b0;
    else odd_q <= !odd_q;
  end

  always_ff @(posedge clk_i) begin
    lane_q  <= lane_i;
    key_q   <= key_i;
    joins_o <= forward_q[lane_q[LaneBits-1:0]];
  end

  // -- the entrance -----------------------------------------------------------------------------------------

  header_t   header;
  request_t  frame;
  response_t answer;
  stream_t   trailer;
  logic unused_answer_ready, unused_tag;

  array_shell u_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_i),
    .forget_o      (forget_o),
    .s_axis_i      (s_i),
    .s_axis_ready_o(s_ready_o),
    .m_axis_o      (trailer),
    .m_axis_ready_i(1'b1),
    .header_o      (header),
    .frame_o       (frame),
    .tag_o         (unused_tag),
    .answer_i      (answer),
    .answer_ready_o(unused_answer_ready)
  );

  logic admit_write, admit_to_state, accepted, job_write, bits_write, bits_ready;
  at_t admit_at, accepted_from, from;
  logic [63:0] admit_data, bits;
  job_t accepted_job, job;
  logic [31:0] accepted_length, length;
  logic accepted_forward, forward;
  logic [2:0] accepted_gap, gap;
  passed_t accepted_passed, passed;
  logic [7:0] status;
  logic long, long_beat, long_room, ended, fine, admit_ready, admit_done;

  array_admit u_admit (
    .clk_i,
    .rst_ni,
    .odd_i       (odd_q),
    .set_i,
    .key_i       (key_q),
    .header_i    (header),
    .frame_i     (frame),
    .answer_o    (answer),
    .trailer_i   (trailer),
    .write_o     (admit_write),
    .to_state_o  (admit_to_state),
    .at_o        (admit_at),
    .data_o      (admit_data),
    .bits_write_o(bits_write),
    .bits_ready_i(bits_ready),
    .bits_o      (bits),
    .job_write_o (accepted),
    .job_o       (accepted_job),
    .length_o    (accepted_length),
    .from_o      (accepted_from),
    .forward_o   (accepted_forward),
    .passed_o    (accepted_passed),
    .gap_o       (accepted_gap),
    .long_o      (long),
    .long_beat_o (long_beat),
    .long_room_i (long_room),
    .ended_o     (ended),
    .status_o    (status),
    .fine_o      (fine),
    .ready_o     (admit_ready),
    .done_o      (admit_done)
  );

  // What is kept of a frame is far from the entrance.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) job_write <= 1'b0;
    else job_write <= accepted;
  end
  always_ff @(posedge clk_i) begin
    job     <= accepted_job;
    length  <= accepted_length;
    from    <= accepted_from;
    forward <= accepted_forward;
    passed  <= accepted_passed;
    gap     <= accepted_gap;
  end

  // -- the tile ---------------------------------------------------------------------------------------------

  logic chosen, issued, again, early, returned;
  lane_t chosen_lane, issued_lane, early_lane;
  logic [Ways-1:0] started;
  block_t [Ways-1:0] block;
  block_t returned_block;
  lane_t issue_lane, mask_lane, return_lane, outlet_lane;
  at_t issue_at, mask_at, return_at, outlet_at;
  logic [1:0] index;
  logic [6:0] store_at;
  logic words_valid, mask_read, return_write, return_to_state, bad;
  lane_t  bad_lane;
  words_t words;
  logic [63:0] beat, lane_state, store, return_data;

  array_issue #(
    .Lanes(Lanes),
    .Ways (Ways)
  ) u_issue (
    .clk_i,
    .rst_ni,
    .set_i,
    .run_i,
    .changing_i,
    .hold_i       (hold_i || clear_i.active),
    .ready_i      (ready_q),
    .fresh_i      (fresh_q),
    .outer_i      (outer_q),
    .job_write_i  (job_write),
    .job_lane_i   (lane_q),
    .job_i        (job),
    .chosen_o     (chosen),
    .chosen_lane_o(chosen_lane),
    .issued_o     (issued),
    .issued_lane_o(issued_lane),
    .again_o      (again),
    .words_valid_o(words_valid),
    .words_o      (words),
    .start_i,
    .input_base_i,
    .key_base_o,
    .started_o    (started),
    .block_o      (block)
  );

  array_words u_words (
    .clk_i,
    .rst_ni,
    .odd_i       (odd_q),
    .set_i,
    .run_i,
    .valid_i     (words_valid),
    .block_i     (words),
    .read_lane_o (issue_lane),
    .read_at_o   (issue_at),
    .read_index_o(index),
    .read_state_o(store_at),
    .beat_i      (beat),
    .lane_state_i(lane_state),
    .state_i     (store),
    .write_o
  );

  array_return #(
    .Ways(Ways)
  ) u_return (
    .clk_i,
    .rst_ni,
    .odd_i           (odd_q),
    .set_i,
    .started_i       (started),
    .block_i         (block),
    .output_base_i,
    .read_at_o,
    .words_i,
    .mask_read_o     (mask_read),
    .mask_lane_o     (mask_lane),
    .mask_at_o       (mask_at),
    .mask_i          (beat),
    .write_o         (return_write),
    .to_state_o      (return_to_state),
    .write_lane_o    (return_lane),
    .write_at_o      (return_at),
    .data_o          (return_data),
    .early_o         (early),
    .early_lane_o    (early_lane),
    .returned_o      (returned),
    .returned_block_o(returned_block),
    .bad_o           (bad),
    .bad_lane_o      (bad_lane)
  );

  // -- the one that is longer than a buffer -----------------------------------------------------------------

  logic long_active, long_ready, long_done, results, sent, left;
  lane_t long_lane, left_lane;
  logic issued_long, early_long, returned_long, to_outer, again_long;

  assign issued_long   = issued && long_active && issued_lane == long_lane;
  assign returned_long = returned && long_active && returned_block.lane == long_lane;
  assign early_long    = early && long_active && early_lane == long_lane;
  assign to_outer      = returned_block.final_block && returned_block.inner;
  assign again_long    = (issued_long && again) || early_long || (returned_long && to_outer);

  array_long u_long (
    .clk_i,
    .rst_ni,
    .set_i,
    .long_i    (long),
    .lane_i    (lane_q),
    .beat_i    (long_beat),
    .ended_i   (ended),
    .fine_i    (fine),
    .room_o    (long_room),
    .active_o  (long_active),
    .lane_o    (long_lane),
    .issued_i  (issued_long),
    .returned_i(returned_long),
    .again_i   (again_long),
    .sent_i    (sent),
    .left_i    (left && left_lane == long_lane),
    .ready_o   (long_ready),
    .done_o    (long_done),
    .results_o (results)
  );

  // -- lanes ------------------------------------------------------------------------------------------------

  assign free_o = ~used_q;
  assign open_o = open_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {used_q, ready_q, done_q, fresh_q, outer_q, forward_q, bad_q, open_q} <= '0;
    end else begin
      open_q <= given_i != '0 || (open_q && !ended);
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic here = lane_q == lane_t'(l);
        automatic logic issued_here = issued && issued_lane == lane_t'(l);
        automatic logic returned_here = returned && returned_block.lane == lane_t'(l);
        automatic logic early_here = early && early_lane == lane_t'(l);
        automatic logic long_here = long_active && long_lane == lane_t'(l);
        used_q[l] <= given_i[l] || (used_q[l] && !(left && left_lane == lane_t'(l)));
        if ((admit_ready && here) || (long_ready && long_here)
            || (!long_here && ((issued_here && again) || early_here || (returned_here && to_outer))))
          ready_q[l] <= 1'b1;
        else if (chosen && chosen_lane == lane_t'(l)) ready_q[l] <= 1'b0;
        if ((admit_done && here) || (long_done && long_here)
            || (returned_here && returned_block.final_block && !returned_block.inner))
          done_q[l] <= 1'b1;
        else if (left && left_lane == lane_t'(l)) done_q[l] <= 1'b0;
        // Before the exit has found out that the lane is done.
        if (bad && bad_lane == lane_t'(l)) bad_q[l] <= 1'b1;
        else if (left && left_lane == lane_t'(l)) bad_q[l] <= 1'b0;
        // Of a frame that was refused nothing is passed on.
        if (job_write && here) forward_q[l] <= forward;
        else if (admit_done && here) forward_q[l] <= 1'b0;
        // The first block has number 0, and so has the outer message.
        if ((job_write && here) || (returned_here && to_outer)) fresh_q[l] <= 1'b1;
        else if (issued_here) fresh_q[l] <= 1'b0;
        if (returned_here && to_outer) outer_q[l] <= 1'b1;
        else if (job_write && here) outer_q[l] <= 1'b0;
      end
    end
  end

  // -- memories ---------------------------------------------------------------------------------------------

  logic turn_write, turn_to_state;
  lane_t turn_lane, read_lane;
  at_t turn_at, read_at;
  logic [63:0] turn_data;

  always_comb begin
    turn_write    = odd_q ? return_write : admit_write;
    turn_to_state = odd_q ? return_to_state : admit_to_state;
    turn_lane     = odd_q ? return_lane : lane_q;
    turn_at       = odd_q ? return_at : admit_at;
    turn_data     = odd_q ? return_data : admit_data;
    read_lane     = odd_q ? issue_lane : mask_read ? mask_lane : outlet_lane;
    read_at       = odd_q ? issue_at : mask_read ? mask_at : outlet_at;
  end

  array_buffers #(
    .Lanes(Lanes)
  ) u_buffers (
    .clk_i,
    .clear_i,
    .write_i      (turn_write),
    .to_state_i   (turn_to_state),
    .write_lane_i (turn_lane),
    .write_at_i   (turn_at),
    .write_data_i (turn_data),
    .read_lane_i  (read_lane),
    .read_at_i    (read_at),
    .beat_o       (beat),
    .state_lane_i (issue_lane),
    .state_index_i(index),
    .lane_state_o (lane_state),
    .bits_write_i (bits_write),
    .bits_lane_i  (lane_q),
    .bits_run_i   (run_i),
    .bits_i       (bits),
    .bits_ready_o (bits_ready),
    .store_write_i(state_write_i),
    .store_at_i   (state_at_i),
    .store_data_i (state_data_i),
    .store_read_i (store_at),
    .store_o      (store)
  );

  // -- the exit ---------------------------------------------------------------------------------------------

  array_outlet #(
    .Lanes(Lanes)
  ) u_outlet (
    .clk_i,
    .rst_ni,
    .odd_i      (odd_q),
    .mask_read_i(mask_read),
    .job_write_i(job_write),
    .job_lane_i (lane_q),
    .length_i   (length),
    .from_i     (from),
    .passed_i   (passed),
    .gap_i      (gap),
    .keys_i     (set_i.keys),
    .ended_i    (ended),
    .status_i   (status),
    .trailer_i  (trailer),
    .done_i     (done_q),
    .bad_i      (bad_q),
    .forward_i  (forward_q),
    .planned_i,
    .long_lane_i(long_lane),
    .results_i  (results),
    .sent_o     (sent),
    .left_o     (left),
    .lane_o     (left_lane),
    .loader_left_o,
    .read_at_o  (outlet_at),
    .beat_i     (beat),
    .ask_o,
    .passing_i,
    .taken_i,
    .refused_i,
    .forward_o,
    .forward_ready_i,
    .loader_i,
    .loader_ready_o,
    .fault_i,
    .empty_o,
    .m_axis_o,
    .m_axis_ready_i
  );

  assign outlet_lane = left_lane;

endmodule

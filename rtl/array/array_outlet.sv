// SPDX-License-Identifier: Apache-2.0
//
// The exit: answers of lanes and of the loader, one after the other and never mingled. A lane's answer leaves when its
// last block is done; that of the frame that is longer than a buffer as it comes, and then the rest follows.
//
// A result that is a frame itself leaves when the entrance takes it: its beats go there, and those behind what was in
// front of the result to the host as well, if they are not the words of a key. While the entrance has no other frame, such
// a lane comes before all others: nothing that it waits for waits for these.
//
// Clocks: 9 from an answer's end to its first beat, 4 a beat.
module array_outlet
  import array_front_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,
  // In other clocks than these it may read the buffers, if nothing masks a result.
  input logic odd_i,
  input logic mask_read_i,

  // What is known of a lane's answer when its frame is accepted, and when it ends.
  input logic           job_write_i,
  input lane_t          job_lane_i,
  input logic    [31:0] length_i,
  input at_t            from_i,
  input passed_t        passed_i,
  input logic    [ 2:0] gap_i,
  input logic           keys_i,
  input logic           ended_i,
  input logic    [ 7:0] status_i,
  input stream_t        trailer_i,

  // Lanes whose answer is whole, and of which the tag was wrong, which may come 2 clocks later; whose result is a frame, and
  // of which the entrance knows where that goes; the long one, and whether a beat of it is there.
  input  logic  [Lanes-1:0] done_i,
  input  logic  [Lanes-1:0] bad_i,
  input  logic  [Lanes-1:0] forward_i,
  input  logic  [Lanes-1:0] planned_i,
  input  lane_t             long_lane_i,
  input  logic              results_i,
  // A beat has been read; an answer has left, with its lane, or the loader's.
  output logic              sent_o,
  output logic              left_o,
  output lane_t             lane_o,
  output logic              loader_left_o,

  // The buffers; a beat is there two clocks behind its address.
  output at_t         read_at_o,
  input  logic [63:0] beat_i,

  // A frame for the entrance, which has somebody else's, takes it, or says that nobody will; its beats.
  output ask_t    ask_o,
  input  logic    passing_i,
  input  logic    taken_i,
  input  logic    refused_i,
  output stream_t forward_o,
  input  logic    forward_ready_i,

  // The loader's answer, a trailer, and what it says of a set.
  input  stream_t       loader_i,
  output logic          loader_ready_o,
  input  logic    [7:0] fault_i,

  output logic    empty_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i
);

  typedef enum logic [1:0] {
    Idle,
    Look,
    Beats,
    Trailer
  } at_e;

  typedef struct packed {
    logic [31:0] length;
    at_t from;
    passed_t     passed;  // beats of a frame in front of those that the host gets, too
    logic [2:0]  gap;     // bytes in front of a tag that count for nothing
    logic        keys;
  } answer_t;

  typedef struct packed {
    logic [7:0]  status;
    logic [15:0] tag;
  } end_t;

  at_e at_q;
  lane_t lane_q, pick, next, asked_q;
  logic pick_valid, picked, next_valid, asking, passing_q;
  logic [Lanes-1:0] wanted, frames;
  answer_t answers[Lanes];
  end_t ends[Lanes];
  answer_t answer_q;
  logic [31:0] host_length_q;
  end_t end_q;
  trailer_t trailer_in, trailer, loader_trailer;
  logic [2:0] look_q;
  logic [1:0] done_q;
  logic [31:0] left_q;
  at_t read_at_q;
  logic none_q;
  logic [7:0] keep_q;
  logic [2:0] reading_q;
  logic grant, over, out_ready, loader_q;
  stream_t mid_q;
  logic [63:0] beat;

  passed_t passed_q;
  logic forward_q, refused_q, last_q;
  stream_t forward_beat_q;

  assign trailer_in = trailer_t'(trailer_i.data);

  always_ff @(posedge clk_i) begin
    if (job_write_i) answers[job_lane_i[$clog2(Lanes)-1:0]] <= '{length_i, from_i, passed_i, gap_i, keys_i};
  end
  always_ff @(posedge clk_i) begin
    if (ended_i) ends[job_lane_i[$clog2(Lanes)-1:0]] <= '{status_i, trailer_in.tag};
  end
  assign frames = done_i & forward_i & planned_i;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++)
    wanted[l] = (done_i[l] && !forward_i[l]) || (results_i && long_lane_i == lane_t'(l));
  end

  // Nobody is picked before it is seen whose answer has left.
  logic [2:0] idle_q;

  array_turn #(
    .Lanes(Lanes)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .valid_i(wanted),
    .taken_i(picked),
    .valid_o(pick_valid),
    .lane_o (pick)
  );

  array_turn #(
    .Lanes(Lanes)
  ) u_next (
    .clk_i,
    .rst_ni,
    .valid_i(frames),
    .taken_i(taken_i || refused_i),
    .valid_o(next_valid),
    .lane_o (next)
  );

  // The entrance is asked for one lane until it has said something.
  assign asking = at_q == Idle && idle_q == '1 && next_valid && !passing_q;
  assign picked = at_q == Idle && idle_q == '1 && pick_valid && !loader_i.valid && !loader_q && !asking;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {ask_o, asked_q, passing_q} <= '0;
    else begin
      passing_q <= passing_i;
      if (!asking || taken_i || refused_i) ask_o <= '0;
      else if (!ask_o.valid) {ask_o, asked_q} <= {1'b1, next, next};
    end
  end

  always_ff @(posedge clk_i) begin
    answer_q <= answers[lane_q[$clog2(Lanes)-1:0]];
    // Only what fits a buffer is a frame.
    host_length_q <= {
      answer_q.length[31:11], answer_q.length[10:0] - 11'({answer_q.passed, 3'b0} | {5'b0, answer_q.gap})
    };
    end_q <= ends[lane_q[$clog2(Lanes)-1:0]];
    // Of what it says nothing leaves.
    if (bad_i[lane_q[$clog2(Lanes)-1:0]]) end_q.status <= StatusBadTag;
    none_q <= left_q == '0;
    for (int unsigned i = 0; i < 8; i++) keep_q[i] <= left_q > 32'(i);
  end

  assign trailer = '{
      reserved: '0,
      status: refused_q ? StatusNotForwarded : end_q.status,
      tag: end_q.tag,
      result_len: end_q.status == '0 && !refused_q && !answer_q.keys ? host_length_q : '0
    };

  always_comb begin
    loader_trailer = trailer_t'(loader_i.data);
    if (loader_trailer.status == '0) loader_trailer.status = fault_i;
    for (int unsigned i = 0; i < 8; i++) beat[8*i+:8] = beat_i[8*i+:8] & {8{keep_q[i]}};
  end

  assign over = at_q == Beats && reading_q == '0 && done_q[1] && (none_q || end_q.status != '0 || refused_q);

  // One beat is on its way at a time, to where there is room for it when it comes.
  assign grant          = at_q == Beats && reading_q == '0 && !none_q && (done_q[1] || results_i) && !over
                          && !odd_i && !mask_read_i && (!mid_q.valid || out_ready)
                          && (!forward_beat_q.valid || forward_ready_i);
  assign sent_o = grant && long_lane_i == lane_q;
  assign read_at_o = read_at_q;
  assign lane_o = lane_q;
  assign left_o = at_q == Trailer && !mid_q.valid;
  assign loader_ready_o = loader_q;
  assign loader_left_o = loader_q;
  assign empty_o = at_q == Idle && wanted == '0 && frames == '0 && !forward_beat_q.valid && !loader_i.valid
      && !mid_q.valid && !m_axis_o.valid;
  assign forward_o = forward_beat_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q <= Idle;
      {lane_q, idle_q, look_q, done_q, left_q, read_at_q, reading_q, loader_q} <= '0;
      {passed_q, forward_q, refused_q, last_q} <= '0;
      mid_q <= '0;
      forward_beat_q <= '0;
    end else begin
      // Nobody else has what is free then.
      loader_q  <= at_q == Idle && !mid_q.valid && loader_i.valid && !loader_q;
      idle_q    <= {idle_q[1:0], at_q == Idle};
      look_q    <= at_q == Look ? {look_q[1:0], 1'b1} : '0;
      done_q    <= {done_q[0], at_q != Idle && done_i[lane_q[$clog2(Lanes)-1:0]]};
      reading_q <= {reading_q[1:0], grant};
      if (out_ready) mid_q <= '0;
      if (forward_ready_i) forward_beat_q <= '0;
      last_q <= left_q <= 32'd8;

      unique case (at_q)
        Idle: begin
          forward_q <= taken_i;
          refused_q <= refused_i;
          if (taken_i || refused_i) begin
            at_q   <= Look;
            lane_q <= asked_q;
          end else if (picked) begin
            at_q   <= Look;
            lane_q <= pick;
          end
        end
        Look: begin
          left_q    <= answer_q.length;
          read_at_q <= answer_q.from;
          passed_q  <= answer_q.passed;
          if (look_q[2]) at_q <= Beats;
        end
        Beats: begin
          if (over) at_q <= Trailer;
          if (grant) read_at_q <= read_at_q + 1'b1;
          if (reading_q[1]) begin
            left_q <= left_q > 32'd8 ? left_q - 32'd8 : '0;
            if (passed_q != '0) passed_q <= passed_q - 1'b1;
          end
        end
        default: if (!mid_q.valid) at_q <= Idle;
      endcase

      if (reading_q[1] && passed_q == '0 && !answer_q.keys)
        mid_q <= '{valid: 1'b1, last: 1'b0, data: beat};
      if (reading_q[1] && forward_q) forward_beat_q <= '{valid: 1'b1, last: last_q, data: beat};
      if (left_o) mid_q <= '{valid: 1'b1, last: 1'b1, data: trailer};
      if (loader_left_o) mid_q <= '{valid: 1'b1, last: 1'b1, data: loader_trailer};
    end
  end

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i(mid_q.valid),
    .s_ready_o(out_ready),
    .s_data_i ({mid_q.last, mid_q.data}),
    .m_valid_o(m_axis_o.valid),
    .m_ready_i(m_axis_ready_i),
    .m_data_o ({m_axis_o.last, m_axis_o.data})
  );

endmodule

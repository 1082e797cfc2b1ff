// SPDX-License-Identifier: Apache-2.0
//
// Everything of a hash slot with two ways but the core: entrance and exit, and for each way a shell and the modes.
// A core that works on two messages gives each of them every second clock (turn_i), in which it sees the signals of
// one hash_modes.
//
// The key that is kept is a copy of the states that the way wrote to its memory that set it up; a frame that uses it
// copies it to its own way first, and so the next key does no harm to it. What is left of a key in a way is
// never used again; it is overwritten by the next key, and all copies are by a clear, which comes as soon as the
// frames in the slot are answered; it takes as long as the deepest memory, the entrance's.
//
// Clocks of a frame alone in the slot, for n blocks of C clocks (MD5: C = 130; n counts the padding): hash n C + 72,
// HMAC-96 with kept states (n + 1) C + 152, 22 less if the states come with the frame and 324 more if the key does.
module pair_front
  import core_pkg::*;
  import hash_pkg::*;
  import slot_pkg::*;
#(
  // As in shape_t.
  parameter logic        [7:0] Algorithm   = AlgMd5,
  parameter int unsigned       StateBytes  = 16,
  parameter int unsigned       DigestBytes = 16,
  parameter bit                BigEndian   = 1'b0,
  // Clocks that the buffers, the ways and the core take to forget.
  parameter int unsigned       ClearCycles = 516
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // From and to the core.
  output clear_t    clear_o,
  output hash_req_t req_o,
  input  hash_rsp_t rsp_i
);

  localparam shape_t Shape = '{
    algorithm: Algorithm,
    state_bytes: StateBytes,
    digest_bytes: DigestBytes,
    big_endian: BigEndian,
    ways: 2
  };

  localparam int unsigned AddressBits = StateBytes > 20 ? 5 : 4;

  typedef logic [AddressBits-1:0] address_t;

  // Of both ways.
  stream_t [1:0] in, out;
  logic [1:0] in_ready, out_ready, answered;
  logic empty;
  hash_req_t [1:0] req;
  word_t [1:0] state_q;
  key_req_t [1:0] key;
  logic [1:0] forget;

  // -- the event that forgets -----------------------------------------------------------------------------

  // A frame of the other way goes on to its end before, and no other one begins.
  logic forget_q;

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget_q && empty && !clear_o.active),
    .clear_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) forget_q <= 1'b0;
    else forget_q <= (forget_q && !clear_o.active) || forget != '0 || key[0].lost || key[1].lost;
  end

  pair_intake u_intake (
    .clk_i,
    .rst_ni,
    .clear_i   (clear_o),
    .s_axis_i,
    .s_axis_ready_o,
    .turn_i    (rsp_i.turn),
    .way_o     (in),
    .ready_i   (in_ready),
    .keyed_i   ({key[1].keyed, key[0].keyed}),
    .answered_i(answered),
    .hold_i    (forget_q || clear_o.active),
    .empty_o   (empty)
  );

  pair_outlet u_outlet (
    .clk_i,
    .rst_ni,
    .way_i     (out),
    .ready_o   (out_ready),
    .answered_o(answered),
    .m_axis_o,
    .m_axis_ready_i
  );

  // -- the kept key ---------------------------------------------------------------------------------------

  // One frame at a time sets a key up or copies it. It is far from both ways: registers before and behind, and a word
  // of a copy in 4 clocks.
  word_t keep_word_q, copy_word;
  address_t keep_address_q, copy_address_q;
  logic keep_valid_q, kept_q, copy_next_q;
  logic [1:0] copy_count_q;

  ram_logic #(
    .Width    (32),
    .Depth    (2 ** AddressBits),
    .Registers(1),
    .Quiet    (1'b1)
  ) u_kept (
    .clk_i,
    .clear_i     (clear_o),
    .write_i     (keep_valid_q),
    .write_at_i  (keep_address_q),
    .write_data_i(keep_word_q),
    .read_at_i   (copy_address_q),
    .read_data_o (copy_word)
  );

  always_ff @(posedge clk_i) begin
    keep_word_q <= key[key[1].write].word;
    keep_address_q <= address_t'(key[key[1].write].address);
    copy_address_q <= address_t'(({5{key[1].copy}} & key[1].address) | ({5{key[0].copy}} & key[0].address));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {keep_valid_q, copy_count_q, copy_next_q, kept_q} <= '0;
    else begin
      keep_valid_q <= key[0].write || key[1].write;
      copy_count_q <= key[0].copy || key[1].copy ? copy_count_q + 2'd1 : '0;
      copy_next_q  <= copy_count_q == 2'd2;
      kept_q       <= (kept_q || key[0].keep || key[1].keep) && !key[0].drop && !key[1].drop && !forget_q;
    end
  end

  // -- the ways -------------------------------------------------------------------------------------------

  for (genvar i = 0; i < 2; i++) begin : gen_way
    header_t   header;
    request_t  frame;
    response_t answer;
    logic answer_ready, refuse;
    hash_rsp_t rsp;

    slot_shell u_shell (
      .clk_i,
      .rst_ni,
      .clear_i       (clear_o),
      .forget_o      (forget[i]),
      .s_axis_i      (in[i]),
      .s_axis_ready_o(in_ready[i]),
      .m_axis_o      (out[i]),
      .m_axis_ready_i(out_ready[i]),
      .header_o      (header),
      .frame_o       (frame),
      .answer_i      (answer),
      .answer_ready_o(answer_ready),
      .refuse_i      (refuse)
    );

    always_comb begin
      rsp = rsp_i;
      rsp.idle[0] = rsp_i.idle[i];
      rsp.word_ready[0] = rsp_i.word_ready[i];
      rsp.state_valid = rsp_i.state_valid && rsp_i.turn == 1'(i);
      rsp.state_last = rsp_i.state_last && rsp_i.turn == 1'(i);
    end

    hash_modes #(
      .Shape(Shape)
    ) u_modes (
      .clk_i,
      .rst_ni,
      .clear_i       (clear_o),
      .header_i      (header),
      .frame_i       (frame),
      .answer_o      (answer),
      .answer_ready_i(answer_ready),
      .refuse_o      (refuse),
      .key_o         (key[i]),
      .key_i         ('{kept: kept_q, next: copy_next_q, word: copy_word}),
      .req_o         (req[i]),
      .rsp_i         (rsp)
    );

    always_ff @(posedge clk_i) begin
      state_q[i] <= req[i].state;
    end
  end

  // Of the way whose turn comes next, from registers, and of the way whose turn it is; the state is a clock behind.
  logic turn, stop_q, start_q, initial_q;

  assign turn = rsp_i.turn;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {stop_q, start_q, initial_q} <= '0;
    else {stop_q, start_q, initial_q} <= {req[!turn].stop, req[!turn].start, req[!turn].initial_state};
  end

  assign req_o = '{
      stop: stop_q,
      start: start_q,
      initial_state: initial_q,
      word_valid: req[turn].word_valid,
      word: req[turn].word,
      state: state_q[!turn]
    };

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Everything of a hash slot with two ways but the core: entrance and exit, and for each way a shell and the modes.
// A core that works on two messages gives each of them every second clock (turn_i), in which it sees the signals of
// one hash_modes.
//
// The key that is kept is a copy of the states that the way wrote to its memory that set it up; a frame that uses it
// copies it to its own way first, and so the next key does no harm to it. What is left of a key in a way is
// never used again; it is overwritten by the next key, and all copies are by a wipe.
//
// Clocks of a frame alone in the slot, for n blocks of C clocks (MD5: C = 130; n counts the padding): hash n C + 72,
// HMAC-96 with kept states (n + 1) C + 152, 22 less if the states come with the frame and 324 more if the key does.
module pair_front
  import slot_pkg::*;
#(
  // As for hash_modes.
  parameter logic        [7:0] Algorithm   = AlgMd5,
  parameter int unsigned       BlockBytes  = 64,
  parameter int unsigned       StateBytes  = 16,
  parameter int unsigned       DigestBytes = 16,
  parameter bit                BigEndian   = 1'b0,

  localparam int unsigned WordBits = BlockBytes / 2
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast,

  // The core.
  input  logic                turn_i,
  input  logic [         1:0] idle_i,
  output logic                clear_o,
  output logic                start_o,
  output logic                initial_o,
  output logic                word_valid_o,
  input  logic [         1:0] word_ready_i,
  output logic [WordBits-1:0] word_o,
  input  logic [         2:0] state_read_i,
  output logic [WordBits-1:0] state_o,        // one clock behind its turn
  input  logic                state_valid_i,
  input  logic                state_final_i,
  input  logic                state_last_i,
  input  logic [         2:0] state_index_i,
  input  logic [WordBits-1:0] state_i
);

  localparam int unsigned AddressBits = StateBytes / (BlockBytes / 16) > 5 ? 5 : 4;

  typedef logic [WordBits-1:0] word_t;
  typedef logic [AddressBits-1:0] address_t;

  // Of both ways.
  logic [1:0] in_valid, in_ready, out_valid, out_ready, out_last, answered, wipe;
  logic [1:0][63:0] out_beat;
  logic [63:0] in_beat;
  logic in_last;
  logic [1:0] clear, start, initial_state, word_valid;
  logic [1:0] drop, keep, keyed, scrub, keep_valid, copy;
  logic [1:0][WordBits-1:0] word, state, state_q, keep_word;
  logic [1:0][AddressBits-1:0] keep_address, copy_address;

  pair_intake u_intake (
    .clk_i,
    .rst_ni,
    .s_axis_tdata,
    .s_axis_tvalid,
    .s_axis_tready,
    .s_axis_tlast,
    .turn_i,
    .valid_o   (in_valid),
    .ready_i   (in_ready),
    .beat_o    (in_beat),
    .last_o    (in_last),
    .keyed_i   (keyed),
    .answered_i(answered),
    .scrub_i   (scrub != '0)
  );

  pair_outlet u_outlet (
    .clk_i,
    .rst_ni,
    .valid_i   (out_valid),
    .ready_o   (out_ready),
    .beat_i    (out_beat),
    .last_i    (out_last),
    .answered_o(answered),
    .m_axis_tdata,
    .m_axis_tvalid,
    .m_axis_tready,
    .m_axis_tlast
  );

  // -- the kept key ---------------------------------------------------------------------------------------

  // One frame at a time sets a key up or copies it, and if both ways overwrite it, they do so together. It is far
  // from both ways: registers before and behind, and a word of a copy in 4 clocks.
  (* ram_style = "distributed" *)
  word_t kept[2**AddressBits];
  word_t keep_word_q, copy_word_q;
  address_t keep_address_q, copy_address_q;
  logic keep_valid_q, kept_q, copy_next_q;
  logic [1:0] copy_count_q;

  always_ff @(posedge clk_i) begin
    keep_word_q <= keep_valid[1] ? keep_word[1] : keep_word[0];
    keep_address_q <= keep_valid[1] ? keep_address[1] : keep_address[0];
    copy_address_q <= ({AddressBits{copy[1]}} & copy_address[1]) | ({AddressBits{copy[0]}} & copy_address[0]);
    copy_word_q <= kept[copy_address_q];
    if (keep_valid_q) kept[keep_address_q] <= keep_word_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      keep_valid_q <= 1'b0;
      copy_count_q <= '0;
      copy_next_q  <= 1'b0;
    end else begin
      keep_valid_q <= keep_valid != '0;
      copy_count_q <= copy == '0 ? '0 : copy_count_q + 2'd1;
      copy_next_q  <= copy_count_q == 2'd2;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= 1'b0;
    else kept_q <= (kept_q || keep != '0) && drop == '0;
  end

  // -- the ways -------------------------------------------------------------------------------------------

  for (genvar i = 0; i < 2; i++) begin : gen_way
    header_t header;
    status_e verdict;
    logic begins, beat_valid, beat_ready, beat_last, abort, result_valid, result_ready, done;
    logic [63:0] beat, result;
    logic [31:0] result_len;

    // The modes know the section from the header.
    /* verilator lint_off UNUSEDSIGNAL */
    section_e section;
    /* verilator lint_on UNUSEDSIGNAL */

    slot_shell u_shell (
      .clk_i,
      .rst_ni,
      .s_axis_tdata  (in_beat),
      .s_axis_tvalid (in_valid[i]),
      .s_axis_tready (in_ready[i]),
      .s_axis_tlast  (in_last),
      .m_axis_tdata  (out_beat[i]),
      .m_axis_tvalid (out_valid[i]),
      .m_axis_tready (out_ready[i]),
      .m_axis_tlast  (out_last[i]),
      .header_o      (header),
      .verdict_i     (verdict),
      .start_o       (begins),
      .beat_valid_o  (beat_valid),
      .beat_ready_i  (beat_ready),
      .beat_o        (beat),
      .section_o     (section),
      .beat_last_o   (beat_last),
      .abort_o       (abort),
      .wipe_o        (wipe[i]),
      .result_valid_i(result_valid),
      .result_ready_o(result_ready),
      .result_i      (result),
      .done_i        (done),
      .result_len_i  (result_len)
    );

    hash_modes #(
      .Algorithm  (Algorithm),
      .BlockBytes (BlockBytes),
      .StateBytes (StateBytes),
      .DigestBytes(DigestBytes),
      .BigEndian  (BigEndian),
      .Ways       (2)
    ) u_modes (
      .clk_i,
      .rst_ni,
      .header_i      (header),
      .verdict_o     (verdict),
      .start_i       (begins),
      .beat_valid_i  (beat_valid),
      .beat_ready_o  (beat_ready),
      .beat_i        (beat),
      .beat_last_i   (beat_last),
      .abort_i       (abort),
      .wipe_i        (wipe != '0),
      .result_valid_o(result_valid),
      .result_ready_i(result_ready),
      .result_o      (result),
      .done_o        (done),
      .result_len_o  (result_len),
      .kept_i        (kept_q),
      .drop_o        (drop[i]),
      .keep_o        (keep[i]),
      .keyed_o       (keyed[i]),
      .scrub_o       (scrub[i]),
      .keep_valid_o  (keep_valid[i]),
      .keep_address_o(keep_address[i]),
      .keep_word_o   (keep_word[i]),
      .copy_o        (copy[i]),
      .copy_address_o(copy_address[i]),
      .copy_word_i   (copy_word_q),
      .copy_next_i   (copy_next_q),
      .core_clear_o  (clear[i]),
      .core_start_o  (start[i]),
      .core_initial_o(initial_state[i]),
      .core_idle_i   (idle_i[i]),
      .word_valid_o  (word_valid[i]),
      .word_ready_i  (word_ready_i[i]),
      .word_o        (word[i]),
      .state_read_i,
      .state_o       (state[i]),
      .state_valid_i (state_valid_i && turn_i == 1'(i)),
      .state_final_i,
      .state_last_i  (state_last_i && turn_i == 1'(i)),
      .state_index_i,
      .state_i
    );
  end

  // Of the way whose turn comes next.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {clear_o, start_o, initial_o} <= 3'b100;
    else {clear_o, start_o, initial_o} <= {clear[!turn_i], start[!turn_i], initial_state[!turn_i]};
  end

  assign word_valid_o = word_valid[turn_i];
  assign word_o       = word[turn_i];
  assign state_o      = state_q[!turn_i];

  always_ff @(posedge clk_i) begin
    state_q <= state;
  end

endmodule

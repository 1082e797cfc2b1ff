// SPDX-License-Identifier: Apache-2.0
//
// The modes around any hash core: hash from the initial or a given state, HMAC from the states of a key or from the
// key itself, truncation. hash_words makes the words that the core takes, hash_state keeps the chaining states,
// hash_sequence knows what comes next, and hash_result sends the digest.
//
// With two ways (pair_front) there are two of these around one core. The last key is then kept outside, and a frame
// without one begins with a copy of it.
//
// Clocks of a frame, from its first beat at the shell to the end of its trailer, for n blocks of C clocks and a
// whole digest (MD5: C = 66, SHA-1: C = 85; n counts the padding): hash n C + 21 and n C + 28; HMAC-96 with kept
// states (n + 1) C + 32 and (n + 1) C + 43; 10 and 12 more if the states come with the frame; 145 and 193 more
// if the key does, whatever its length.
module hash_modes
  import core_pkg::*;
  import hash_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // The shell's side.
  input  header_t header_i,
  input  request_t  frame_i,
  output response_t answer_o,
  input  logic    answer_ready_i,
  output logic    refuse_o,

  // The kept key's.
  output key_req_t key_o,
  input  key_rsp_t key_i,

  // The core's side: bit 0 of what has two.
  output hash_req_t req_o,
  input  hash_rsp_t rsp_i
);

  if (!(Shape.state_bytes inside {16, 20, 32}) || Shape.digest_bytes > Shape.state_bytes
      || Shape.digest_bytes % 4 != 0 || !(Shape.ways inside {1, 2})) begin : gen_illegal
    $error("hash_modes: illegal lengths");
  end

  step_t step;
  went_t went;
  logic stop, digest, result_step, result_hold;
  word_t load_word, digest_word;

  hash_verdict #(
    .Shape(Shape)
  ) u_verdict (
    .clk_i,
    .header_i,
    .kept_i   (key_i.kept),
    .verdict_o(answer_o.verdict)
  );

  hash_sequence #(
    .Shape(Shape)
  ) u_sequence (
    .clk_i,
    .rst_ni,
    .clear_i,
    .header_i,
    .frame_i,
    .stop_o       (stop),
    .step_o       (step),
    .went_i       (went),
    .word_valid_i (req_o.word_valid),
    .core_stop_o  (req_o.stop),
    .core_start_o (req_o.start),
    .rsp_i,
    .drop_o       (key_o.drop),
    .keep_o       (key_o.keep),
    .keyed_o      (key_o.keyed),
    .lost_o       (key_o.lost),
    .key_i,
    .result_step_i(result_step),
    .done_i       (answer_o.done)
  );

  assign req_o.initial_state = step.first;
  assign key_o.copy          = step.phase == Copy;

  hash_words #(
    .Shape(Shape)
  ) u_words (
    .clk_i,
    .rst_ni,
    .clear_i,
    .stop_i       (stop),
    .header_i,
    .step_i       (step),
    .frame_i,
    .ready_o      (answer_o.ready),
    .went_o       (went),
    .load_word_o  (load_word),
    .odd_o        (refuse_o),
    .digest_o     (digest),
    .digest_i     (req_o.state),
    .result_hold_i(result_hold),
    .digest_word_o(digest_word),
    .word_valid_o (req_o.word_valid),
    .word_ready_i (rsp_i.word_ready[0]),
    .word_o       (req_o.word)
  );

  hash_state #(
    .Shape(Shape)
  ) u_state (
    .clk_i,
    .clear_i,
    .step_i     (step),
    .rsp_i,
    .load_i     (went.load),
    .load_word_i(load_word),
    .digest_i   (digest),
    .read_o     (req_o.state),
    .keep_o     (key_o.write),
    .address_o  (key_o.address),
    .word_o     (key_o.word),
    .copy_word_i(key_i.word)
  );

  hash_result u_result (
    .clk_i,
    .rst_ni,
    .clear_i(stop),
    .active_i(step.phase == Result),
    .length_i(header_i.result_len[5:0]),
    .place_i(step.place),
    .half_i(step.half),
    .word_i(digest_word),
    .step_o(result_step),
    .hold_o(result_hold),
    .result_valid_o(answer_o.valid),
    .result_ready_i(answer_ready_i),
    .result_o(answer_o.beat),
    .done_o(answer_o.done)
  );

  assign answer_o.length = 32'(header_i.result_len);

endmodule

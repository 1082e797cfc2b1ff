// SPDX-License-Identifier: Apache-2.0
//
// All of a hash slot but its core: the gate, the shell, the modes, and the event that forgets. A top joins this and
// one core.
//
// Clocks: see slot_shell and hash_modes. ClearCycles after a reset, a wipe or a frame that fails before its key is
// set up, everything is forgotten; the next frame waits for it.
module hash_front
  import core_pkg::*;
  import slot_pkg::*;
#(
  // As in hash_modes.
  parameter logic        [ 7:0] Algorithm   = AlgSha1,
  parameter int unsigned        StateBytes  = 20,
  parameter int unsigned        DigestBytes = 20,
  parameter bit                 BigEndian   = 1'b1,
  // As in slot_gate.
  parameter logic        [15:0] Open        = '1,
  // Clocks that states, words and the core take to forget.
  parameter int unsigned        ClearCycles = 33
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

  header_t header;
  status_e verdict;
  logic start, beat_valid, beat_ready, beat_last, abort, refuse, forget, result_valid, result_ready, done;
  stream_t request;
  logic [63:0] beat, result;
  logic [31:0] result_len;

  // The modes know the section from the header.
  /* verilator lint_off UNUSEDSIGNAL */
  section_e section;
  /* verilator lint_on UNUSEDSIGNAL */

  // -- what is kept, and the event that forgets -----------------------------------------------------------

  clear_t clear;
  logic kept_q, keep, drop, lost;

  assign clear_o = clear;

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget || lost),
    .clear_o (clear)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= 1'b0;
    else kept_q <= (kept_q || keep) && !(drop || forget || lost);
  end

  // -- the parts ------------------------------------------------------------------------------------------

  slot_gate #(
    .Algorithm(Algorithm),
    .Has      (16'h00e0),
    .Open     (Open)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .s_axis_i,
    .s_axis_ready_i(s_axis_ready_o),
    .m_axis_o      (request)
  );

  /* verilator lint_off PINCONNECTEMPTY */
  slot_shell u_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (forget),
    .s_axis_i      (request),
    .s_axis_ready_o,
    .m_axis_o,
    .m_axis_ready_i,
    .header_o      (header),
    .verdict_i     (verdict),
    .start_o       (start),
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_o        (beat),
    .section_o     (section),
    .beat_last_o   (beat_last),
    .abort_o       (abort),
    .refuse_i      (refuse),
    .result_valid_i(result_valid),
    .result_ready_o(result_ready),
    .result_i      (result),
    .done_i        (done),
    .result_len_i  (result_len)
  );

  // With one way the key that is kept stays in the modes.
  hash_modes #(
    .Algorithm  (Algorithm),
    .StateBytes (StateBytes),
    .DigestBytes(DigestBytes),
    .BigEndian  (BigEndian)
  ) u_modes (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .header_i      (header),
    .verdict_o     (verdict),
    .start_i       (start),
    .beat_valid_i  (beat_valid),
    .beat_ready_o  (beat_ready),
    .beat_i        (beat),
    .beat_last_i   (beat_last),
    .abort_i       (abort),
    .refuse_o      (refuse),
    .result_valid_o(result_valid),
    .result_ready_i(result_ready),
    .result_o      (result),
    .done_o        (done),
    .result_len_o  (result_len),
    .kept_i        (kept_q),
    .drop_o        (drop),
    .keep_o        (keep),
    .lost_o        (lost),
    .keyed_o       (),
    .keep_valid_o  (),
    .keep_address_o(),
    .keep_word_o   (),
    .copy_o        (),
    .copy_word_i   ('0),
    .copy_next_i   (1'b0),
    .req_o,
    .rsp_i
  );
  /* verilator lint_on PINCONNECTEMPTY */

endmodule

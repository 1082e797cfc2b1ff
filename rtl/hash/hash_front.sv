// SPDX-License-Identifier: Apache-2.0
//
// Everything of a hash slot but the core: gate, shell and modes.
module hash_front
  import slot_pkg::*;
#(
  // As for hash_modes.
  parameter logic        [7:0] Algorithm   = AlgSha1,
  parameter int unsigned       BlockBytes  = 64,
  parameter int unsigned       StateBytes  = 20,
  parameter int unsigned       DigestBytes = 20,
  parameter bit                BigEndian   = 1'b1,
  // As in slot_gate.
  parameter logic        [7:0] Open        = '1,

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
  output logic                clear_o,
  output logic                start_o,
  output logic                initial_o,
  input  logic                idle_i,
  output logic                word_valid_o,
  input  logic                word_ready_i,
  output logic [WordBits-1:0] word_o,
  input  logic [         2:0] state_read_i,
  output logic [WordBits-1:0] state_o,
  input  logic                state_valid_i,
  input  logic                state_final_i,
  input  logic                state_last_i,
  input  logic [         2:0] state_index_i,
  input  logic [WordBits-1:0] state_i
);

  header_t header;
  status_e verdict;
  logic start, beat_valid, beat_ready, beat_last, abort, wipe, result_valid, result_ready, done;
  logic [63:0] beat, result;
  logic [31:0] result_len;

  // The modes know the section from the header.
  /* verilator lint_off UNUSEDSIGNAL */
  section_e section;
  /* verilator lint_on UNUSEDSIGNAL */

  logic [63:0] request;

  slot_gate #(
    .Algorithm(Algorithm),
    .Has      (8'he0),
    .Open     (Open)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .data_i (s_axis_tdata),
    .valid_i(s_axis_tvalid),
    .ready_i(s_axis_tready),
    .last_i (s_axis_tlast),
    .data_o (request)
  );

  slot_shell u_shell (
    .clk_i,
    .rst_ni,
    .s_axis_tdata  (request),
    .s_axis_tvalid,
    .s_axis_tready,
    .s_axis_tlast,
    .m_axis_tdata,
    .m_axis_tvalid,
    .m_axis_tready,
    .m_axis_tlast,
    .header_o      (header),
    .verdict_i     (verdict),
    .start_o       (start),
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_o        (beat),
    .section_o     (section),
    .beat_last_o   (beat_last),
    .abort_o       (abort),
    .wipe_o        (wipe),
    .result_valid_i(result_valid),
    .result_ready_o(result_ready),
    .result_i      (result),
    .done_i        (done),
    .result_len_i  (result_len)
  );

  // With one way the key that is kept stays in the modes.
  /* verilator lint_off PINCONNECTEMPTY */
  hash_modes #(
    .Algorithm  (Algorithm),
    .BlockBytes (BlockBytes),
    .StateBytes (StateBytes),
    .DigestBytes(DigestBytes),
    .BigEndian  (BigEndian)
  ) u_modes (
    .clk_i,
    .rst_ni,
    .header_i      (header),
    .verdict_o     (verdict),
    .start_i       (start),
    .beat_valid_i  (beat_valid),
    .beat_ready_o  (beat_ready),
    .beat_i        (beat),
    .beat_last_i   (beat_last),
    .abort_i       (abort),
    .wipe_i        (wipe),
    .result_valid_o(result_valid),
    .result_ready_i(result_ready),
    .result_o      (result),
    .done_o        (done),
    .result_len_o  (result_len),
    .kept_i        (1'b0),
    .drop_o        (),
    .keep_o        (),
    .keyed_o       (),
    .scrub_o       (),
    .keep_valid_o  (),
    .keep_address_o(),
    .keep_word_o   (),
    .copy_o        (),
    .copy_address_o(),
    .copy_word_i   ('0),
    .copy_next_i   (1'b0),
    .core_clear_o  (clear_o),
    .core_start_o  (start_o),
    .core_initial_o(initial_o),
    .core_idle_i   (idle_i),
    .word_valid_o,
    .word_ready_i,
    .word_o,
    .state_read_i,
    .state_o,
    .state_valid_i,
    .state_final_i,
    .state_last_i,
    .state_index_i,
    .state_i
  );
  /* verilator lint_on PINCONNECTEMPTY */

endmodule

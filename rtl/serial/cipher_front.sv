// SPDX-License-Identifier: Apache-2.0
//
// All of a cipher slot but its core: the gate, the shell and the modes. A top joins this and one core.
//
// Clocks: see slot_shell and cipher_modes.
module cipher_front
  import core_pkg::*;
  import slot_pkg::*;
#(
  // All as in cipher_modes.
  parameter logic [7:0] Algorithm = AlgAes,
  parameter int unsigned BlockBytes = 16,
  parameter logic [63:0] KeyLengths = '0,
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter bit Cfb = 1'b0,
  parameter bit Cfb8 = 1'b0,
  parameter bit Ofb = 1'b0,
  parameter bit Eager = 1'b0,
  parameter bit Unhurried = 1'b0,
  // All as in slot_gate.
  parameter logic [15:0] Open = '1,
  parameter int unsigned KeyMin = 0,
  parameter int unsigned KeyMax = 63,
  parameter logic [7:0] Code = Algorithm,
  parameter logic [7:0] CodeMask = '0,
  parameter bit Gate = 1'b1,
  // Clocks that the core takes to forget.
  parameter int unsigned ClearCycles = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // From and to the core.
  output clear_t    clear_o,
  output core_req_t req_o,
  input  core_rsp_t rsp_i
);

  header_t header;
  status_e verdict;
  logic    start;
  logic beat_valid, beat_ready, beat_last;
  logic     [63:0] beat;
  section_e        section;
  logic abort, forget;
  clear_t clear;
  logic result_valid, result_ready, done;
  logic [63:0] result;
  logic [31:0] result_len;

  stream_t request;

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o (clear)
  );

  assign clear_o = clear;

  slot_gate #(
    .Present   (Gate),
    .Algorithm (Algorithm),
    .Code      (Code),
    .CodeMask  (CodeMask),
    .Has       ({5'b0, Ofb, Cfb8, Cfb, 8'h1f}),
    .Open      (Open),
    .KeyLengths(KeyLengths),
    .KeyMin    (KeyMin),
    .KeyMax    (KeyMax)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .s_axis_i,
    .s_axis_ready_i(s_axis_ready_o),
    .m_axis_o      (request)
  );

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
    .result_valid_i(result_valid),
    .result_ready_o(result_ready),
    .result_i      (result),
    .done_i        (done),
    .result_len_i  (result_len)
  );

  cipher_modes #(
    .Algorithm (Algorithm),
    .BlockBytes(BlockBytes),
    .KeyLengths(KeyLengths),
    .Encrypt   (Encrypt),
    .Decrypt   (Decrypt),
    .Ecb       (Ecb),
    .Cbc       (Cbc),
    .Ctr       (Ctr),
    .Cfb       (Cfb),
    .Cfb8      (Cfb8),
    .Ofb       (Ofb),
    .Eager     (Eager),
    .Unhurried (Unhurried)
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
    .section_i     (section),
    .beat_last_i   (beat_last),
    .abort_i       (abort),
    .result_valid_o(result_valid),
    .result_ready_i(result_ready),
    .result_o      (result),
    .done_o        (done),
    .result_len_o  (result_len),
    .req_o,
    .rsp_i
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// All of a hash slot but its core: the gate, the shell, the modes, and the event that forgets. A top joins this and
// one core.
//
// Clocks: see slot_shell and hash_modes. ClearCycles after a reset, a wipe or a frame that fails before its key is
// set up, everything is forgotten; the next frame waits for it.
module hash_front
  import core_pkg::*;
  import hash_pkg::*;
  import slot_pkg::*;
#(
  // As in shape_t.
  parameter logic        [7:0] Algorithm   = AlgSha1,
  parameter int unsigned       StateBytes  = 20,
  parameter int unsigned       DigestBytes = 20,
  parameter bit                BigEndian   = 1'b1,
  // A gate_t.
  parameter int unsigned       Gate        = AllOpen,
  // Clocks that states, words and the core take to forget.
  parameter int unsigned       ClearCycles = 33
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
    ways: 1
  };

  stream_t   request;
  header_t   header;
  request_t  frame;
  response_t answer;
  logic forget, answer_ready, refuse;

  // -- what is kept, and the event that forgets -----------------------------------------------------------

  // With one way the key that is kept stays in the modes.
  /* verilator lint_off UNUSEDSIGNAL */
  key_req_t key;
  /* verilator lint_on UNUSEDSIGNAL */
  logic kept_q;

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget || key.lost),
    .clear_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= 1'b0;
    else kept_q <= (kept_q || key.keep) && !(key.drop || forget || key.lost);
  end

  // -- the parts ------------------------------------------------------------------------------------------

  slot_gate #(
    .Algorithm(Algorithm),
    .Has      (16'h00e0),
    .Gate     (gate_t'(29'(Gate)))
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
    .clear_i       (clear_o),
    .forget_o      (forget),
    .s_axis_i      (request),
    .s_axis_ready_o,
    .m_axis_o,
    .m_axis_ready_i,
    .header_o      (header),
    .frame_o       (frame),
    .answer_i      (answer),
    .answer_ready_o(answer_ready),
    .refuse_i      (refuse)
  );

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
    .key_o         (key),
    .key_i         ('{kept: kept_q, default: '0}),
    .req_o,
    .rsp_i
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A slot_shell between any streams and any engine that keep the rules.
module slot_shell_harness
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input stream_t s_axis_i,
  input logic m_axis_ready_i,
  input response_t answer_i,
  input logic refuse_i
);

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  clear_t clear;
  logic   forget;

  slot_clear u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o (clear)
  );

  request_t frame;
  logic s_axis_ready, answer_ready;

  slot_shell u_dut (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (forget),
    .s_axis_i,
    .s_axis_ready_o(s_axis_ready),
    .m_axis_o      (),
    .m_axis_ready_i,
    .header_o      (),
    .frame_o       (frame),
    .answer_i,
    .answer_ready_o(answer_ready),
    .refuse_i
  );

  always_comb assume (answer_i.verdict <= StatusReserved);

  // A length is found to be wrong in the clock behind its beat, which is never the last one of a section.
  logic taken_q;
  always_ff @(posedge clk_i) taken_q <= rst_ni && frame.valid && answer_i.ready && !frame.last;
  always_comb assume (!refuse_i || taken_q);

  stream_rules #(
    .Width (65),
    .Assume(1'b1)
  ) u_request (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (s_axis_i.valid),
    .ready_i (s_axis_ready),
    .data_i  ({s_axis_i.last, s_axis_i.data})
  );

  engine_rules #(
    .Assume(1'b1)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .frame_i(frame),
    .answer_i,
    .ready_i(answer_ready)
  );

endmodule

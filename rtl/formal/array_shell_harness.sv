// SPDX-License-Identifier: Apache-2.0
//
// An array_shell between any streams and any engine that keep the rules; the next frame comes when this one is answered.
module array_shell_harness
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input stream_t s_axis_i,
  input logic m_axis_ready_i,
  input response_t answer_i
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

  header_t  header;
  request_t frame;
  stream_t  response;
  logic s_axis_ready, answer_ready;

  array_shell u_dut (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (forget),
    .s_axis_i,
    .s_axis_ready_o(s_axis_ready),
    .m_axis_o      (response),
    .m_axis_ready_i,
    .header_o      (header),
    .frame_o       (frame),
    .tag_o         (),
    .answer_i,
    .answer_ready_o(answer_ready)
  );

  // A lane holds an AEAD's frame, so that a longer one is refused.
  always_comb begin
    assume (answer_i.verdict <= StatusReserved);
    if (header.op == OpAead && header.payload_len[31]) assume (answer_i.verdict != StatusOk);
  end

  // A frame has come whole and is not answered.
  logic owed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= 1'b0;
    else if (s_axis_i.valid && s_axis_ready && s_axis_i.last) owed_q <= 1'b1;
    else if (response.valid && m_axis_ready_i && response.last) owed_q <= 1'b0;
  end
  always_comb assume (!(owed_q && s_axis_i.valid));

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

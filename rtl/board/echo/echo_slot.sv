// SPDX-License-Identifier: Apache-2.0
//
// A slot that computes nothing: of any algorithm and operation the result is the payload. It asks for no key.
//
// Cycles of a frame: its beats and 4.
`include "slot_ports.svh"

module echo_slot
  import core_pkg::*;
  import slot_pkg::*;
(
  `SLOT_PORTS
);

  header_t header;
  request_t frame;
  response_t answer;
  clear_t clear;
  logic forget, answer_ready, payload, ends;
  logic [63:0] mask;

  assign payload = frame.section == SecPayload;
  assign ends    = frame.last && header.payload_len[2:0] != '0;

  // Behind the payload's end a beat is zero.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      mask[8*i+:8] = {8{!ends || 3'(i) < header.payload_len[2:0]}};
    end
  end

  assign answer = '{
      ready: !payload || answer_ready,
      valid: frame.valid && payload && answer_ready,
      done:
      (
      frame.start && header.payload_len == '0
      ) || (
      frame.valid && payload && answer_ready && frame.last
      ),
      beat: frame.valid && payload && answer_ready ? frame.beat & mask : '0,
      length: header.payload_len,
      verdict: StatusOk
    };

  slot_clear u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o (clear)
  );

  slot_shell u_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (forget),
    .s_axis_i      ({s_axis_tvalid, s_axis_tlast, s_axis_tdata}),
    .s_axis_ready_o(s_axis_tready),
    .m_axis_o      ({m_axis_tvalid, m_axis_tlast, m_axis_tdata}),
    .m_axis_ready_i(m_axis_tready),
    .header_o      (header),
    .frame_o       (frame),
    .answer_i      (answer),
    .answer_ready_o(answer_ready),
    .refuse_i      (1'b0)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Two slots with the same frames but for what is in them: headers and lengths are the same, key, IV and payload are
// anything, and so are results. No register that decides about a handshake may differ, nor a pin but tdata of results.
module slot_shell_twice_harness
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic s_axis_valid_i,
  input logic s_axis_last_i,
  input logic m_axis_ready_i,
  input logic [63:0] public_i,
  input logic [1:0][63:0] secret_i,
  input logic [1:0][63:0] result_i,
  input response_t answer_i,
  input logic refuse_i
);

  logic rst_ni;
  logic [1:0][63:0] data;
  clear_t clear;
  logic [1:0] expected;

  // Head0, Head1, Check, Start, Body, Wait, Drain, Trailer.
  always_comb begin
    expected = 2'd0;
    if (u_a.at_q[1]) expected = 2'd1;
    if (u_a.at_q[3:2] != '0 && !u_a.ended_q) expected = 2'd2;
    if (u_a.at_q[4] || u_a.at_q[6]) expected = 2'd2;
  end

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  twice_request u_request (
    .clk_i,
    .rst_ni,
    .valid_i(s_axis_valid_i),
    .ready_i(u_a.s_axis_ready_o),
    .last_i(s_axis_last_i),
    .public_i,
    .secret_i,
    .data_o(data),
    .ready_q(u_a.u_entry.ready_q),
    .valid_q(u_a.u_entry.valid_q),
    .write_q(u_a.u_entry.write_q),
    .read_q(u_a.u_entry.read_q),
    .word_a_q(u_a.u_entry.word_q),
    .word_b_q(u_b.u_entry.word_q),
    .expected_i(expected)
  );

  // Results are secret.
  response_t [1:0] answer;

  always_comb begin
    answer = {2{answer_i}};
    for (int unsigned i = 0; i < 2; i++) answer[i].beat = result_i[i];
  end

  // Asserted of engines in slot_shell_check.
  always_comb if (u_a.at_q[7]) assume (!answer_i.valid && result_i == '0);

  slot_clear u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(u_a.forget_o),
    .clear_o (clear)
  );

  slot_shell u_a (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (),
    .s_axis_i      ({s_axis_valid_i, s_axis_last_i, data[0]}),
    .s_axis_ready_o(),
    .m_axis_o      (),
    .m_axis_ready_i,
    .header_o      (),
    .frame_o       (),
    .answer_i      (answer[0]),
    .answer_ready_o(),
    .refuse_i
  );

  slot_shell u_b (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .forget_o      (),
    .s_axis_i      ({s_axis_valid_i, s_axis_last_i, data[1]}),
    .s_axis_ready_o(),
    .m_axis_o      (),
    .m_axis_ready_i,
    .header_o      (),
    .frame_o       (),
    .answer_i      (answer[1]),
    .answer_ready_o(),
    .refuse_i
  );

  twice_response u_response (
    .clk_i,
    .rst_ni,
    .data_a_q(u_a.u_exit.data_q),
    .data_b_q(u_b.u_exit.data_q),
    .spare_a_q(u_a.u_exit.spare_q),
    .spare_b_q(u_b.u_exit.spare_q),
    .spare_valid_q(u_a.u_exit.spare_valid_q),
    .valid_q(u_a.u_exit.valid_q)
  );

  // The header is public. Which beat of a frame comes next is where the shell is.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert ($onehot(u_a.at_q));
      assert (u_a.s_axis_ready_o == u_b.s_axis_ready_o && u_a.answer_ready_o == u_b.answer_ready_o);
      assert (u_a.frame_o.start == u_b.frame_o.start && u_a.header_o == u_b.header_o);
      assert (u_a.frame_o.valid == u_b.frame_o.valid && u_a.frame_o.section == u_b.frame_o.section);
      assert (u_a.frame_o.last == u_b.frame_o.last && u_a.frame_o.drop == u_b.frame_o.drop);
      assert (u_a.forget_o == u_b.forget_o);
      assert (u_a.m_axis_o.valid == u_b.m_axis_o.valid && u_a.m_axis_o.last == u_b.m_axis_o.last);
      if (u_a.m_axis_o.last || !u_a.m_axis_o.valid) assert (u_a.m_axis_o.data == u_b.m_axis_o.data);
    end
  end

  `include "equal.svh"

endmodule

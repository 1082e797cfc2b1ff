// SPDX-License-Identifier: Apache-2.0
//
// A slot that computes MD5 and HMAC-MD5 of two frames at a time: shells, modes and a ring of two stages.
module md5_pair_slot
  import slot_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  logic turn, clear, start, initial_state, word_valid;
  logic state_write, state_final, state_last;
  logic [1:0] idle, word_ready;
  logic [2:0] state_read, state_index;
  logic [31:0] word, state_in, state_out;

  pair_front #(
    .Algorithm  (AlgMd5),
    .BlockBytes (64),
    .StateBytes (16),
    .DigestBytes(16),
    .BigEndian  (1'b0)
  ) u_pair (
    .clk_i,
    .rst_ni,
    .s_axis_tdata,
    .s_axis_tvalid,
    .s_axis_tready,
    .s_axis_tlast,
    .m_axis_tdata,
    .m_axis_tvalid,
    .m_axis_tready,
    .m_axis_tlast,
    .turn_i       (turn),
    .idle_i       (idle),
    .clear_o      (clear),
    .start_o      (start),
    .initial_o    (initial_state),
    .word_valid_o (word_valid),
    .word_ready_i (word_ready),
    .word_o       (word),
    .state_read_i (state_read),
    .state_o      (state_in),
    .state_valid_i(state_write),
    .state_final_i(state_final),
    .state_last_i (state_last),
    .state_index_i(state_index),
    .state_i      (state_out)
  );

  md5_ring u_ring (
    .clk_i,
    .rst_ni,
    .turn_o       (turn),
    .idle_o       (idle),
    .clear_i      (clear),
    .start_i      (start),
    .initial_i    (initial_state),
    .word_valid_i (word_valid),
    .word_ready_o (word_ready),
    .word_i       (word),
    .state_read_o (state_read),
    .state_i      (state_in),
    .state_valid_o(state_write),
    .state_final_o(state_final),
    .state_last_o (state_last),
    .state_index_o(state_index),
    .state_o      (state_out)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A slot that computes MD5 and HMAC-MD5: gate, shell, modes and core.
module md5_slot
  import slot_pkg::*;
#(
  // What the gate lets pass (slot_gate).
  parameter logic [7:0] Open = '1
) (
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

  logic clear, core_start, initial_state, idle, word_valid, word_ready;
  logic state_write, state_final, state_last;
  logic [2:0] state_read, state_index;
  logic [31:0] word, state_in, state_out;

  hash_front #(
    .Algorithm(AlgMd5),
    .BlockBytes(64),
    .StateBytes(16),
    .DigestBytes(16),
    .BigEndian(1'b0),
    .Open(Open)
  ) u_front (
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
    .clear_o      (clear),
    .start_o      (core_start),
    .initial_o    (initial_state),
    .idle_i       (idle),
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

  md5_core u_core (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .start_i      (core_start),
    .initial_i    (initial_state),
    .idle_o       (idle),
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

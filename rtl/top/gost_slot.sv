// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89 as a slot: gate, shell, modes and core. The set of S-boxes is in 32 LUTs, and the lower bits of the
// algorithm's code, which tell the set, in three more; nothing else depends on it.
//
// Cycles per block: the core's (gost_core) in every mode and direction.
module gost_slot
  import gost_pkg::*;
#(
  // The set of S-boxes: 0 that of Magma, 1 to 4 CryptoPro's A to D.
  parameter int unsigned Set = 0,
  // What the gate lets pass (slot_gate).
  parameter logic [7:0] Open = '1
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
  output logic        m_axis_tlast
);

  logic core_wipe;
  logic key_valid;
  logic [63:0] key;
  logic [2:0] key_index;
  logic in_valid, in_ready, out_valid, out_ready, decrypt;
  block_t in_block, out_block;

  // Keys have one length and no schedule.
  logic [5:0] unused_key_len;
  logic unused_key_last, unused_key_decrypt;

  cipher_front #(
    .Algorithm (8'h10),
    .BlockBytes(8),
    .KeyLengths(64'd1 << 32),
    .Open      (Open),
    // The codes of the other sets follow that of set 0.
    .Code      (8'h10 | 8'(Set)),
    .CodeMask  (8'h07)
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
    .core_wipe_o  (core_wipe),
    .key_valid_o  (key_valid),
    .key_o        (key),
    .key_index_o  (key_index),
    .key_last_o   (unused_key_last),
    .key_len_o    (unused_key_len),
    .key_decrypt_o(unused_key_decrypt),
    .block_valid_o(in_valid),
    .block_ready_i(in_ready),
    .block_o      (in_block),
    .decrypt_o    (decrypt),
    .block_valid_i(out_valid),
    .block_ready_o(out_ready),
    .block_i      (out_block)
  );

  gost_core #(
    .Set(Set)
  ) u_core (
    .clk_i,
    .rst_ni,
    .wipe_i       (core_wipe),
    .key_valid_i  (key_valid),
    .key_i        (key),
    .key_index_i  (key_index),
    .block_valid_i(in_valid),
    .block_ready_o(in_ready),
    .block_i      (in_block),
    .decrypt_i    (decrypt),
    .block_valid_o(out_valid),
    .block_ready_i(out_ready),
    .block_o      (out_block)
  );

endmodule

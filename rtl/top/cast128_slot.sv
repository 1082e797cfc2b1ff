// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 as a slot: gate, shell, modes and core.
//
// Cycles per block: the core's, 17, or 13 with keys of 5 to 10 bytes, in every mode and direction.
module cast128_slot
  import slot_pkg::*;
#(
  // What the gate lets pass (slot_gate).
  parameter logic [7:0] Open = '1,
  parameter int unsigned KeyMin = 0,
  parameter int unsigned KeyMax = 63
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

  // 5 to 16 bytes.
  localparam logic [63:0] KeyLengths = 64'h1_FFE0;

  logic core_wipe;
  logic key_valid, key_last, key_decrypt;
  logic [63:0] key;
  logic [ 2:0] key_index;
  logic [ 5:0] key_len;
  logic in_valid, in_ready, out_valid, out_ready, decrypt;
  logic [63:0] in_block, out_block;

  cipher_front #(
    .Algorithm(AlgCast128),
    .BlockBytes(8),
    .KeyLengths(KeyLengths),
    .Open(Open),
    .KeyMin(KeyMin),
    .KeyMax(KeyMax)
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
    .key_last_o   (key_last),
    .key_len_o    (key_len),
    .key_decrypt_o(key_decrypt),
    .block_valid_o(in_valid),
    .block_ready_i(in_ready),
    .block_o      (in_block),
    .decrypt_o    (decrypt),
    .block_valid_i(out_valid),
    .block_ready_o(out_ready),
    .block_i      (out_block)
  );

  cast128_core u_core (
    .clk_i,
    .rst_ni,
    .wipe_i       (core_wipe),
    .key_valid_i  (key_valid),
    .key_i        (key),
    .key_index_i  (key_index),
    .key_last_i   (key_last),
    .key_len_i    (key_len),
    .key_decrypt_i(key_decrypt),
    .block_valid_i(in_valid),
    .block_ready_o(in_ready),
    .block_i      (in_block),
    .decrypt_i    (decrypt),
    .block_valid_o(out_valid),
    .block_ready_i(out_ready),
    .block_o      (out_block)
  );

endmodule

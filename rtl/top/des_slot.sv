// SPDX-License-Identifier: Apache-2.0
//
// DES or triple DES as a slot: gate, shell, modes and core.
//
// Cycles per block: the core's (des_core) in every mode and direction, but CTR takes 3 at least.
module des_slot
  import slot_pkg::*;
#(
  // Keys of 16 and 24 bytes too.
  parameter bit                Triple         = 1'b0,
  // Rounds computed in one clock: 1, 2, 4, 8 or 16.
  parameter int unsigned       RoundsPerClock = 1,
  // What the gate lets pass (slot_gate).
  parameter logic        [7:0] Open           = '1,
  parameter int unsigned       KeyMin         = 0,
  parameter int unsigned       KeyMax         = 63
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

  localparam logic [63:0] KeyLengths = 64'd1 << 8 | (Triple ? 64'd1 << 16 | 64'd1 << 24 : '0);

  logic core_wipe;
  logic key_valid, key_last, key_decrypt;
  logic [63:0] key;
  logic [ 2:0] key_index;
  logic [ 5:0] key_len;
  logic in_valid, in_ready, out_valid, out_ready, decrypt;
  logic [63:0] in_block, out_block;

  cipher_front #(
    .Algorithm (AlgDes),
    .BlockBytes(8),
    .KeyLengths(KeyLengths),
    // With 1 or 2 clocks per block each clock counts.
    .Eager     (RoundsPerClock >= 8),
    .Unhurried (RoundsPerClock == 1),
    .Open      (Open),
    .KeyMin    (KeyMin),
    .KeyMax    (KeyMax)
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

  des_core #(
    .Triple        (Triple),
    .RoundsPerClock(RoundsPerClock)
  ) u_core (
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

// SPDX-License-Identifier: Apache-2.0
//
// AES as an interleaved slot: lane_front and the ring.
//
// Cycles per block at full load: the ring's, 10, 12 or 14 / Unrolled for 128, 192 or 256 key bits, but not
// less than 2, the beats of a block. For Unrolled = 5 that is what the slot's 64-bit streams can carry; 10
// would halve the time of a block, and serve nothing else.
module aes_ring_slot
  import slot_pkg::*;
#(
  // As in aes_ring.
  parameter int unsigned Unrolled   = 1,
  // 0: encryption only; CTR then still goes both ways.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // Frames in flight, and bytes of payload that each holds (lane_front).
  parameter int unsigned Lanes      = 8,
  parameter int unsigned LaneBytes  = 2048
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

  localparam logic [63:0] KeyLengths =
      64'd1 << 16 | (MaxKeyBits >= 192 ? 64'd1 << 24 : '0) | (MaxKeyBits >= 256 ? 64'd1 << 32 : '0);
  localparam int unsigned KeyBits = $clog2(Lanes);
  localparam int unsigned SlotBits = $clog2(4 * Unrolled) + 1;

  logic core_wipe;
  logic key_valid, key_last, key_busy;
  logic [63:0] key;
  logic [ 2:0] key_index;
  logic [ 5:0] key_len;
  logic [KeyBits-1:0] key_place, block_place;
  logic in_valid, in_ready, out_valid, decrypt;
  logic [SlotBits-1:0] in_slot, out_slot;
  logic [127:0] in_block, out_block;

  lane_front #(
    .Algorithm (AlgAes),
    .BlockBytes(16),
    .KeyLengths(KeyLengths),
    .Decrypt   (Decrypt),
    .Slots     (2 ** SlotBits),
    .Lanes     (Lanes),
    .Keys      (Lanes),
    .LaneBytes (LaneBytes)
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
    .core_wipe_o   (core_wipe),
    .key_valid_o   (key_valid),
    .key_o         (key),
    .key_index_o   (key_index),
    .key_last_o    (key_last),
    .key_len_o     (key_len),
    .key_place_o   (key_place),
    .key_busy_i    (key_busy),
    .block_valid_o (in_valid),
    .block_ready_i (in_ready),
    .block_o       (in_block),
    .decrypt_o     (decrypt),
    .block_place_o (block_place),
    .block_slot_i  (in_slot),
    .result_valid_i(out_valid),
    .result_slot_i (out_slot),
    .result_i      (out_block)
  );

  aes_ring #(
    .Unrolled  (Unrolled),
    .Decrypt   (Decrypt),
    .MaxKeyBits(MaxKeyBits),
    .Keys      (Lanes)
  ) u_core (
    .clk_i,
    .rst_ni,
    .wipe_i        (core_wipe),
    .key_valid_i   (key_valid),
    .key_i         (key),
    .key_index_i   (key_index),
    .key_last_i    (key_last),
    .key_len_i     (key_len),
    .key_place_i   (key_place),
    .key_busy_o    (key_busy),
    .block_valid_i (in_valid),
    .block_ready_o (in_ready),
    .block_i       (in_block),
    .decrypt_i     (decrypt),
    .block_place_i (block_place),
    .block_slot_o  (in_slot),
    .result_valid_o(out_valid),
    .result_slot_o (out_slot),
    .result_o      (out_block)
  );

endmodule

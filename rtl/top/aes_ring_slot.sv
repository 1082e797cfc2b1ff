// SPDX-License-Identifier: Apache-2.0
//
// AES as an interleaved slot.
//
// Cycles per block at full load: the ring's, 10, 12 or 14 / Unrolled for 128, 192 or 256 key bits, but not
// less than 2, the beats of a block. For Unrolled = 5 that is what the slot's 64-bit streams can carry; 10
// would halve the time of a block, and serve nothing else.
module aes_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in aes_ring.
  parameter int unsigned Unrolled   = 1,
  // 0: encryption only; CTR then still goes both ways.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // Frames in flight.
  parameter int unsigned Lanes      = UsualLanes,
  // Rings side by side; several take keys of 128 bits alone, because longer ones would be longer under way.
  parameter int unsigned Rings      = 1
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

  if (Rings > 1 && MaxKeyBits > 128) begin : gen_illegal
    $error("aes_ring_slot: several rings take keys of 128 bits only");
  end

  clear_t clear;
  ring_req_t [Rings-1:0] req;
  ring_rsp_t [Rings-1:0] rsp;

  lane_front #(
    .Algorithm(AlgAes),
    .BlockBytes(16),
    .KeyLengths(64'd1 << 16 | 64'(MaxKeyBits >= 192) << 24 | 64'(MaxKeyBits >= 256) << 32),
    .Decrypt(Decrypt),
    .Tickets(Unrolled == 10 ? 64 : 8 << $clog2(Unrolled)),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    .clk_i,
    .rst_ni,
    .s_axis_i      ({s_axis_tvalid, s_axis_tlast, s_axis_tdata}),
    .s_axis_ready_o(s_axis_tready),
    .m_axis_o      ({m_axis_tvalid, m_axis_tlast, m_axis_tdata}),
    .m_axis_ready_i(m_axis_tready),
    .clear_o       (clear),
    .req_o         (req),
    .rsp_i         (rsp)
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    aes_ring #(
      .Unrolled(Unrolled),
      .Decrypt(Decrypt),
      .MaxKeyBits(MaxKeyBits),
      .Contexts(Lanes)
    ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .req_i  (req[i]),
      .rsp_o  (rsp[i])
    );
  end

endmodule

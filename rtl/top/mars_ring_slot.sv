// SPDX-License-Identifier: Apache-2.0
//
// MARS as an interleaved slot.
//
// Cycles per block at full load: the ring's, 16.
module mars_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side.
  parameter int unsigned Rings = 1
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

  clear_t clear;
  ring_req_t [Rings-1:0] req;
  ring_rsp_t [Rings-1:0] rsp;

  lane_front #(
    .Algorithm(AlgMars),
    .BlockBytes(16),
    .KeyLengths(64'h0111_1111_1111_0000),
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
    mars_ring #(
      .Phase(16 / Rings * i),
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

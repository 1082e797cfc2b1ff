// SPDX-License-Identifier: Apache-2.0
//
// The ports that every slot has, its wires, and how its front and its core are connected: one wiring for all tops. The
// names of the pins are those of flow/boundary.lpf and docs/slot.md.

`ifndef SLOT_PORTS_SVH
`define SLOT_PORTS_SVH

// The ports of a top: two AXI4-Stream interfaces of 64 bits, one clock, one reset.
`define SLOT_PORTS \
  input  logic        clk_i, \
  input  logic        rst_ni, \
  input  logic [63:0] s_axis_tdata, \
  input  logic        s_axis_tvalid, \
  output logic        s_axis_tready, \
  input  logic        s_axis_tlast, \
  output logic [63:0] m_axis_tdata, \
  output logic        m_axis_tvalid, \
  input  logic        m_axis_tready, \
  output logic        m_axis_tlast

// Its wires: what clears the core or the rings, what they are asked and what they answer. The kind is core or hash.
`define CORE_WIRES(kind) \
  clear_t clear; \
  kind``_req_t req; \
  kind``_rsp_t rsp;

`define RING_WIRES(rings) \
  clear_t clear; \
  ring_req_t [rings-1:0] req; \
  ring_rsp_t [rings-1:0] rsp;

// The connections of a front in such a top.
`define FRONT_PORTS \
  .clk_i, \
  .rst_ni, \
  .s_axis_i      ({s_axis_tvalid, s_axis_tlast, s_axis_tdata}), \
  .s_axis_ready_o(s_axis_tready), \
  .m_axis_o      ({m_axis_tvalid, m_axis_tlast, m_axis_tdata}), \
  .m_axis_ready_i(m_axis_tready), \
  .clear_o       (clear), \
  .req_o         (req), \
  .rsp_i         (rsp)

// The connections of a core or a ring, which has this request and this response.
`define CORE_PORTS(request, response) \
  .clk_i, \
  .rst_ni, \
  .clear_i(clear), \
  .req_i  (request), \
  .rsp_o  (response)

`endif

// SPDX-License-Identifier: Apache-2.0
//
// MD5 and HMAC-MD5 as a slot.
//
// Cycles per block: the core's (md5_core).
module md5_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // What the gate lets pass.
  parameter int unsigned Gate = AllOpen
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

  clear_t    clear;
  hash_req_t req;
  hash_rsp_t rsp;

  hash_front #(
    .Algorithm(AlgMd5),
    .StateBytes(16),
    .DigestBytes(16),
    .BigEndian(1'b0),
    .Gate(Gate),
    .ClearCycles(17)
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

  md5_core u_core (
    .clk_i,
    .rst_ni,
    .clear_i(clear),
    .req_i  (req),
    .rsp_o  (rsp)
  );

endmodule

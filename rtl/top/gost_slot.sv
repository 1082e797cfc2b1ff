// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89 as a slot. The set of S-boxes is in 32 LUTs, and the lower bits of the algorithm's code, which tell
// the set, in three more; nothing else depends on it.
//
// Cycles per block: the core's (gost_core) in every mode and direction.
module gost_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // The set of S-boxes: 0 that of Magma, 1 to 4 CryptoPro's A to D.
  parameter int unsigned Set   = 0,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate  = AllOpen,
  parameter int unsigned Modes = 0
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
  core_req_t req;
  core_rsp_t rsp;

  cipher_front #(
    .Algorithm(8'h10),
    .ClearCycles(4),
    .BlockBytes(8),
    .KeyLengths(64'h1_0000_0000),
    // The codes of the other sets follow that of set 0.
    .Code(8'h10 | 8'(Set)),
    .CodeMask(8'h07),
    .Modes(Modes),
    .Gate(Gate)
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

  gost_core #(
    .Set(Set)
  ) u_core (
    .clk_i,
    .rst_ni,
    .clear_i(clear),
    .req_i  (req),
    .rsp_o  (rsp)
  );

endmodule

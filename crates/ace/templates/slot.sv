// SPDX-License-Identifier: Apache-2.0
//
// @NAME@ as a slot.
//
// Cycles per block: the core's (@ID@_core) in every mode and direction.
module @ID@_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
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
    .Algorithm(8'h@CODE@),
    .ClearCycles(@CLEAR@),
    .BlockBytes(@BLOCK@),
    .KeyLengths(64'h@LENGTHS@),
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

  @ID@_core u_core (
    .clk_i,
    .rst_ni,
    .clear_i(clear),
    .req_i  (req),
    .rsp_o  (rsp)
  );

endmodule

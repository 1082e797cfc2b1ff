// SPDX-License-Identifier: Apache-2.0
//
// AES as a slot behind a gate: what of it is open is in eight LUTs.
//
// Cycles per block: those of aes_slot.
module aes_gate_slot
  import slot_pkg::*;
#(
  // Implementation of the S-box, as in aes_slot.
  parameter int unsigned SBox = aes_pkg::SBoxEbr,
  // What is open: in the LUTs, and nowhere else.
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter bit Keys128 = 1'b1,
  parameter bit Keys192 = 1'b1,
  parameter bit Keys256 = 1'b1
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

  logic [63:0] request;

  slot_gate #(
    .Algorithm (AlgAes),
    .Encrypt   (Encrypt),
    .Decrypt   (Decrypt),
    .Ecb       (Ecb),
    .Cbc       (Cbc),
    .Ctr       (Ctr),
    .KeyLengths(64'd1 << 16 | 64'd1 << 24 | 64'd1 << 32),
    .Keys      (64'(Keys128) << 16 | 64'(Keys192) << 24 | 64'(Keys256) << 32)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .data_i (s_axis_tdata),
    .valid_i(s_axis_tvalid),
    .ready_i(s_axis_tready),
    .last_i (s_axis_tlast),
    .data_o (request)
  );

  aes_slot #(
    .SBox(SBox)
  ) u_slot (
    .clk_i,
    .rst_ni,
    .s_axis_tdata(request),
    .s_axis_tvalid,
    .s_axis_tready,
    .s_axis_tlast,
    .m_axis_tdata,
    .m_axis_tvalid,
    .m_axis_tready,
    .m_axis_tlast
  );

endmodule

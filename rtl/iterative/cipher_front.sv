// SPDX-License-Identifier: Apache-2.0
//
// All of a cipher slot but its core: the gate, the shell and the modes. A top joins this and one core.
//
// Clocks: see slot_shell and cipher_modes.
module cipher_front
  import cipher_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  // As in shape_t; Modes is a modes_t.
  parameter logic [7:0] Algorithm = AlgAes,
  parameter int unsigned BlockBytes = 16,
  // 16, 24 or 32 bytes.
  parameter logic [63:0] KeyLengths = 64'h1_0101_0000,
  parameter bit Decrypt = 1'b1,
  parameter int unsigned Modes = 0,
  parameter bit Eager = 1'b0,
  parameter bit Unhurried = 1'b0,
  // As in slot_gate; Gate is a gate_t.
  parameter int unsigned Gate = AllOpen,
  parameter logic [7:0] Code = Algorithm,
  parameter logic [7:0] CodeMask = '0,
  // Clocks that the core takes to forget.
  parameter int unsigned ClearCycles = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // From and to the core.
  output clear_t    clear_o,
  output core_req_t req_o,
  input  core_rsp_t rsp_i
);

  localparam shape_t Shape = '{
    algorithm: Algorithm,
    key_lengths: KeyLengths,
    block_bytes: BlockBytes,
    block_bits: 8 * BlockBytes,
    decrypt: Decrypt,
    modes: modes_t'(3'(Modes)),
    eager: Eager,
    unhurried: Unhurried
  };

  stream_t   request;
  header_t   header;
  request_t  frame;
  response_t answer;
  logic forget, answer_ready;

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o
  );

  slot_gate #(
    .Algorithm (Algorithm),
    .Code      (Code),
    .CodeMask  (CodeMask),
    .Has       ({5'b0, Shape.modes, 8'h1f}),
    .KeyLengths(KeyLengths),
    .Gate      (gate_t'(29'(Gate)))
  ) u_gate (
    .clk_i,
    .rst_ni,
    .s_axis_i,
    .s_axis_ready_i(s_axis_ready_o),
    .m_axis_o      (request)
  );

  slot_shell u_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .forget_o      (forget),
    .s_axis_i      (request),
    .s_axis_ready_o,
    .m_axis_o,
    .m_axis_ready_i,
    .header_o      (header),
    .frame_o       (frame),
    .answer_i      (answer),
    .answer_ready_o(answer_ready)
  );

  cipher_modes #(
    .Shape(Shape)
  ) u_modes (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .header_i      (header),
    .frame_i       (frame),
    .answer_o      (answer),
    .answer_ready_i(answer_ready),
    .req_o,
    .rsp_i
  );

endmodule

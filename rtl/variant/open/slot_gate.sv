// SPDX-License-Identifier: Apache-2.0
//
// No gate, for configurations that have no variants: they name this file among their sources in place of the other
// slot_gate. Whatever a request asks for is left to the slot behind.
//
// Cycles: none.
module slot_gate #(
  // As there; nothing is looked at.
  parameter logic [7:0] Algorithm = 8'd0,
  parameter logic [7:0] Code = Algorithm,
  parameter logic [7:0] CodeMask = 8'd0,
  parameter logic [7:0] Has = 8'h1f,
  parameter logic [7:0] Open = 8'hff,
  parameter logic [63:0] KeyLengths = '0,
  parameter int unsigned KeyMin = 0,
  parameter int unsigned KeyMax = 63
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [63:0] data_i,
  input  logic        valid_i,
  input  logic        ready_i,
  input  logic        last_i,
  output logic [63:0] data_o
);

  if (Algorithm != Code || (Has & ~Open) != '0 || KeyMin != 0 || KeyMax != 63) begin : gen_illegal
    $error("slot_gate: without a gate everything is open");
  end

  assign data_o = data_i;

  logic unused;
  assign unused = ^{clk_i, rst_ni, valid_i, ready_i, last_i, CodeMask, KeyLengths};

endmodule

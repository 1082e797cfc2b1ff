// SPDX-License-Identifier: Apache-2.0
//
// An operand port of 32 bits: four lines of a byte each with one select. Combinational from the line to value_o;
// the element has the register.
module array_port
  import array_pkg::*;
#(
  // Of the clocks that its lines reach back.
  parameter int unsigned Bits = LineBits
) (
  input  logic                      clk_i,
  input  logic                      clear_i,
  input  logic  [   Bits-1:0]       now_i,
  input  port_t                     port_i,
  input  logic  [Sources-1:0][31:0] sources_i,
  output logic  [       31:0]       value_o
);

  for (genvar i = 0; i < 4; i++) begin : gen_byte
    logic [Sources-1:0][7:0] bytes;
    for (genvar s = 0; s < Sources; s++) begin : gen_source
      assign bytes[s] = sources_i[s][8*i+:8];
    end
    array_line #(
      .Width(8),
      .Bits (Bits)
    ) u_line (
      .clk_i,
      .clear_i,
      .now_i,
      .port_i,
      .sources_i(bytes),
      .value_o  (value_o[8*i+:8])
    );
  end

endmodule

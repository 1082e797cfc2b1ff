// SPDX-License-Identifier: Apache-2.0
//
// A small memory in logic: written at the clock edge, read at once.
module lane_ram #(
  // Bits per word.
  parameter int unsigned Width = 8,
  // Words.
  parameter int unsigned Depth = 16,

  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic clk_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [      Width-1:0] write_data_i,

  input  logic [AddressBits-1:0] read_at_i,
  output logic [      Width-1:0] read_data_o
);

  (* ram_style = "distributed" *)
  logic [Width-1:0] ram[Depth];

  always_ff @(posedge clk_i) begin
    if (write_i) ram[write_at_i] <= write_data_i;
  end

  assign read_data_o = ram[read_at_i];

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Keys, or blocks on their way: block memory with its output register. What is written can be addressed in the
// next clock; nobody reads it in the same.
//
// Latency of a read: 2 clocks.
module twofish_ring_memory #(
  // Bits per word.
  parameter int unsigned Width = 64,
  // Words.
  parameter int unsigned Depth = 128,

  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic clk_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [      Width-1:0] write_data_i,

  input  logic [AddressBits-1:0] read_at_i,
  output logic [      Width-1:0] read_data_o
);

  (* ram_style = "block", no_rw_check *)
  logic [Width-1:0] ram[Depth];
  logic [Width-1:0] raw_q;

  always_ff @(posedge clk_i) begin
    if (write_i) ram[write_at_i] <= write_data_i;
    raw_q       <= ram[read_at_i];
    read_data_o <= raw_q;
  end

endmodule

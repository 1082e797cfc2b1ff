// SPDX-License-Identifier: Apache-2.0
//
// Block memory for the buffers of the lanes. A word is read in two clocks: block memory is slow, so nothing
// stands between it and the register behind it. What is read in the clock of its writing is undefined; nobody
// does that.
module lane_memory #(
  // Bits per word.
  parameter int unsigned Width = 64,
  // Words.
  parameter int unsigned Depth = 1024,

  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic clk_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [      Width-1:0] write_data_i,

  // Both clocks of a read happen only while this is high.
  input  logic                   read_i,
  input  logic [AddressBits-1:0] read_at_i,
  output logic [      Width-1:0] read_data_o
);

  (* ram_style = "block", no_rw_check *)
  logic [Width-1:0] ram[Depth];
  logic [Width-1:0] raw_q;

  always_ff @(posedge clk_i) begin
    if (write_i) ram[write_at_i] <= write_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (read_i) raw_q <= ram[read_at_i];
  end

  always_ff @(posedge clk_i) begin
    if (read_i) read_data_o <= raw_q;
  end

endmodule

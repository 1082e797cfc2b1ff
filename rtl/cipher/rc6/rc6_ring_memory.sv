// SPDX-License-Identifier: Apache-2.0
//
// Words of the expanded keys of all places, in block memory with a register behind it.
//
// Latency of a read: 2 clocks.
module rc6_ring_memory
  import rc6_pkg::*;
#(
  parameter  int unsigned Depth       = 256,
  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic clk_i,

  input logic                    write_i,
  input logic  [AddressBits-1:0] write_at_i,
  input word_t                   write_data_i,

  input  logic  [AddressBits-1:0] read_at_i,
  output word_t                   read_data_o
);

  // No word is read while it is written: no block is inside under a key that is being made.
  (* ram_style = "block", no_rw_check *)
  word_t ram[Depth];
  word_t raw_q;

  always_ff @(posedge clk_i) begin
    if (write_i) ram[write_at_i] <= write_data_i;
    raw_q <= ram[read_at_i];
    read_data_o <= raw_q;
  end

endmodule

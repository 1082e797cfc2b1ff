// SPDX-License-Identifier: Apache-2.0
//
// A memory of words that turns: every block that starts moves the base that addresses are added to, so that each
// block in flight finds its own words at constant places. The bases of writer and reader are two ports, as one of
// them may be outside.
//
// Latency: the address of clock t is answered in clock t + 3. What is written with the address of clock t and the
// word of clock t + 2 is there for addresses of clock t + 2 and later; nobody reads it in clock t + 1. While a clear is
// active zero is written at its index, and nothing else.
module array_memory
  import core_pkg::*;
#(
  parameter int unsigned AddressBits = 9
) (
  input logic   clk_i,
  input clear_t clear_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_base_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [           31:0] write_data_i,

  input  logic [AddressBits-1:0] read_base_i,
  input  logic [AddressBits-1:0] read_at_i,
  output logic [           31:0] word_o
);

  (* ram_style = "block", no_rw_check *)
  logic [31:0] words[1 << AddressBits];
  logic write1_q, write2_q, keep_q;
  logic [AddressBits-1:0] write_at1_q, write_at2_q, read_at_q;
  logic [31:0] raw_q;

  always_ff @(posedge clk_i) begin
    write1_q    <= write_i;
    write2_q    <= write1_q || clear_i.active;
    keep_q      <= !clear_i.active;
    write_at1_q <= write_base_i + write_at_i;
    write_at2_q <= clear_i.active ? clear_i.index[AddressBits-1:0] : write_at1_q;
    read_at_q   <= read_base_i + read_at_i;
  end

  always_ff @(posedge clk_i) begin
    if (write2_q) words[write_at2_q] <= write_data_i & {32{keep_q}};
  end

  always_ff @(posedge clk_i) begin
    raw_q  <= words[read_at_q];
    word_o <= raw_q;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Block memory with one port to write and one to read. Block memory is slow, so nothing stands between it and the
// register behind it. Nobody reads a word in the clock of its writing.
//
// While clear_i is active zero is written at its index, and reads go on: Depth + 3 clocks of it (+ 1 with Late) leave
// zero in every word and register. With Quiet, 2^AddressBits + 4 clocks (+ 1): the index comes to word 0 again.
//
// Latency of a read: 2 clocks, or 3.
module ram_block
  import core_pkg::*;
#(
  // Bits per word.
  parameter int unsigned Width = 64,
  // Words.
  parameter int unsigned Depth = 512,
  // One register more.
  parameter bit Late = 1'b0,
  // write_data_i is zero from the second clock of a clear on, and needs no gate here.
  parameter bit Quiet = 1'b0,

  localparam int unsigned AddressBits = Depth > 1 ? $clog2(Depth) : 1
) (
  input logic   clk_i,
  input clear_t clear_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [      Width-1:0] write_data_i,

  // Every clock of a read happens only while this is high.
  input  logic                   read_i,
  input  logic [AddressBits-1:0] read_at_i,
  output logic [      Width-1:0] read_data_o
);

  if (AddressBits > ClearBits) begin : gen_illegal_depth
    $error("ram_block: no clear comes to the last word");
  end

  (* ram_style = "block", no_rw_check *)
  logic [Width-1:0] ram[Depth];
  logic [Width-1:0] raw_q;
  logic write, read;
  logic [AddressBits-1:0] write_at;
  logic [Width-1:0] write_data;

  assign write      = write_i || clear_i.active;
  assign write_at   = clear_i.active ? clear_i.index[AddressBits-1:0] : write_at_i;
  assign write_data = write_data_i & {Width{Quiet || !clear_i.active}};
  assign read       = read_i || clear_i.active;

  // No reset, so that the register is the memory's own.
  always_ff @(posedge clk_i) begin
    if (write) ram[write_at] <= write_data;
  end

  always_ff @(posedge clk_i) begin
    if (read) raw_q <= ram[read_at_i];
  end

  if (Late) begin : gen_late
    logic [Width-1:0] near_q;

    always_ff @(posedge clk_i) begin
      if (read) begin
        near_q      <= raw_q;
        read_data_o <= near_q;
      end
    end
  end else begin : gen_soon
    always_ff @(posedge clk_i) begin
      if (read) read_data_o <= raw_q;
    end
  end

endmodule

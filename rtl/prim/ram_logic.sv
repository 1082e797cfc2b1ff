// SPDX-License-Identifier: Apache-2.0
//
// A small memory in logic with one port to write and one to read: written at the clock edge, read at once or into
// registers.
//
// While clear_i is active zero is written at its index, and reads go on: Depth + Registers clocks of it leave zero in
// every word and register. With Quiet, 2^AddressBits + 1 + Registers clocks: the index comes to word 0 again.
//
// Latency of a read: Registers clocks.
module ram_logic
  import core_pkg::*;
#(
  // Bits per word.
  parameter int unsigned Width = 8,
  // Words.
  parameter int unsigned Depth = 16,
  // Behind the memory.
  parameter int unsigned Registers = 0,
  // write_data_i is zero from the second clock of a clear on, and needs no gate here.
  parameter bit Quiet = 1'b0,

  localparam int unsigned AddressBits = Depth > 1 ? $clog2(Depth) : 1
) (
  input logic   clk_i,
  input clear_t clear_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [      Width-1:0] write_data_i,

  input  logic [AddressBits-1:0] read_at_i,
  output logic [      Width-1:0] read_data_o
);

  if (AddressBits > ClearBits) begin : gen_illegal_depth
    $error("ram_logic: no clear comes to the last word");
  end

  (* ram_style = "distributed" *)
  logic [Width-1:0] ram[Depth];
  logic write;
  logic [AddressBits-1:0] write_at;
  logic [Width-1:0] write_data;

  assign write      = write_i || clear_i.active;
  assign write_at   = clear_i.active ? clear_i.index[AddressBits-1:0] : write_at_i;
  assign write_data = write_data_i & {Width{Quiet || !clear_i.active}};

  always_ff @(posedge clk_i) begin
    if (write) ram[write_at] <= write_data;
  end

  if (Registers == 0) begin : gen_at_once
    assign read_data_o = ram[read_at_i];
  end else begin : gen_registers
    logic [Registers-1:0][Width-1:0] read_q;

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Registers; i++) begin
        read_q[i] <= i == 0 ? ram[read_at_i] : read_q[i-1];
      end
    end

    assign read_data_o = read_q[Registers-1];
  end

endmodule

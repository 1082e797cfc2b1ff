// SPDX-License-Identifier: Apache-2.0
//
// The memory of a queue between two clocks: words of 64 bits, a port to write and a port to read with a register behind
// it. Which words count says a pointer that the writer moves when a frame is whole (mac_rx, link_out), and which of them
// are free again another one of the reader; both go through a crossing. So no word is read in the clock of its writing.
//
// Latency of a read: 2 clocks in which read_i is high.
module queue_memory #(
  parameter int unsigned AddressBits = 9
) (
  input logic                   write_clk_i,
  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [           63:0] write_data_i,

  input  logic                   read_clk_i,
  input  logic                   read_i,
  input  logic [AddressBits-1:0] read_at_i,
  output logic [           63:0] read_data_o
);

  // A port of 16 bits: one of 36 would halve the blocks, and its output register could not be used (ace_flow/synth/bram_outreg.py).
  localparam int unsigned Width = 16;

  for (genvar part = 0; part < 64 / Width; part++) begin : gen_part
    (* ram_style = "block", no_rw_check *)
    logic [Width-1:0] ram[2**AddressBits];
    logic [Width-1:0] raw_q;

    always_ff @(posedge write_clk_i) begin
      if (write_i) ram[write_at_i] <= write_data_i[Width*part+:Width];
    end

    always_ff @(posedge read_clk_i) begin
      if (read_i) begin
        raw_q                          <= ram[read_at_i];
        read_data_o[Width*part+:Width] <= raw_q;
      end
    end
  end

endmodule

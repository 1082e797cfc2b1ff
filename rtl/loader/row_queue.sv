// SPDX-License-Identifier: Apache-2.0
//
// Cells that wait between the decoder, which cannot be held at once, and the bytes of the frames.
//
// Latency: 2 clocks. Throughput: a cell a clock.
module row_queue
  import load_pkg::*;
#(
  // Bits of a cell's place in the queue.
  parameter int unsigned PlaceBits = 5
) (
  input logic clk_i,
  input logic clear_i,

  // Up to 6 cells may come behind the clock in which room_o falls.
  output logic  room_o,
  input  cell_t s_i,

  output cell_t m_o,
  input  logic  m_ready_i,
  // There are cells, at the exit or in front of it.
  output logic  some_o
);

  logic [PlaceBits:0] count_q;
  logic [PlaceBits-1:0] write_q, read_q;
  logic some_q, room_q, valid_q, take;
  logic [26:0] out_q;
  logic [26:0] cells [1<<PlaceBits];

  assign take = some_q && (!valid_q || m_ready_i);

  always_ff @(posedge clk_i) begin
    if (s_i.valid) cells[write_q] <= {s_i.kind, s_i.rows};
    if (take) out_q <= cells[read_q];
    if (clear_i) begin
      count_q <= '0;
      write_q <= '0;
      read_q  <= '0;
      some_q  <= 1'b0;
      room_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      count_q <= count_q + (PlaceBits + 1)'(s_i.valid) - (PlaceBits + 1)'(take);
      some_q  <= s_i.valid || count_q > (PlaceBits + 1)'(1) || (some_q && !take);
      room_q  <= count_q <= (PlaceBits + 1)'((1 << PlaceBits) - 8);
      write_q <= write_q + PlaceBits'(s_i.valid);
      read_q  <= read_q + PlaceBits'(take);
      valid_q <= some_q || (valid_q && !m_ready_i);
    end
  end

  assign room_o = room_q;
  assign some_o = some_q || valid_q;
  assign m_o    = {valid_q, out_q};

endmodule

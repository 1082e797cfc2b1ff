// SPDX-License-Identifier: Apache-2.0
//
// Rows that wait between the decoder, which cannot be held at once, and the bytes of the frames.
//
// Latency: 2 clocks. Throughput: a row a clock.
module row_queue #(
  // Bits of a row's place in the queue.
  parameter int unsigned PlaceBits = 5
) (
  input logic clk_i,
  input logic clear_i,

  // Up to 4 rows may come behind the clock in which room_o falls.
  output logic        room_o,
  input  logic        s_valid_i,
  input  logic [11:0] s_row_i,
  input  logic        s_lowest_i,

  output logic        m_valid_o,
  input  logic        m_ready_i,
  output logic [11:0] m_row_o,
  output logic        m_lowest_o
);

  logic [PlaceBits:0] count_q;
  logic [PlaceBits-1:0] write_q, read_q;
  logic some_q, room_q, valid_q, take;
  logic [12:0] out_q;
  logic [12:0] rows  [1<<PlaceBits];

  assign take = some_q && (!valid_q || m_ready_i);

  always_ff @(posedge clk_i) begin
    if (s_valid_i) rows[write_q] <= {s_lowest_i, s_row_i};
    if (take) out_q <= rows[read_q];
    if (clear_i) begin
      count_q <= '0;
      write_q <= '0;
      read_q  <= '0;
      some_q  <= 1'b0;
      room_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      count_q <= count_q + (PlaceBits + 1)'(s_valid_i) - (PlaceBits + 1)'(take);
      some_q  <= s_valid_i || count_q > (PlaceBits + 1)'(1) || (some_q && !take);
      room_q  <= count_q <= (PlaceBits + 1)'((1 << PlaceBits) - 5);
      write_q <= write_q + PlaceBits'(s_valid_i);
      read_q  <= read_q + PlaceBits'(take);
      valid_q <= some_q || (valid_q && !m_ready_i);
    end
  end

  assign room_o = room_q;
  assign m_valid_o = valid_q;
  assign {m_lowest_o, m_row_o} = out_q;

endmodule

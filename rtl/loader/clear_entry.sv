// SPDX-License-Identifier: Apache-2.0
//
// A queue of two words that can be emptied at once. Its data input leads straight into flip-flops and its s_ready_o
// comes straight from one; the read side has one multiplexer behind its flip-flops.
//
// Latency: 1 clock. Throughput: one word per clock.
module clear_entry #(
  // Bits per word.
  parameter int unsigned Width = 8
) (
  input logic clk_i,
  // Empty from the next clock on; what comes in this one is dropped.
  input logic clear_i,

  input  logic             s_valid_i,
  output logic             s_ready_o,
  input  logic [Width-1:0] s_data_i,

  output logic             m_valid_o,
  input  logic             m_ready_i,
  output logic [Width-1:0] m_data_o,
  // Words that it holds.
  output logic [      1:0] count_o
);

  logic valid_q;  // at least one word
  logic ready_q;  // at most one word
  logic write_q, read_q;  // which word comes next
  logic [1:0][Width-1:0] word_q;

  logic push, pop;
  assign push = s_valid_i && ready_q;
  assign pop = valid_q && m_ready_i;

  assign s_ready_o = ready_q;
  assign m_valid_o = valid_q;
  assign m_data_o = word_q[read_q];
  assign count_o = {!ready_q, ready_q && valid_q};

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      valid_q <= 1'b0;
      ready_q <= 1'b1;
      write_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      valid_q <= push || (valid_q && !(pop && ready_q));
      ready_q <= pop || !valid_q || (ready_q && !push);
      write_q <= write_q ^ push;
      read_q  <= read_q ^ pop;
    end
    // The free word follows the input whether or not it is valid.
    if (ready_q && !write_q) word_q[0] <= s_data_i;
    if (ready_q && write_q) word_q[1] <= s_data_i;
  end

endmodule

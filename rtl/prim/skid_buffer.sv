// SPDX-License-Identifier: Apache-2.0
//
// The registered entry of a stream: a queue of two words whose data input leads straight into flip-flops
// and whose s_ready_o comes straight from one. The read side has one multiplexer behind its flip-flops.
//
// It forgets by itself: a word that was taken is zero a clock after the queue is empty, or else overwritten by the
// input, which the free word follows. So a clear has nothing to do here, and what already waits is not lost by one.
//
// Latency: 1 clock. Throughput: one word per clock.
module skid_buffer #(
  // Bits per word.
  parameter int unsigned Width = 64
) (
  input logic clk_i,
  input logic rst_ni,

  // Low during reset.
  input  logic             s_valid_i,
  output logic             s_ready_o,
  input  logic [Width-1:0] s_data_i,

  output logic             m_valid_o,
  input  logic             m_ready_i,
  output logic [Width-1:0] m_data_o
);

  logic valid_d, valid_q;  // at least one word
  logic ready_d, ready_q;  // at most one word
  logic write_q, read_q;  // which word comes next
  logic [1:0][Width-1:0] word_q;

  logic push, pop;
  assign push = s_valid_i && ready_q;
  assign pop = valid_q && m_ready_i;

  assign valid_d = push || (valid_q && !(pop && ready_q));
  assign ready_d = pop || !valid_q || (ready_q && !push);

  assign s_ready_o = ready_q;
  assign m_valid_o = valid_q;
  assign m_data_o = word_q[read_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ready_q <= 1'b0;
      write_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      valid_q <= valid_d;
      ready_q <= ready_d;
      write_q <= write_q ^ push;
      read_q  <= read_q ^ pop;
    end
  end

  // The free word follows the input whether or not it is valid: nothing but flip-flops on the way.
  for (genvar w = 0; w < 2; w++) begin : gen_word
    always_ff @(posedge clk_i) begin
      if (!valid_q && write_q != 1'(w)) word_q[w] <= '0;
      else if (ready_q && write_q == 1'(w)) word_q[w] <= s_data_i;
    end
  end

endmodule

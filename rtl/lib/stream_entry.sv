// SPDX-License-Identifier: Apache-2.0
//
// The registered entry of a stream: a queue of two words whose data input leads straight into flip-flops
// and whose s_ready_o comes straight from one. The read side has one multiplexer behind its flip-flops.
//
// Latency: 1 clock. Throughput: one word per clock.
module stream_entry #(
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
      word_q  <= '0;
    end else begin
      valid_q <= valid_d;
      ready_q <= ready_d;
      write_q <= write_q ^ push;
      read_q  <= read_q ^ pop;
      // The free word follows the input whether or not it is valid: nothing but flip-flops on the way.
      if (ready_q && !write_q) word_q[0] <= s_data_i;
      if (ready_q && write_q) word_q[1] <= s_data_i;
    end
  end

endmodule

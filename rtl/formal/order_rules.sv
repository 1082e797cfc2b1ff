// SPDX-License-Identifier: Apache-2.0
//
// What goes in comes out: once, in the same order, after Latency clocks if nobody holds it back. It keeps what is
// inside in a queue of its own.
module order_rules #(
  parameter int unsigned Width   = 1,
  // How many words there is space for.
  parameter int unsigned Depth   = 2,
  // Clocks after which a word is offered.
  parameter int unsigned Latency = 1
) (
  input logic clk_i,
  input logic rst_ni,
  // Forgets what is inside.
  input logic clear_i,

  input logic             s_valid_i,
  input logic             s_ready_i,
  input logic [Width-1:0] s_data_i,

  input logic             m_valid_i,
  input logic             m_ready_i,
  input logic [Width-1:0] m_data_i
);

  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned WaitBits = $clog2(Latency + 2);

  logic [CountBits-1:0] count_q;
  logic [Depth-1:0][Width-1:0] word_q;  // the oldest is number 0
  logic [WaitBits-1:0] empty_q;  // clocks for which there is something and it is not offered
  logic [WaitBits-1:0] full_q;  // clocks for which there is nothing and nothing is accepted

  logic push, pop;
  assign push = s_valid_i && s_ready_i;
  assign pop  = m_valid_i && m_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      word_q  <= '0;
      empty_q <= '0;
      full_q  <= '0;
    end else if (clear_i) begin
      count_q <= '0;
      empty_q <= '0;
      full_q  <= '0;
    end else begin
      if (push || pop) begin
        count_q <= count_q + CountBits'(push) - CountBits'(pop);
        for (int unsigned i = 0; i < Depth; i++) begin
          if (push && CountBits'(i) + CountBits'(pop) == count_q) word_q[i] <= s_data_i;
          else if (pop) word_q[i] <= i + 1 < Depth ? word_q[(i+1)%Depth] : '0;
        end
      end
      empty_q <= count_q == '0 || m_valid_i ? '0 : empty_q + WaitBits'(empty_q <= WaitBits'(Latency));
      full_q  <= count_q != '0 || s_ready_i ? '0 : full_q + WaitBits'(full_q <= WaitBits'(Latency));
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      if (m_valid_i) begin
        assert (count_q != '0)
        else $error("a word comes out that did not go in, or for the second time");
        assert (count_q == '0 || m_data_i == word_q[0])
        else $error("another word comes out than the next one");
      end
      assert (!push || pop || count_q != CountBits'(Depth))
      else $error("a word is accepted for which there is no space");
      assert (empty_q <= WaitBits'(Latency - 1))
      else $error("a word inside is not offered");
      assert (full_q <= WaitBits'(Latency))
      else $error("nothing is inside, and nothing is accepted");
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What holds for every cell that a stream goes through: offers stay, and what goes in comes out: once, in the same
// order, in the next clock if nobody holds it back. What is inside is kept in a queue of its own.
module cell_rules #(
  parameter int unsigned Width = 64,
  // How many words there is space for.
  parameter int unsigned Depth = 2,
  // Data is zero while there is none.
  parameter bit Zero = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input logic s_valid_i,
  input logic s_ready_o,
  input logic [Width-1:0] s_data_i,

  input logic m_valid_o,
  input logic m_ready_i,
  input logic [Width-1:0] m_data_o
);

  stream_rules #(
    .Width(Width),
    .Zero (Zero)
  ) u_offer (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (m_valid_o),
    .ready_i (m_ready_i),
    .data_i  (m_data_o)
  );

  localparam int unsigned CountBits = $clog2(Depth + 1);
  typedef logic [CountBits-1:0] count_t;

  count_t count_q;
  logic [Depth-1:0][Width-1:0] word_q;  // the oldest is number 0
  logic [1:0] empty_q;  // clocks for which there is something and it is not offered
  logic [1:0] full_q;  // clocks for which there is nothing and nothing is accepted

  logic push, pop;
  assign push = s_valid_i && s_ready_o;
  assign pop  = m_valid_o && m_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {count_q, word_q, empty_q, full_q} <= '0;
    else begin
      if (push || pop) begin
        count_q <= count_q + count_t'(push) - count_t'(pop);
        for (int unsigned i = 0; i < Depth; i++) begin
          if (push && count_t'(i) + count_t'(pop) == count_q) word_q[i] <= s_data_i;
          else if (pop) word_q[i] <= i + 1 < Depth ? word_q[(i+1)%Depth] : '0;
        end
      end
      empty_q <= count_q == '0 || m_valid_o ? '0 : empty_q + 2'(empty_q <= 2'd1);
      full_q  <= count_q != '0 || s_ready_o ? '0 : full_q + 2'(full_q <= 2'd1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (m_valid_o) begin
        assert (count_q != '0)
        else $error("a word comes out that did not go in, or for the second time");
        assert (count_q == '0 || m_data_o == word_q[0])
        else $error("another word comes out than the next one");
      end
      assert (!push || pop || count_q != count_t'(Depth))
      else $error("a word is accepted for which there is no space");
      assert (empty_q == '0)
      else $error("a word inside is not offered");
      assert (full_q <= 2'd1)
      else $error("nothing is inside, and nothing is accepted");
    end
  end

endmodule

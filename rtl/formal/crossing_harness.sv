// SPDX-License-Identifier: Apache-2.0
//
// A word between two clocks that have nothing to do with each other: any edge of either may come next. What arrives is
// whole, none that was sent is lost, and the next one is sent when it has arrived.
module crossing_harness #(
  parameter int unsigned Width = 3,
  // A cover, as what must not be reached: a word arrives.
  parameter bit NoWord = 1'b0
) (
  input logic from_clk_i,
  input logic to_clk_i,
  input logic [Width-1:0] from_i
);

  logic from_rst_n, to_rst_n;

  reset_first u_from_reset (
    .clk_i (from_clk_i),
    .rst_no(from_rst_n)
  );

  // One cause resets both, and either ends with its own clock.
  logic to_first_n;
  reset_first u_to_reset (
    .clk_i (to_clk_i),
    .rst_no(to_first_n)
  );
  assign to_rst_n = to_first_n && from_rst_n;

  logic ask, took;
  logic [Width-1:0] word, to;

  crossing_from #(
    .Width(Width)
  ) u_from (
    .clk_i (from_clk_i),
    .rst_ni(from_rst_n),
    .from_i,
    .word_o(word),
    .ask_o (ask),
    .took_i(took)
  );

  crossing_to #(
    .Width(Width)
  ) u_to (
    .clk_i (to_clk_i),
    .rst_ni(to_rst_n),
    .word_i(word),
    .ask_i (ask),
    .took_o(took),
    .to_o  (to)
  );

  // What was sent last.
  logic [Width-1:0] sent_q;
  logic ask_q, took_q;

  always_ff @(posedge from_clk_i or negedge from_rst_n) begin
    if (!from_rst_n) begin
      sent_q <= '0;
      ask_q  <= 1'b0;
      took_q <= 1'b0;
    end else begin
      ask_q  <= ask;
      took_q <= took;
      sent_q <= word;
    end
  end

  always_ff @(posedge from_clk_i) begin
    if (from_rst_n) begin
      // A word stands still while it is on its way: it changes with ask alone, when the one before has arrived.
      assert (word == sent_q || ask != ask_q)
      else $error("a word changes on its way");
      assert (ask == ask_q || took_q == ask_q)
      else $error("a word is sent before the one before has arrived");
    end
  end

  // When it is taken it has stood still for an edge of this clock and more: so all of its bits are there.
  logic [Width-1:0] stood_q, earlier_q, to_q;

  always_ff @(posedge to_clk_i or negedge to_rst_n) begin
    if (!to_rst_n) begin
      stood_q   <= '0;
      earlier_q <= '0;
      to_q      <= '0;
    end else begin
      stood_q   <= word;
      earlier_q <= stood_q;
      to_q      <= to;
    end
  end

  always_ff @(posedge to_clk_i) begin
    if (to_rst_n) begin
      if (to != to_q) begin
        assert (to == stood_q && to == earlier_q)
        else $error("what arrives is not the word that stood there");
      end
      // Nothing is lost: what has been taken is what was sent.
      if (took == ask) begin
        assert (to == word)
        else $error("a word is lost");
      end
      if (NoWord) begin
        assert (to != '1)
        else $error("reached: a word");
      end
    end
  end

endmodule

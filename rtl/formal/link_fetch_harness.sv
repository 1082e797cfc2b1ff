// SPDX-License-Identifier: Apache-2.0
//
// The receive queue's reader, beside a memory as queue_memory has it and any writer that keeps to its pointers: words
// come in order, each once, none of them before it is committed, and a place is given back when its word is taken.
module link_fetch_harness #(
  parameter int unsigned AddressBits = 3,
  parameter bit NoWord = 1'b0
) (
  input logic clk_i,
  input logic [AddressBits-1:0] more_i,  // words that are committed in this clock
  input logic ready_i
);

  typedef logic [AddressBits-1:0] at_t;

  logic rst_ni, read, valid;
  at_t committed_q, read_at, taken, raw_q, word_q;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  // No more than the queue holds: a place is free when its word was taken.
  at_t filled;
  assign filled = committed_q - taken;

  always_comb begin
    if (rst_ni) assume ({1'b0, filled} + {1'b0, more_i} < {1'b1, {AddressBits{1'b0}}});
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) committed_q <= '0;
    else committed_q <= committed_q + more_i;
  end

  link_fetch #(
    .AddressBits(AddressBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .committed_i(committed_q),
    .read_o     (read),
    .read_at_o  (read_at),
    .taken_o    (taken),
    .valid_o    (valid),
    .ready_i
  );

  // A word is its place.
  always_ff @(posedge clk_i) begin
    if (read) begin
      raw_q  <= read_at;
      word_q <= raw_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (valid) begin
        assert (word_q == taken)
        else $error("a word is skipped or comes again");
        assert (filled != '0)
        else $error("a word that is not committed");
      end
      assert (at_t'(read_at - taken) <= filled)
      else $error("the reader is in front of what is committed");
      if (NoWord) begin
        assert (!(valid && taken == at_t'(5)))
        else $error("reached: a word");
      end
    end
  end

endmodule

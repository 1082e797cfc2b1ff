// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 in the reconfigurable unit: the library's core behind rows of words. begin_i: the next block is a message's
// first. Otherwise eight words of the message are taken, half of a block, or with end_i what is under way comes to its
// end and the digest is given. Bytes are in the order of memory. What is asked for stays until done_o.
//
// Clocks: 1; 8 for words, as soon as the core is ready for them; 85 for a block, of which those of its words are 16.
module molen_hash
  import core_pkg::*;
  import molen_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t       clear_i,
  input  logic         start_i,
  input  logic         begin_i,
  input  logic         end_i,
  input  word_t  [7:0] row_i,
  output word_t  [4:0] row_o,
  output logic         done_o
);

  function automatic word_t swapped(input word_t x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  hash_req_t req;
  hash_rsp_t rsp;
  logic feed, taken, begun_q;
  logic  [2:0] word_q;
  word_t [7:0] state_q;

  assign feed = start_i && !begin_i && !end_i && !clear_i.active;
  // The core is ready for a word when it is not waiting for anything else.
  assign taken = feed && rsp.word_ready[0] && !rsp.idle[0];

  assign req = '{
      stop: 1'b0,
      start: feed,
      initial_state: begun_q,
      word_valid: feed,
      word: swapped(row_i[word_q]),
      state: state_q[rsp.state_read]
    };

  sha1_core u_core (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i(req),
    .rsp_o(rsp)
  );

  always_comb begin
    done_o = start_i && !clear_i.active;
    if (feed) done_o = taken && word_q == 3'd7;
    else if (end_i || begin_i) done_o = start_i && !clear_i.active && rsp.idle[0];
  end

  for (genvar w = 0; w < 5; w++) begin : gen_digest
    assign row_o[w] = swapped(state_q[w]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q  <= '0;
      begun_q <= 1'b0;
    end else begin
      if (taken) word_q <= word_q + 3'd1;
      if (done_o && begin_i) begun_q <= 1'b1;
      // The state is no longer the initial one when the block has been added to it.
      else if (rsp.state_valid && rsp.state_final && rsp.state_last) begun_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < 5; w++) begin
      if (clear_i.active) state_q[w] <= '0;
      else if (rsp.state_valid && rsp.state_index == 3'(w)) state_q[w] <= rsp.state;
    end
  end
  assign state_q[7:5] = '0;

  logic unused;
  assign unused = ^{rsp, req};

endmodule

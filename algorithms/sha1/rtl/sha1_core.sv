// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 compression, one step a clock. The core holds no chaining state of its own: it reads and writes the
// words of the state in the memory of the front, one a clock. Of a step's five summands four are added
// ahead, one a clock: w + k, then + e, then + f, so that only rotl5(a) is left to the step itself. Five more steps
// add the state: its words take the place of w, without k, and the working variables are the e of these steps. The
// sums, e first, become a one after the other, and so all are where the next block wants them.
//
// Cycles per block: 85, with the next block's words at hand.
module sha1_core
  import core_pkg::*;
  import sha1_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  hash_req_t req_i,
  output hash_rsp_t rsp_o
);

  // A block's words come at counts 0 to 15; the state's words are read from count 79 on, and their sums are written
  // from count 84 on, while the next block's words come.
  localparam logic [6:0] LastStep = 7'd79;
  localparam logic [6:0] LastCount = 7'd84;

  logic running, advance, stop, need, after_block;
  logic [6:0] count;
  logic last, loading, add_d;
  logic [4:0] add_q;  // of this count, and of 1 to 4 counts before: a word of the state takes the place of w
  logic first_q;  // count 0
  logic [4:0][2:0] index_q;  // of the state's words: 4 at count 79, and down to 0; of the last five counts

  assign last    = count == LastCount;
  assign loading = req_i.initial_state && !after_block;
  assign add_d   = count == LastStep || (add_q[0] && !last);

  hash_control #(
    .IdleCount(LastStep)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .wrap_i       (last),
    .first_i      (first_q),
    .end_i        (index_q[4] == '0 && add_q[4]),
    .running_o    (running),
    .advance_o    (advance),
    .stop_o       (stop),
    .need_o       (need),
    .after_block_o(after_block),
    .count_o      (count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {first_q, add_q} <= '0;
    else if (stop) {first_q, add_q} <= '0;
    else if (advance) {first_q, add_q} <= {last, add_q[3:0], add_d};
  end

  // -- the state's words ----------------------------------------------------------------------------------

  word_t sum_q;

  assign rsp_o = '{
      turn: 1'b0,
      idle: {1'b0, !running},
      word_ready: {1'b0, need},
      state_read: 3'd3 - count[2:0],
      state_valid: add_q[4] && (after_block || req_i.initial_state),
      state_final: after_block,
      state_last: add_q[4] && after_block && index_q[4] == '0,
      state_index: index_q[4],
      state: sum_q
    };

  always_ff @(posedge clk_i) begin
    if (clear_i.active) index_q <= '0;
    else if (advance) index_q <= {index_q[3:0], rsp_o.state_read};
  end

  // -- the constants --------------------------------------------------------------------------------------

  // What is added to the word of the next count but one, and what that word's step mixes. A memory filled once, and
  // not the constants themselves: it becomes block RAM in the device and an indexed array in simulation. Both of its
  // ports are read, a half of the word at each.
  (* rom_style = "block" *)
  half_t constant[512];
  half_t high_q, high2_q, low_q, low2_q;
  logic [1:0] choice1_q, choice_q;

  initial begin
    for (int unsigned i = 0; i < 512; i++) constant[i] = addend(i / 256 == 1, i / 128 % 2 == 1, i % 128);
  end

  always_ff @(posedge clk_i) begin
    if (advance || clear_i.active) begin
      high_q                <= constant[{1'b1, loading, count}];
      high2_q               <= high_q;
      low_q                 <= constant[{1'b0, loading, count}];
      low2_q                <= low_q;
      {choice_q, choice1_q} <= {choice1_q, high2_q.choice, low2_q.choice};
    end
  end

  // -- the steps ------------------------------------------------------------------------------------------

  // a, b and c of the step under way; d and e are in what was added ahead. b is rotated when it becomes c; it is
  // rotated back before, if c is to be a sum or a summand.
  word_t a_q, b_q, c_q, next;
  word_t w_q[16];
  word_t expanded_q, state_q, wk_q, wke_q, wkef_q;

  assign next = rotl(a_q, 5) + wkef_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      {sum_q, a_q, b_q, wk_q, wke_q, wkef_q} <= '0;
      for (int unsigned i = 0; i < 16; i++) w_q[i] <= '0;
    end else if (advance) begin
      a_q    <= add_q[4] ? sum_q : next;
      b_q    <= add_q[3] ? rotl(a_q, 2) : a_q;
      sum_q  <= wke_q;
      wkef_q <= mix(choice_q[1], choice_q[0], a_q, rotl(b_q, 30), c_q) + wke_q;
      wke_q  <= c_q + wk_q;
      wk_q   <= w_q[0] + {high2_q.word, low2_q.word};
      w_q[0] <= (need ? req_i.word : expanded_q) | state_q;
      for (int unsigned i = 1; i < 16; i++) w_q[i] <= w_q[i-1];
    end

    // Zero while it is not to be added: a synchronous reset, and no gate per bit.
    if (clear_i.active || (advance && add_q[1] && !after_block)) c_q <= '0;
    else if (advance) c_q <= rotl(b_q, 30);

    if (clear_i.active || (advance && (loading || !add_d))) state_q <= '0;
    else if (advance) state_q <= req_i.state;

    if (clear_i.active || (advance && add_d)) expanded_q <= '0;
    else if (advance) expanded_q <= rotl(w_q[1] ^ w_q[6] ^ w_q[12] ^ w_q[14], 1);
  end

endmodule

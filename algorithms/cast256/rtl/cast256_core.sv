// SPDX-License-Identifier: Apache-2.0
//
// CAST-256 (RFC 2612), both directions, one of its 48 rounds per clock. Decryption is the same with the quads
// of round keys in reverse order. The address registers of the S-boxes hold the word that is being looked up,
// already masked and rotated. The key schedule, 24 octaves of 8 rounds, runs on the same data path.
//
// Cycles per block: 49; the next block enters in the clock in which the result leaves. A fresh key, its beats
// included, costs 198 clocks, whatever comes first; without one, 1 when the direction changes.
//
// A clear takes 68 clocks: 64 round keys, and what is read.
module cast256_core
  import core_pkg::*;
  import cast_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  logic expanding, expand_start;
  word_t kappa, word;
  round_key_t constant;
  made_t made;

  cast256_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i     (core_key(req_i)),
    .busy_o    (expanding),
    .advance_i (1'b1),
    .constant_o(constant),
    .start_o   (expand_start),
    .target_o  (kappa),
    .word_i    (word),
    .made_o    (made)
  );

  // -- control --------------------------------------------------------------------------------------------

  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic accept, fetch;
  logic busy_q, last_q, valid_q;
  logic primed_q;  // key_q is the first round key of decrypt_q
  logic final_q;  // key_q is the last one
  logic backward_d, backward_q;  // the round that is looked up is of a backward quad
  logic away_q;  // so is the one of key_q: its source is not what this round makes
  logic [5:0] round_q;  // the round key that key_q takes next
  logic [1:0] place;
  kind_e next_q;  // of the round of key_q

  assign rsp_o.result_valid = valid_q;
  assign rsp_o.block_ready  = primed_q && !busy_q && !turn && (!valid_q || req_i.result_ready);
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  assign turn               = !busy_q && req_i.decrypt != decrypt_q;
  assign decrypt_d          = decrypt_q ^ turn;

  // Round keys are fetched in a ring, one round ahead.
  assign fetch              = accept || (busy_q && !last_q) || (!primed_q && !expanding);

  // Within a quad, forward or backward.
  assign backward_d         = round_q >= 6'd24;
  assign place              = round_q[1:0] ^ {2{backward_d}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      busy_q  <= 1'b0;
    end else begin
      valid_q <= (last_q || (valid_q && !req_i.result_ready)) && !clear_i.active;
      busy_q  <= (accept || (busy_q && !last_q)) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      decrypt_q  <= 1'b0;
      last_q     <= 1'b0;
      primed_q   <= 1'b0;
      final_q    <= 1'b0;
      backward_q <= 1'b0;
      away_q     <= 1'b0;
      round_q    <= '0;
      next_q     <= Kind1;
    end else begin
      decrypt_q <= decrypt_d;
      last_q    <= busy_q && final_q;
      if (req_i.key_valid || turn || expanding) begin
        primed_q <= 1'b0;
        final_q  <= 1'b0;
        away_q   <= 1'b0;
        round_q  <= '0;
      end else if (fetch) begin
        primed_q <= 1'b1;
        final_q  <= round_q == 6'd47;
        away_q   <= backward_d;
        round_q  <= round_q == 6'd47 ? '0 : round_q + 6'd1;
      end
      backward_q <= away_q;
      if (expanding) next_q <= constant.kind;
      else if (fetch) next_q <= kind_e'(place == 2'd3 ? Kind1 : kind_e'(place));
    end
  end

  // -- round keys: 12 quads of 4 ----------------------------------------------------------------------------

  word_t mask, mask_q;
  logic [4:0] rotate, rotate_q;
  logic [5:0] read_index;

  assign read_index = {decrypt_q ? 4'd11 - round_q[5:2] : round_q[5:2], place};

  cast_core_keys #(
    .Depth(64)
  ) u_keys (
    .clk_i,
    .clear_i,
    .made_i   (made),
    .read_at_i(read_index),
    .mask_o   (mask),
    .rotate_o (rotate)
  );

  always_ff @(posedge clk_i) begin
    if (expanding) begin
      mask_q   <= constant.mask;
      rotate_q <= constant.rotate;
    end else if (fetch) begin
      mask_q   <= mask;
      rotate_q <= rotate;
    end
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  // Forward quads rotate the words to the left, word 0 is looked up and word 1 is the target; backward quads
  // rotate them to the right, word 3 is looked up and word 0 is the target.
  word_t words_q[4];
  word_t target, feed;
  logic live;  // a round is computed

  assign live = expanding ? !expand_start : busy_q;

  always_comb begin
    target = backward_q ? words_q[0] : words_q[1];
    if (!busy_q) target = swap(req_i.block[127:96]);
    if (expanding) target = kappa;
    feed = target;
    if (away_q) feed = backward_q ? words_q[2] : words_q[0];
  end

  cast_loop u_loop (
    .clk_i,
    .way_i ('{live: live, target: target, feed_live: live && !away_q, feed: feed}),
    .word_o(word),
    .key_i ('{kind: next_q, mask: mask_q, rotate: rotate_q})
  );

  // What is taken while no block comes does no harm.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      words_q <= '{default: '0};
    end else if (!valid_q || req_i.result_ready) begin
      if (!busy_q) begin
        words_q[0] <= word;
        words_q[1] <= swap(req_i.block[95:64]);
        words_q[2] <= swap(req_i.block[63:32]);
        words_q[3] <= swap(req_i.block[31:0]);
      end else if (backward_q) begin
        words_q <= '{words_q[3], word, words_q[1], words_q[2]};
      end else begin
        words_q <= '{word, words_q[2], words_q[3], words_q[0]};
      end
    end
  end

  assign rsp_o.result = {swap(words_q[0]), swap(words_q[1]), swap(words_q[2]), swap(words_q[3])};

endmodule

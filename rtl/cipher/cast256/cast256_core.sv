// SPDX-License-Identifier: Apache-2.0
//
// CAST-256 (RFC 2612), both directions, one of its 48 rounds per clock. Decryption is the same with the quads
// of round keys in reverse order. The address registers of the S-boxes hold the word that is being looked up,
// already masked and rotated. The key schedule, 24 octaves of 8 rounds, runs on the same data path.
//
// Cycles per block: 49; the next block enters in the clock in which the result leaves. A fresh key, its beats
// included, costs 198 clocks, whatever comes first; without one, 1 when the direction changes.
module cast256_core
  import cast_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Forgets key and state.
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,
  input logic        key_decrypt_i,

  input  logic         block_valid_i,
  output logic         block_ready_o,
  input  logic [127:0] block_i,
  input  logic         decrypt_i,

  output logic         block_valid_o,
  input  logic         block_ready_i,
  output logic [127:0] block_o
);

  logic purge_q, wipe;  // the first clock after a reset; that or a wipe
  logic expanding, expand_start, write;
  word_t kappa, constant;
  logic [4:0] constant_rotate;
  kind_e constant_kind;
  logic [3:0] write_quad;
  logic [2:0] write_call;
  word_t word;

  assign wipe = wipe_i || purge_q;

  cast256_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i     (wipe),
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .advance_i  (1'b1),
    .busy_o     (expanding),
    .start_o    (expand_start),
    .target_o   (kappa),
    .word_i     (word),
    .kind_o     (constant_kind),
    .mask_o     (constant),
    .rotate_o   (constant_rotate),
    .write_o    (write),
    .quad_o     (write_quad),
    .call_o     (write_call)
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

  assign block_valid_o = valid_q;
  assign block_ready_o = primed_q && !busy_q && !turn && (!valid_q || block_ready_i);
  assign accept        = block_valid_i && block_ready_o;

  assign turn          = !busy_q && decrypt_i != decrypt_q;
  assign decrypt_d     = decrypt_q ^ turn;

  // Round keys are fetched in a ring, one round ahead.
  assign fetch         = accept || (busy_q && !last_q) || (!primed_q && !expanding);

  // Within a quad, forward or backward.
  assign backward_d    = round_q >= 6'd24;
  assign place         = round_q[1:0] ^ {2{backward_d}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q    <= 1'b1;
      decrypt_q  <= 1'b0;
      busy_q     <= 1'b0;
      last_q     <= 1'b0;
      valid_q    <= 1'b0;
      primed_q   <= 1'b0;
      final_q    <= 1'b0;
      backward_q <= 1'b0;
      away_q     <= 1'b0;
      round_q    <= '0;
      next_q     <= Kind1;
    end else begin
      purge_q   <= 1'b0;
      decrypt_q <= decrypt_d;
      busy_q    <= (accept || (busy_q && !last_q)) && !wipe;
      last_q    <= busy_q && final_q && !wipe;
      valid_q   <= (last_q || (valid_q && !block_ready_i)) && !wipe;
      if (key_valid_i || wipe || turn || expanding) begin
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
      if (expanding) next_q <= constant_kind;
      else if (fetch) next_q <= kind_e'(place == 2'd3 ? Kind1 : kind_e'(place));
    end
  end

  // -- round keys: 12 quads of 4 ----------------------------------------------------------------------------

  (* ram_style = "distributed" *)
  word_t masks[64];
  (* ram_style = "distributed" *)
  logic [4:0] rotations[64];
  word_t mask_q;
  logic [4:0] rotate_q;
  logic [5:0] read_index;

  assign read_index = {decrypt_q ? 4'd11 - round_q[5:2] : round_q[5:2], place};

  // A quad's round keys come as rotation 3, masking 1, rotation 2, masking 2, .. rotation 0, masking 0.
  always_ff @(posedge clk_i) begin
    if (write && write_call[0]) masks[{write_quad, write_call[2:1]+2'd1}] <= word;
    if (write && !write_call[0]) rotations[{write_quad, ~write_call[2:1]}] <= word[4:0];
    if (expanding) begin
      mask_q   <= constant;
      rotate_q <= constant_rotate;
    end else if (fetch) begin
      mask_q   <= masks[read_index];
      rotate_q <= rotations[read_index];
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
    if (!busy_q) target = swap(block_i[127:96]);
    if (expanding) target = kappa;
    feed = target;
    if (away_q) feed = backward_q ? words_q[2] : words_q[0];
  end

  cast_loop u_loop (
    .clk_i,
    .live_i     (live),
    .target_i   (target),
    .word_o     (word),
    .feed_live_i(live && !away_q),
    .feed_i     (feed),
    .next_i     (next_q),
    .mask_i     (mask_q),
    .rotate_i   (rotate_q)
  );

  // What is taken while no block comes does no harm.
  always_ff @(posedge clk_i) begin
    if (wipe) begin
      words_q <= '{default: '0};
    end else if (!valid_q || block_ready_i) begin
      if (!busy_q) begin
        words_q[0] <= word;
        words_q[1] <= swap(block_i[95:64]);
        words_q[2] <= swap(block_i[63:32]);
        words_q[3] <= swap(block_i[31:0]);
      end else if (backward_q) begin
        words_q <= '{words_q[3], word, words_q[1], words_q[2]};
      end else begin
        words_q <= '{word, words_q[2], words_q[3], words_q[0]};
      end
    end
  end

  assign block_o = {swap(words_q[0]), swap(words_q[1]), swap(words_q[2]), swap(words_q[3])};

  logic unused;
  assign unused = ^{key_decrypt_i, key_index_i[2]};

endmodule

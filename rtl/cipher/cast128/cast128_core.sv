// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 (RFC 2144), both directions, one round per clock: 12 rounds for keys of up to 80 bits, else 16.
// Decryption is the same with the round keys in reverse order. The address registers of the S-boxes hold the
// half that is being looked up, already masked and rotated.
//
// Cycles per block: 17, with keys of 5 to 10 bytes 13; the next block enters in the clock in which the result
// leaves. A fresh key, its one or two beats included, costs 136
// or 137 clocks, whatever comes first; without one, 1 when the direction changes.
module cast128_core
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

  input  logic        block_valid_i,
  output logic        block_ready_o,
  input  logic [63:0] block_i,
  input  logic        decrypt_i,

  output logic        block_valid_o,
  input  logic        block_ready_i,
  output logic [63:0] block_o
);

  logic purge_q, wipe;  // the first clock after a reset; that or a wipe
  logic short_q;  // 12 rounds
  logic expanding;
  logic write, rotation;
  logic [3:0] write_index;
  word_t written;

  assign wipe = wipe_i || purge_q;

  cast128_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i     (wipe),
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[0]),
    .key_last_i,
    .key_len_i  (key_len_i[4:0]),
    .busy_o     (expanding),
    .write_o    (write),
    .rotation_o (rotation),
    .index_o    (write_index),
    .word_o     (written)
  );

  // -- control --------------------------------------------------------------------------------------------

  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic accept, fetch;
  logic busy_q, last_q, valid_q;
  logic primed_q;  // key_q is the first round key of decrypt_q
  logic final_q;  // key_q is the last one
  logic [3:0] first, final_, index_q;  // the round key that key_q takes next
  kind_e next_q;  // of the round of key_q

  assign block_valid_o = valid_q;
  assign block_ready_o = primed_q && !busy_q && !turn && (!valid_q || block_ready_i);
  assign accept        = block_valid_i && block_ready_o;

  assign turn          = !busy_q && decrypt_i != decrypt_q;
  assign decrypt_d     = decrypt_q ^ turn;

  // Round keys are fetched in a ring, one round ahead.
  assign fetch         = accept || (busy_q && !last_q) || (!primed_q && !expanding);
  assign first         = decrypt_q ? (short_q ? 4'd11 : 4'd15) : 4'd0;
  assign final_        = decrypt_q ? 4'd0 : (short_q ? 4'd11 : 4'd15);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q   <= 1'b1;
      short_q   <= 1'b0;
      decrypt_q <= 1'b0;
      busy_q    <= 1'b0;
      last_q    <= 1'b0;
      valid_q   <= 1'b0;
      primed_q  <= 1'b0;
      final_q   <= 1'b0;
      index_q   <= '0;
      next_q    <= Kind1;
    end else begin
      purge_q   <= 1'b0;
      decrypt_q <= decrypt_d;
      busy_q    <= (accept || (busy_q && !last_q)) && !wipe;
      last_q    <= busy_q && final_q && !wipe;
      valid_q   <= (last_q || (valid_q && !block_ready_i)) && !wipe;
      if (key_valid_i) short_q <= key_len_i <= 6'd10;
      if (key_valid_i || wipe || turn || expanding) begin
        primed_q <= 1'b0;
        final_q  <= 1'b0;
        index_q  <= decrypt_d ? (short_q ? 4'd11 : 4'd15) : 4'd0;
      end else if (fetch) begin
        primed_q <= 1'b1;
        final_q  <= index_q == final_;
        next_q   <= cast128_kind(index_q);
        if (index_q == final_) index_q <= first;
        else index_q <= decrypt_q ? index_q - 4'd1 : index_q + 4'd1;
      end
    end
  end

  // -- round keys -----------------------------------------------------------------------------------------

  (* ram_style = "distributed" *)
  word_t masks[16];
  (* ram_style = "distributed" *)
  logic [4:0] rotations[16];
  word_t mask_q;
  logic [4:0] rotate_q;

  always_ff @(posedge clk_i) begin
    if (write && !rotation) masks[write_index] <= written;
    if (write && rotation) rotations[write_index] <= written[4:0];
    if (fetch) begin
      mask_q   <= masks[index_q];
      rotate_q <= rotations[index_q];
    end
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  word_t left_q, right_q, target, word;

  assign target = busy_q ? left_q : swap(block_i[63:32]);

  cast_loop u_loop (
    .clk_i,
    .live_i     (busy_q),
    .target_i   (target),
    .word_o     (word),
    .feed_live_i(busy_q),
    .feed_i     (target),
    .next_i     (next_q),
    .mask_i     (mask_q),
    .rotate_i   (rotate_q)
  );

  // What is taken while no block comes does no harm.
  always_ff @(posedge clk_i) begin
    if (wipe) begin
      left_q  <= '0;
      right_q <= '0;
    end else if (!valid_q || block_ready_i) begin
      left_q  <= busy_q ? right_q : swap(block_i[31:0]);
      right_q <= word;
    end
  end

  assign block_o = {swap(left_q), swap(right_q)};

  logic unused;
  assign unused = ^{key_decrypt_i, key_index_i[2:1], key_len_i[5]};

endmodule

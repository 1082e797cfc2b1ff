// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 (RFC 2144), both directions, one round per clock: 12 rounds for keys of up to 80 bits, else 16.
// Decryption is the same with the round keys in reverse order. The address registers of the S-boxes hold the
// half that is being looked up, already masked and rotated.
//
// Cycles per block: 17, with keys of 5 to 10 bytes 13; the next block enters in the clock in which the result
// leaves. A fresh key, its one or two beats included, costs 136
// or 137 clocks, whatever comes first; without one, 1 when the direction changes.
//
// A clear takes 20 clocks: 16 round keys, and what is read.
module cast128_core
  import core_pkg::*;
  import cast_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  logic  short_q;  // 12 rounds
  logic  expanding;
  made_t made;

  cast128_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i (core_key(req_i)),
    .busy_o(expanding),
    .made_o(made)
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

  assign rsp_o.result_valid = valid_q;
  assign rsp_o.block_ready  = primed_q && !busy_q && !turn && (!valid_q || req_i.result_ready);
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  assign turn               = !busy_q && req_i.decrypt != decrypt_q;
  assign decrypt_d          = decrypt_q ^ turn;

  // Round keys are fetched in a ring, one round ahead.
  assign fetch              = accept || (busy_q && !last_q) || (!primed_q && !expanding);
  assign first              = decrypt_q ? (short_q ? 4'd11 : 4'd15) : 4'd0;
  assign final_             = decrypt_q ? 4'd0 : (short_q ? 4'd11 : 4'd15);

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
      short_q   <= 1'b0;
      decrypt_q <= 1'b0;
      last_q    <= 1'b0;
      primed_q  <= 1'b0;
      final_q   <= 1'b0;
      index_q   <= '0;
      next_q    <= Kind1;
    end else begin
      decrypt_q <= decrypt_d;
      last_q    <= busy_q && final_q;
      if (req_i.key_valid) short_q <= req_i.key_len <= 6'd10;
      if (req_i.key_valid || turn || expanding) begin
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

  word_t mask, mask_q;
  logic [4:0] rotate, rotate_q;

  cast_core_keys #(
    .Depth(16)
  ) u_keys (
    .clk_i,
    .clear_i,
    .made_i   (made),
    .read_at_i(index_q),
    .mask_o   (mask),
    .rotate_o (rotate)
  );

  always_ff @(posedge clk_i) begin
    if (fetch) begin
      mask_q   <= mask;
      rotate_q <= rotate;
    end
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  word_t left_q, right_q, target, word;

  assign target = busy_q ? left_q : swap(req_i.block[63:32]);

  cast_loop u_loop (
    .clk_i,
    .way_i ('{live: busy_q, target: target, feed_live: busy_q, feed: target}),
    .word_o(word),
    .key_i ('{kind: next_q, mask: mask_q, rotate: rotate_q})
  );

  // What is taken while no block comes does no harm.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      left_q  <= '0;
      right_q <= '0;
    end else if (!valid_q || req_i.result_ready) begin
      left_q  <= busy_q ? right_q : swap(req_i.block[31:0]);
      right_q <= word;
    end
  end

  assign rsp_o.result = {64'd0, swap(left_q), swap(right_q)};

endmodule

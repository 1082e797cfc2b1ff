// SPDX-License-Identifier: Apache-2.0
//
// The round that CAST-128 and CAST-256 share, for rings of four stages, as a loop cut open where the lookups begin:
//   lookups | combined to f | target ^ f, the new word -> masked with the next key | rotated -> lookups
// The three kinds of f use the same adders. Of its two additions f1 and f2 do one in carry-save form, f3 in an
// adder of its own: every kind is then v - n with
//   f1  (S1 ^ S2) - S3 + S4    v, n: carry-save form of S1 ^ S2, ~S3, S4
//   f2  (S1 - S2 + S3) ^ S4    v, n: carry-save form of S1, ~S2, S3; S4 joins the target
//   f3  ((S1 + S2) ^ S3) - S4  v = (S1 + S2) ^ S3, n = S4
// and the masking is one more adder: exclusive-or by adding zero, Km - D as Km + ~D + 1.
//
// Clocks from lookup to lookup: 4. An input belongs to the stage that it is listed under.
module cast_round
  import core_pkg::*;
  import cast_pkg::*;
(
  input logic   clk_i,
  input clear_t clear_i,

  // Combination: of the lookups that came out a clock ago.
  input kind_e kind_i,

  // New word, a clock later; kind and masking are of the next round, and so is the rotation, a clock later still.
  input  way_t       way_i,
  input  round_key_t key_i,
  output word_t      word_o
);

  // -- lookups --------------------------------------------------------------------------------------------

  word_t address;
  word_t [3:0] entry, s;

  cast_lookup u_lookup (
    .clk_i,
    .address_i(address),
    .entry_o  (entry)
  );

  always_ff @(posedge clk_i) s <= entry;

  // -- combination ----------------------------------------------------------------------------------------

  logic is2, is3;
  word_t sum, half, x, y, carry;
  word_t v, n, late;

  assign is2   = kind_i == Kind2;
  assign is3   = kind_i == Kind3;

  assign sum   = s[0] + s[1];
  // Of the carry-save form, the sums; S3 still to come, as for f3.
  assign half  = ~(s[0] ^ s[1] ^ (s[3] & ~{32{is2}}));
  // And the carries: the majority of x, y and S3 (f1: its complement).
  assign x     = is2 ? s[0] : s[0] ^ s[1];
  assign y     = is2 ? ~s[1] : s[3];
  assign carry = (x & y) | ((x | y) & (s[2] ^ ~{32{is2}}));

  always_ff @(posedge clk_i) begin
    v    <= (is3 ? sum : half) ^ s[2];
    n    <= is3 ? s[3] : ~(carry << 1);
    late <= s[3] & {32{is2}};
  end

  // -- the new word, and the next one to look up ------------------------------------------------------------

  word_t f, operand, masked_d, masked;
  logic next2, next3;
  logic unused;

  assign next2 = key_i.kind == Kind2;
  assign next3 = key_i.kind == Kind3;

  assign f = v - n;
  assign word_o = (f & {32{way_i.live}}) ^ (way_i.target ^ (late & {32{way_i.live}}));

  assign operand =
      (f & {32{way_i.feed_live}}) ^
      (way_i.feed ^ (late & {32{way_i.feed_live}}) ^ ((key_i.mask & {32{next2}}) | {32{next3}}));
  assign {masked_d, unused} = {operand, 1'b1} + {key_i.mask & ~{32{next2}}, next3};

  // What is looked up makes what is looked up next: that goes round until it is broken here.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) masked <= '0;
    else masked <= masked_d;
  end

  assign address = rotate_left(masked, key_i.rotate);

endmodule

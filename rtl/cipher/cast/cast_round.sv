// SPDX-License-Identifier: Apache-2.0
//
// The round that CAST-128 and CAST-256 share, as a loop cut open where the lookups begin:
//   four lookups -> combined to f -> target ^ f, the new word -> masked with the next key -> rotated -> lookups
// The three kinds of f use the same adders. Of its two additions f1 and f2 do one in carry-save form, f3 in an
// adder of its own: every kind is then v - n with
//   f1  (S1 ^ S2) - S3 + S4    v, n: carry-save form of S1 ^ S2, ~S3, S4
//   f2  (S1 - S2 + S3) ^ S4    v, n: carry-save form of S1, ~S2, S3; S4 joins the target
//   f3  ((S1 + S2) ^ S3) - S4  v = (S1 + S2) ^ S3, n = S4
// and the masking is one more adder: exclusive-or by adding zero, Km - D as Km + ~D + 1.
//
// Clocks from lookup to lookup: Stages. An input belongs to the stage that it is listed under; with one stage
// they all belong to the same clock.
module cast_round
  import cast_pkg::*;
#(
  // 1: no registers but those of the lookups. 2: also behind v and n. 3: also behind the lookups, in front of
  // the adders. 4: also in front of the rotation.
  parameter int unsigned Stages = 1
) (
  input logic clk_i,

  // Combination: of the lookups that come out (3 and more stages: came out a clock ago).
  input kind_e kind_i,

  // New word: target_i ^ f, and target_i as it is if not live_i. With more than one stage, a clock later.
  input  logic  live_i,
  input  word_t target_i,
  output word_t word_o,

  // What the next round looks up comes from feed_i ^ f, or from feed_i alone, and from its key.
  input logic  feed_live_i,
  input word_t feed_i,
  input kind_e next_i,
  input word_t mask_i,

  // Rotation: of the next round; with 4 stages a clock later still.
  input logic [4:0] rotate_i
);

  if (!(Stages inside {[1 : 4]})) begin : gen_illegal
    $error("cast_round: Stages must be 1 to 4");
  end

  // -- lookups --------------------------------------------------------------------------------------------

  word_t address;
  word_t [3:0] entry, s;

  cast_lookup u_lookup (
    .clk_i,
    .address_i(address),
    .entry_o  (entry)
  );

  if (Stages >= 3) begin : gen_lookup_stage
    always_ff @(posedge clk_i) s <= entry;
  end else begin : gen_no_lookup_stage
    assign s = entry;
  end

  // -- combination ----------------------------------------------------------------------------------------

  logic is2, is3;
  word_t sum, half, x, y, carry;
  word_t v_d, v, n_d, n, late_d, late;

  assign is2  = kind_i == Kind2;
  assign is3  = kind_i == Kind3;

  assign sum  = s[0] + s[1];
  // Of the carry-save form, the sums; S3 still to come, as for f3.
  assign half = ~(s[0] ^ s[1] ^ (s[3] & ~{32{is2}}));
  assign v_d  = (is3 ? sum : half) ^ s[2];
  // And the carries: the majority of x, y and S3 (f1: its complement).
  assign x    = is2 ? s[0] : s[0] ^ s[1];
  assign y    = is2 ? ~s[1] : s[3];
  assign carry  = (x & y) | ((x | y) & (s[2] ^ ~{32{is2}}));
  assign n_d    = is3 ? s[3] : ~(carry << 1);
  assign late_d = s[3] & {32{is2}};

  if (Stages >= 2) begin : gen_combine_stage
    always_ff @(posedge clk_i) begin
      v    <= v_d;
      n    <= n_d;
      late <= late_d;
    end
  end else begin : gen_no_combine_stage
    assign v    = v_d;
    assign n    = n_d;
    assign late = late_d;
  end

  // -- the new word, and the next one to look up ------------------------------------------------------------

  word_t f, operand, masked_d, masked;
  logic next2, next3;
  logic unused;

  assign next2 = next_i == Kind2;
  assign next3 = next_i == Kind3;

  assign f = v - n;
  assign word_o = (f & {32{live_i}}) ^ (target_i ^ (late & {32{live_i}}));

  assign operand =
      (f & {32{feed_live_i}}) ^
      (feed_i ^ (late & {32{feed_live_i}}) ^ ((mask_i & {32{next2}}) | {32{next3}}));
  assign {masked_d, unused} = {operand, 1'b1} + {mask_i & ~{32{next2}}, next3};

  if (Stages >= 4) begin : gen_mask_stage
    always_ff @(posedge clk_i) masked <= masked_d;
  end else begin : gen_no_mask_stage
    assign masked = masked_d;
  end

  assign address = rotate_left(masked, rotate_i);

endmodule

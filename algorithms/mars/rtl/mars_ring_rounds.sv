// SPDX-License-Identifier: Apache-2.0
//
// A keyed round as nine pipeline stages, closed to a ring.
//   stage 0   P: A, in decryption rotated by 19 (the rotation by 13 then gives A)
//   stage 1   sum with the first key
//   stage 2   products with the second key; address of the lookup
//   stage 3   R, the sum of the products; the lookup
//   stage 4   L is the xor of the word with R <<< 5 and R <<< 10; first rotations of L and M
//   stage 5   the next ones
//   stage 6   the last one of L; sum of C and M; xor of D (forward) or B with R <<< 10
//   stage 7   sum of L and B (forward) or D
//   stage 8   the door
// Decryption subtracts: L and M are complemented on their way.
//
// Latency: 9 clocks.
module mars_ring_rounds
  import mars_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  // By stage: of the block in it, and which of its 16 rounds that is.
  input logic [8:0]      decrypt_i,
  input logic [7:0][3:0] round_i,

  // For stage 1; the words beside the rounds are not looked at.
  input ring_keys_t keys_i,

  // At the door, in stage 8: another block enters; the one in it leaves, as `words_o`, which is zero otherwise.
  input  logic   enter_i,
  input  block_t words_i,
  output block_t words_o,

  // A lookup of the key schedule, as an address of mars_sbox; the word two clocks later.
  input  logic  [9:0] lookup_address_i,
  output word_t       lookup_o
);

  function automatic word_t sum(input word_t x, input word_t y, input logic carry);
    return 32'(({x, 1'b1} + {y, carry}) >> 1);
  endfunction

  // Words B, C, D; A is P from stage 1 on.
  block_t s0_q, s1_q, s2_q, s3_q, s4_q, s5_q, s6_q, s8_q;
  word_t a7_q, b7_q, c7_q, d7_q;
  block_t made;
  word_t key2_q, sum2_q, sum3_q, sum4_q;
  logic [31:0] low3_q;
  logic [15:0] left3_q, right3_q;
  word_t product4_q, found, found4_q, lookup;
  word_t r10, mixed, l5_q, m5_q, r5_q, l6_q, m6_q, r6_q, last;
  logic [2:0] l_amount5_q;
  logic [1:0] m_amount5_q;
  logic l_amount6_q;
  word_t l7_b_q, l7_d_q, factor;
  logic b_carry_q, d_carry_q;

  mars_sbox #(
    .Complement(1'b0)
  ) u_sbox (
    .clk_i,
    .a_i({1'b0, sum2_q[8:0]}),
    .b_i(lookup_address_i),
    .a_o(found),
    .b_o(lookup)
  );

  // The memory's own registers; they cannot be reset.
  always_ff @(posedge clk_i) begin
    found4_q <= found;
    lookup_o <= lookup;
  end

  assign factor = rol(s2_q[0], 13);
  assign r10    = rol(product4_q, 10);
  assign mixed  = found4_q ^ rol(product4_q, 5) ^ r10;
  assign last   = rotate(l6_q, {l_amount6_q, 4'h0}) ^ {32{decrypt_i[6]}};
  assign made   = {a7_q, sum(d7_q, l7_d_q, d_carry_q), c7_q, sum(b7_q, l7_b_q, b_carry_q)};

  always_ff @(posedge clk_i) begin
    b_carry_q <= decrypt_i[6] && !round_i[6][3];
    d_carry_q <= decrypt_i[6] && round_i[6][3];
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      s0_q        <= '0;
      s1_q        <= '0;
      s2_q        <= '0;
      s3_q        <= '0;
      s4_q        <= '0;
      s5_q        <= '0;
      s6_q        <= '0;
      s8_q        <= '0;
      a7_q        <= '0;
      b7_q        <= '0;
      c7_q        <= '0;
      d7_q        <= '0;
      key2_q      <= '0;
      sum2_q      <= '0;
      sum3_q      <= '0;
      sum4_q      <= '0;
      low3_q      <= '0;
      left3_q     <= '0;
      right3_q    <= '0;
      product4_q  <= '0;
      l5_q        <= '0;
      m5_q        <= '0;
      r5_q        <= '0;
      l_amount5_q <= '0;
      m_amount5_q <= '0;
      l6_q        <= '0;
      m6_q        <= '0;
      r6_q        <= '0;
      l_amount6_q <= '0;
    end else begin
      s0_q        <= enter_i ? words_i : s8_q;
      s1_q        <= {s0_q[3:1], decrypt_i[0] ? rol(s0_q[0], 19) : s0_q[0]};
      // Into stage 2.
      s2_q        <= s1_q;
      sum2_q      <= s1_q[0] + keys_i.add;
      key2_q      <= keys_i.multiply;
      // 3: the low half of the product, from three of 16 x 16 bits
      s3_q        <= s2_q;
      sum3_q      <= sum2_q;
      low3_q      <= factor[15:0] * key2_q[15:0];
      left3_q     <= 16'(factor[31:16] * key2_q[15:0]);
      right3_q    <= 16'(factor[15:0] * key2_q[31:16]);
      // 4
      s4_q        <= s3_q;
      sum4_q      <= sum3_q;
      product4_q  <= {low3_q[31:16] + left3_q + right3_q, low3_q[15:0]};
      // 5
      s5_q        <= s4_q;
      l5_q        <= rotate(mixed, {3'b000, r10[1:0]});
      l_amount5_q <= r10[4:2];
      m5_q        <= rotate(sum4_q, {2'b00, product4_q[29:27]});
      m_amount5_q <= product4_q[31:30];
      r5_q        <= r10;
      // 6
      s6_q        <= s5_q;
      l6_q        <= rotate(l5_q, {1'b0, l_amount5_q[1:0], 2'b00});
      l_amount6_q <= l_amount5_q[2];
      m6_q        <= rotate(m5_q, {m_amount5_q, 3'b000}) ^ {32{decrypt_i[5]}};
      r6_q        <= r5_q;
      // 7
      a7_q        <= decrypt_i[6] ? s6_q[0] : rol(s6_q[0], 13);
      b7_q        <= s6_q[1] ^ (r6_q & {32{round_i[6][3]}});
      c7_q        <= sum(s6_q[2], m6_q, decrypt_i[6]);
      d7_q        <= s6_q[3] ^ (r6_q & {32{!round_i[6][3]}});
      // 8
      s8_q        <= made;
    end
    if (clear_i || round_i[6][3]) l7_b_q <= '0;
    else l7_b_q <= last;
    if (clear_i || !round_i[6][3]) l7_d_q <= '0;
    else l7_d_q <= last;
    if (clear_i || round_i[7] != 4'd15) words_o <= '0;
    else words_o <= made;
  end

  logic unused;
  assign unused = ^{decrypt_i, round_i, keys_i};

endmodule

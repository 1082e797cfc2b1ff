// SPDX-License-Identifier: Apache-2.0
//
// A mixing round as five pipeline stages, closed to a ring. The rounds of both kinds differ in what the bytes of
// A look up and in which of the words gains or loses it; what is subtracted comes complemented out of the S-box.
//   stage 0   addresses of the lookups
//   stage 1   the lookups
//   stage 2   xor to B, sum to C
//   stage 3   sum to B (forward) or D (backward), xor to D
//   stage 4   what an unkeyed addition or subtraction makes of the next D or A; the door
// In forward mixing A gains D or B when it is done with, in backward mixing it loses D or B before it is looked
// up, that is, at the end of the round before.
//
// Latency: 5 clocks.
module mars_ring_mixing
  import mars_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  // Rounds 0 to 7 are forward, 8 to 15 backward: of the blocks in stages 0, 2 and 3.
  input logic       backward0_i,
  input logic       backward2_i,
  input logic [3:0] round3_i,

  // At the door, in stage 4: the block in it leaves, as `words_o`; another one, one of these or zero, enters.
  input  logic   leave_i,
  input  block_t fresh_i,
  input  block_t back_i,
  output block_t words_o
);

  function automatic word_t sum(input word_t x, input word_t y, input logic carry);
    return 32'(({x, 1'b1} + {y, carry}) >> 1);
  endfunction

  block_t next, s0_q;
  block_t s1_q, s2_q;
  word_t xor_b, xor_d, add_c, add_l;
  word_t xor2_b_q, xor2_d_q, add2_c_q, add2_l_q;
  word_t a3_q, b3_q, c3_q, d3_q, xor3_q, add3_b_q, add3_d_q;
  word_t a4_q, b4_q, c4_q, d4_q;
  logic forward0;

  assign forward0 = !backward0_i;

  // To B or D (bytes 1 and 2), and to C (bytes 2 and 3).
  mars_sbox #(
    .Complement(1'b1)
  ) u_sbox_add (
    .clk_i,
    .a_i({!forward0, 1'b1, forward0 ? s0_q[0][15:8] : s0_q[0][23:16]}),
    .b_i({!forward0, 1'b0, forward0 ? s0_q[0][23:16] : s0_q[0][31:24]}),
    .a_o(add_l),
    .b_o(add_c)
  );

  // To B (byte 0), and to D (bytes 3 and 1).
  mars_sbox #(
    .Complement(1'b0)
  ) u_sbox_xor (
    .clk_i,
    .a_i({1'b0, !forward0, s0_q[0][7:0]}),
    .b_i({1'b0, forward0, forward0 ? s0_q[0][31:24] : s0_q[0][15:8]}),
    .a_o(xor_b),
    .b_o(xor_d)
  );

  // The memories' own registers; they cannot be reset.
  always_ff @(posedge clk_i) begin
    xor2_b_q <= xor_b;
    xor2_d_q <= xor_d;
    add2_c_q <= add_c;
    add2_l_q <= add_l;
  end

  // Who gains, or loses, what in stage 4; settled in stage 3.
  logic d_by_d_q, d_by_b_q, a_by_a_q, a_by_c_q;

  always_ff @(posedge clk_i) begin
    d_by_d_q <= round3_i inside {4'd0, 4'd4};
    d_by_b_q <= round3_i inside {4'd1, 4'd5};
    a_by_a_q <= round3_i inside {4'd9, 4'd13};
    a_by_c_q <= round3_i inside {4'd10, 4'd14};
  end

  word_t gained, lost;

  always_comb begin
    gained = (d4_q & {32{d_by_d_q}}) | (b4_q & {32{d_by_b_q}});
    lost   = (a4_q & {32{a_by_a_q}}) | (c4_q & {32{a_by_c_q}});
    next   = {sum(a4_q, gained, 1'b0), d4_q, c4_q, sum(b4_q, ~lost, 1'b1)};
  end

  assign words_o = {a4_q, d4_q, c4_q, b4_q};

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      s0_q   <= '0;
      s1_q   <= '0;
      s2_q   <= '0;
      a3_q   <= '0;
      b3_q   <= '0;
      c3_q   <= '0;
      d3_q   <= '0;
      xor3_q <= '0;
      a4_q   <= '0;
      b4_q   <= '0;
      c4_q   <= '0;
      d4_q   <= '0;
    end else begin
      s0_q   <= leave_i ? fresh_i | back_i : next;
      s1_q   <= {s0_q[3:1], rol(s0_q[0], forward0 ? 8 : 24)};
      s2_q   <= s1_q;
      a3_q   <= s2_q[0];
      b3_q   <= s2_q[1] ^ xor2_b_q;
      c3_q   <= sum(s2_q[2], add2_c_q, backward2_i);
      d3_q   <= s2_q[3];
      xor3_q <= xor2_d_q;
      a4_q   <= a3_q;
      b4_q   <= sum(b3_q, add3_b_q, 1'b0);
      c4_q   <= c3_q;
      d4_q   <= sum(d3_q, add3_d_q, round3_i[3]) ^ xor3_q;
    end
    if (clear_i || backward2_i) add3_b_q <= '0;
    else add3_b_q <= add2_l_q;
    if (clear_i || !backward2_i) add3_d_q <= '0;
    else add3_d_q <= add2_l_q;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 as a ring of six stages, one round, with as many blocks inside, each under a key of its own and in
// its own direction. A block goes round 21 times: once for the words in front of the rounds, then the rounds.
// With Way there is a seventh stage, in front of the first.
//   stage 1   multiply B and D
//   stage 2   join the products: t and u, and the amounts of the rotations
//   stage 3   xor with t and u (encryption), the first half of the rotations
//   stage 4   the second half
//   stage 5   add round keys (encryption)
//   stage 6   xor with u and t (decryption); the words change places; subtract round keys (decryption); the door
// Lane 0 makes the next D, lane 1 the next B: encryption from A and C, decryption from C and A. The next A and C
// are B and D, in decryption D and B. Encryption enters as (D, A, B, C), and its first turn adds S[1] and S[0] in
// the lanes; decryption subtracts S[43] and S[42] there. Behind the last turn, too, the words stand one further
// in decryption. Rotation to the right by n is one by ~n + 1 to the left.
//
// Cycles: a block every 21 clocks at full load; 128 (with Way 149) from the block to its result, in both
// directions and for every key length. Key set-up: see rc6_ring_keys.
//
// A clear takes a clock for each of 32 pairs of words for each key, and 8 more.
module rc6_ring
  import core_pkg::*;
  import rc6_pkg::*;
#(
  // Stages between the door and the multipliers, which may be far from all else on the device: 0 or 1.
  parameter int unsigned Way = 0,
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (!(Way inside {0, 1})) begin : gen_illegal_way
    $error("rc6_ring: Way must be 0 or 1");
  end

  localparam int unsigned Stages = 6 + Way;

  // -- the ring, a clock ahead of the data: its stage Way + s + 1 is data's stage s --------------------------

  ring_stage_t [Stages:1] stage;
  logic busy;
  word_t [3:0] result_q;

  ring_control #(
    .Stages(Stages),
    .Turns (Rounds + 1),
    .Tail  (2)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  ('{turns: 8'(Rounds), default: '0}),
    .stage_o (stage),
    .busy_i  (busy),
    .result_i(result_q),
    .rsp_o
  );

  // -- keys -----------------------------------------------------------------------------------------------

  word_t [1:0] lane_key, entry_key;

  rc6_ring_keys #(
    .Contexts(Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .busy_o (busy),
    .lane_i (stage[Way+4]),
    .lane_o (lane_key),
    .entry_i(stage[Way+5]),
    .entry_o(entry_key)
  );

  // -- data -----------------------------------------------------------------------------------------------

  // The words A, B, C, D are 0 to 3; B and D go along with lanes 1 and 0 (side 1, side 0). A name's number is
  // the stage that it goes into.
  word_t [3:0] in_q, p0_q, p1_q, p2_q, p3_q, next;
  word_t [1:0] low_q;
  logic [1:0][15:0] high_q;
  word_t [1:0] joined, product3_q, product4_q, product5_q, product6_q;  // of B and D
  logic [1:0][4:0] amount_d, amount3_q, amount4_q;
  word_t [1:0] opened, turned4_q, turned5_q, sum6_q;
  word_t [1:0] side4_q, side5_q, side6_q;
  logic decrypt6_q;

  always_comb begin
    for (int unsigned k = 0; k < 2; k++) begin
      joined[k] = rotl(join_products(low_q[k], high_q[k]), 5'd5);
    end
    for (int unsigned k = 0; k < 2; k++) begin
      if (stage[Way+3].first) amount_d[k] = {5{stage[Way+3].decrypt}};
      else amount_d[k] = stage[Way+3].decrypt ? ~joined[k][4:0] : joined[1-k][4:0];
      if (stage[Way+4].decrypt) opened[k] = {p3_q[2-2*k][30:0], p3_q[2-2*k][31]};
      else opened[k] = p3_q[2*k] ^ product3_q[k];
    end
    // Side 0 becomes the next A, side 1 the next C.
    for (int unsigned k = 0; k < 2; k++) begin
      next[2*k] = decrypt6_q ? side6_q[k] - entry_key[k] : side6_q[k] + entry_key[k];
    end
    next[1] = sum6_q[1] ^ product6_q[0];
    next[3] = sum6_q[0] ^ product6_q[1];
  end

  if (Way == 0) begin : gen_near
    assign p1_q = p0_q;
  end else begin : gen_far
    always_ff @(posedge clk_i) begin
      if (clear_i.active) p1_q <= '0;
      else p1_q <= p0_q;
    end
  end

  always_ff @(posedge clk_i) begin
    decrypt6_q <= stage[Stages].decrypt;
    if (clear_i.active) begin
      in_q       <= '0;
      p0_q       <= '0;
      p2_q       <= '0;
      p3_q       <= '0;
      low_q      <= '0;
      high_q     <= '0;
      product3_q <= '0;
      product4_q <= '0;
      product5_q <= '0;
      product6_q <= '0;
      amount3_q  <= '0;
      amount4_q  <= '0;
      turned4_q  <= '0;
      turned5_q  <= '0;
      sum6_q     <= '0;
      side4_q    <= '0;
      side5_q    <= '0;
      side6_q    <= '0;
      result_q   <= '0;
    end else begin
      in_q <= req_i.decrypt ? req_i.block : {req_i.block[95:0], req_i.block[127:96]};
      p0_q <= stage[1].first ? in_q : next;
      // Into stage 2.
      p2_q <= p1_q;
      for (int unsigned k = 0; k < 2; k++) begin
        low_q[k]  <= low_product(p1_q[2*k+1][15:0]);
        high_q[k] <= high_product(p1_q[2*k+1][31:16], p1_q[2*k+1][13:0]);
      end
      // 3
      p3_q      <= p2_q;
      amount3_q <= amount_d;
      if (stage[Way+3].first) product3_q <= '0;
      else product3_q <= joined;
      // 4
      for (int unsigned k = 0; k < 2; k++) turned4_q[k] <= rotl(opened[k], {3'b000, amount3_q[k][1:0]});
      amount4_q  <= amount3_q;
      product4_q <= product3_q;
      side4_q    <= {p3_q[3], p3_q[1]};
      // 5
      for (int unsigned k = 0; k < 2; k++) turned5_q[k] <= rotl(turned4_q[k], {amount4_q[k][4:2], 2'b00});
      product5_q <= product4_q;
      side5_q    <= side4_q;
      // 6
      for (int unsigned k = 0; k < 2; k++) begin
        sum6_q[k] <= stage[Way+6].decrypt ? turned5_q[k] - lane_key[k] : turned5_q[k] + lane_key[k];
      end
      if (!stage[Way+6].decrypt) product6_q <= '0;
      else product6_q <= product5_q;
      side6_q  <= stage[Way+6].decrypt ? {side5_q[0], side5_q[1]} : side5_q;
      result_q <= decrypt6_q ? {next[0], next[3:1]} : next;
    end
  end

  logic unused;
  assign unused = ^stage;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// CAST-256 (RFC 2612) as a ring of four pipeline stages with four blocks inside, each under a key of its own:
//   0 new word, masked for the next round   1 rotation   2 lookups   3 combination
// A block comes past the door, in front of stage 1, once a round. In the clock in which the last word of one
// block is made, what the first round of the next block looks up is masked: that one enters a turn before.
// A fresh key goes through the ring in the place of a block.
//
// Cycles: a block every 48 clocks, in both directions; 196 clocks from the block to its result. Key set-up: 776
// clocks and up to 5 from the last key beat; meanwhile three stages are for blocks.
//
// A clear takes a clock for each of 64 words for each key, and 8 more.
module cast256_ring
  import core_pkg::*;
  import cast_pkg::*;
#(
  // Keys that it holds: a power of two from 2 to 8.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (Contexts < 2 || Contexts > 8 || 2 ** $clog2(Contexts) != Contexts) begin : gen_illegal
    $error("cast256_ring: Contexts must be a power of two from 2 to 8");
  end

  localparam int unsigned Stages = 4;

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context

  // -- the ring: its stage 1 is where the lookups are, 2 the combination, 3 the new word, 4 the rotation -----

  // In the place of a block a fresh key may enter. It stays for more turns than any block, until it is done. Turns that
  // are left are rounds behind the one whose round key is for the masking at the end of this turn.
  ring_stage_t [Stages:1] stage;
  ring_door_t door;
  logic [Stages:1] keying;
  logic leave2_q, leave3_q;
  logic key_waits_q;  // a fresh key is to enter
  logic expanding, receiving_q;
  logic [127:0] result_q;

  always_comb begin
    for (int unsigned s = 1; s <= Stages; s++) keying[s] = stage[s].own[0];
    door.drop   = keying[Stages] && !expanding;
    door.other  = key_waits_q;
    door.turns  = key_waits_q ? '1 : 8'd47;
    door.enter  = 4'(key_waits_q);
    door.around = stage[Stages].own;
  end

  ring_control #(
    .Stages(Stages),
    .Turns (256),
    .Tail  (4)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  (door),
    .stage_o (stage),
    .busy_i  (expanding || receiving_q),
    .result_i(result_q),
    .rsp_o
  );

  // -- keys -----------------------------------------------------------------------------------------------

  logic expanding_q, advance, key_start, key_start_q;
  number_t context_q;
  made_t   round_key;
  word_t word, kappa, kappa_q;
  round_key_t constant, constant_q;

  cast256_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i     (ring_key(req_i)),
    .busy_o    (expanding),
    .advance_i (advance),
    .constant_o(constant),
    .start_o   (key_start),
    .target_o  (kappa),
    .word_i    (word),
    .made_o    (round_key)
  );

  assign advance = stage[3].valid && keying[3];

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      key_waits_q <= 1'b0;
      expanding_q <= 1'b0;
      receiving_q <= 1'b0;
      context_q   <= '0;
    end else begin
      if (req_i.key_valid) begin
        receiving_q <= !req_i.key_last;
        context_q   <= number_t'(req_i.key_context);
      end
      expanding_q <= expanding;
      key_waits_q <= (expanding && !expanding_q) || (key_waits_q && !stage[Stages].last);
    end
  end

  // 12 quads of 4 for each context. The quads behind the twelfth are zero; a fresh key reads those, and its constants
  // are put in behind the memory.
  logic backward1;
  logic [3:0] quad;
  word_t mask0, extra0_q;
  logic [4:0] rotate0, rotate1_q, extra_rotate0_q;

  // Decryption takes the quads in reverse order; the second half of them is computed backward.
  assign backward1 = stage[1].left < 8'd24;
  assign quad      = stage[1].decrypt ? stage[1].left[5:2] : 4'd11 - stage[1].left[5:2];

  cast_ring_keys #(
    .Depth(64 * Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .made_i    (round_key),
    .write_at_i({context_q, round_key.index}),
    .read_at_i ({number_t'(stage[1].key), quad | {4{keying[1]}}, stage[1].left[1:0] ^ {2{!backward1}}}),
    .mask_o    (mask0),
    .rotate_o  (rotate0)
  );

  kind_e kind0_q, kind1_q, kind2_q, kind3_q;  // in stage 0 of the next round, then of the one under way
  logic [1:0] place3;
  logic away3, away0_q, backward1_q, backward2_q, backward3_q, backward0_q;

  assign away3  = stage[2].left < 8'd24 && !keying[2];
  assign place3 = stage[2].left[1:0] ^ {2{!away3}};

  always_ff @(posedge clk_i) begin
    rotate1_q       <= rotate0 | extra_rotate0_q;
    extra0_q        <= constant_q.mask & {32{keying[2]}};
    extra_rotate0_q <= constant_q.rotate & {5{keying[2]}};
    kind0_q         <= keying[2] ? constant_q.kind : place3 == 2'd3 ? Kind1 : kind_e'(place3);
    kind1_q         <= kind0_q;
    kind2_q         <= kind1_q;
    kind3_q         <= kind2_q;
    // The next round is of a backward quad; so is the one under way.
    away0_q         <= away3;
    backward1_q     <= away0_q;
    backward2_q     <= backward1_q;
    backward3_q     <= backward2_q;
    backward0_q     <= backward3_q;
    leave2_q        <= stage[Stages].valid && stage[Stages].last;
    leave3_q        <= leave2_q;
    // As the schedule gives them: those of the round after the next.
    if (clear_i.active) constant_q <= '{kind: Kind1, default: '0};
    else if (advance) constant_q <= constant;
  end

  // -- data -----------------------------------------------------------------------------------------------

  word_t [3:0] made, state3, state0;
  word_t fresh3, target3, feed3;
  way_t way0_q;
  logic live3, enter3, enter0;

  assign enter3 = stage[2].first && !keying[2];
  assign enter0 = stage[3].first && !keying[3];
  assign live3  = !(keying[2] && key_start_q);

  // Forward quads rotate the words to the left, word 0 is looked up and word 1 is the target; backward quads
  // rotate them to the right, word 3 is looked up and word 0 is the target. In stage 3 it is known what stage 0
  // works on.
  always_comb begin
    target3 = backward3_q ? state3[0] : state3[1];
    // In the turn in which a key enters, the last round of the block before is computed.
    if (keying[2] && !leave3_q) target3 = kappa_q;
    feed3 = target3;
    if (enter3) feed3 = fresh3;
    else if (away3) feed3 = backward3_q ? state3[2] : state3[0];
    if (backward0_q) made = {state0[2], state0[1], word, state0[3]};
    else made = {state0[0], state0[3], state0[2], word};
  end

  cast_ring_state #(
    .Words(4)
  ) u_state (
    .clk_i,
    .clear_i,
    .fresh_i({
      swap(req_i.block[31:0]), swap(req_i.block[63:32]), swap(req_i.block[95:64]), swap(req_i.block[127:96])
    }),
    .enter0_i(enter0),
    .made_i(made),
    .fresh3_o(fresh3),
    .state3_o(state3),
    .state0_o(state0)
  );

  cast_round u_round (
    .clk_i,
    .clear_i,
    .kind_i(kind3_q),
    .way_i (way0_q),
    .key_i ('{kind: kind0_q, mask: mask0 | extra0_q, rotate: rotate1_q}),
    .word_o(word)
  );

  always_ff @(posedge clk_i) begin
    way0_q      <= '{live: live3, target: target3, feed_live: live3 && !enter3 && !away3, feed: feed3};
    // Steps of the key schedule are a turn long.
    kappa_q     <= kappa;
    key_start_q <= key_start;
    result_q    <= {swap(made[0]), swap(made[1]), swap(made[2]), swap(made[3])};
  end

  logic unused;
  assign unused = ^{state3, stage, keying};

endmodule

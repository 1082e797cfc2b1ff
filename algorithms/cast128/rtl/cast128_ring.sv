// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 (RFC 2144) as a ring of four pipeline stages with four blocks inside, each under a key of its own:
//   0 new word, masked for the next round   1 rotation   2 lookups   3 combination
// A block comes past the door, in front of stage 1, once a round. In the clock in which the last word of one
// block is made, what the first round of the next block looks up is masked: that one enters a turn before.
//
// Cycles: a block every 16 clocks, or 12 under keys of 5 to 10 bytes, in both directions; 68 or 52 clocks from
// the block to its result. Key set-up: 200 clocks from the last key beat, during which other blocks go on.
//
// A clear takes a clock for each of 16 words for each key, and 8 more.
module cast128_ring
  import core_pkg::*;
  import cast_pkg::*;
#(
  // Keys that it holds: a power of two from 2 to 32.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (Contexts < 2 || Contexts > 32 || 2 ** $clog2(Contexts) != Contexts) begin : gen_illegal
    $error("cast128_ring: Contexts must be a power of two from 2 to 32");
  end

  localparam int unsigned Stages = 4;

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context

  // -- the ring: its stage 1 is where the lookups are, 2 the combination, 3 the new word, 4 the rotation -----

  logic [Contexts-1:0] short_q;  // keys with 12 rounds
  number_t block_key, key_number;
  logic [3:0] final_index;
  ring_stage_t [Stages:1] stage;  // with the round key for the masking at the end of this turn
  ring_door_t door;
  logic expanding, receiving_q;
  logic [63:0] result_q;

  assign block_key   = number_t'(req_i.block_context);
  assign key_number  = number_t'(req_i.key_context);
  assign final_index = short_q[block_key] ? 4'd11 : 4'd15;

  always_comb begin
    door        = '{turns: 8'(final_index), default: '0};
    door.enter  = req_i.decrypt ? final_index : 4'd0;
    door.around = stage[Stages].decrypt ? stage[Stages].own - 4'd1 : stage[Stages].own + 4'd1;
  end

  ring_control #(
    .Stages(Stages),
    .Turns (16),
    .Tail  (4)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  (door),
    .stage_o (stage),
    .busy_i  (expanding || receiving_q),
    .result_i(128'(result_q)),
    .rsp_o
  );

  // -- keys -----------------------------------------------------------------------------------------------

  number_t context_q;
  made_t   round_key;
  word_t   mask0;
  logic [4:0] rotate0, rotate1_q;

  cast128_schedule #(
    .Phases(3)
  ) u_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i (ring_key(req_i)),
    .busy_o(expanding),
    .made_o(round_key)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      receiving_q <= 1'b0;
      context_q   <= '0;
      short_q     <= '0;
    end else if (clear_i.active) begin
      receiving_q <= 1'b0;
      context_q   <= '0;
      short_q     <= '0;
    end else if (req_i.key_valid) begin
      receiving_q         <= !req_i.key_last;
      context_q           <= key_number;
      short_q[key_number] <= req_i.key_len <= 6'd10;
    end
  end

  cast_ring_keys #(
    .Depth(16 * Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .made_i    (round_key),
    .write_at_i({context_q, round_key.index[3:0]}),
    .read_at_i ({number_t'(stage[1].key), stage[1].own}),
    .mask_o    (mask0),
    .rotate_o  (rotate0)
  );

  always_ff @(posedge clk_i) rotate1_q <= rotate0;

  kind_e kind0_q, kind1_q, kind2_q, kind3_q;  // in stage 0 of the next round, then of the one under way

  always_ff @(posedge clk_i) begin
    kind0_q <= cast128_kind(stage[2].own);
    kind1_q <= kind0_q;
    kind2_q <= kind1_q;
    kind3_q <= kind2_q;
  end

  // -- data: left and right --------------------------------------------------------------------------------

  word_t [1:0] made, state3, state0;
  word_t fresh3, word, feed0_q;

  cast_ring_state #(
    .Words(2)
  ) u_state (
    .clk_i,
    .clear_i,
    .fresh_i ({swap(req_i.block[31:0]), swap(req_i.block[63:32])}),
    .enter0_i(stage[3].first),
    .made_i  (made),
    .fresh3_o(fresh3),
    .state3_o(state3),
    .state0_o(state0)
  );

  cast_round u_round (
    .clk_i,
    .clear_i,
    .kind_i(kind3_q),
    .way_i ('{live: 1'b1, target: state0[1], feed_live: !stage[3].first, feed: feed0_q}),
    .key_i ('{kind: kind0_q, mask: mask0, rotate: rotate1_q}),
    .word_o(word)
  );

  assign made = {state0[0], word};

  always_ff @(posedge clk_i) begin
    feed0_q  <= stage[2].first ? fresh3 : state3[1];
    result_q <= {swap(made[1]), swap(made[0])};
  end

  logic unused;
  assign unused = ^{state3, stage};

endmodule

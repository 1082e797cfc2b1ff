// SPDX-License-Identifier: Apache-2.0
//
// The words of the blocks in the rings of CAST-128 and CAST-256, by stage:
//   0 new word, masked for the next round   1 rotation   2 lookups   3 combination
// The door is in front of stage 1. What comes in goes along for a turn before it is there: what its first round
// looks up is masked while the last word of the block before is made.
module cast_ring_state
  import core_pkg::*;
  import cast_pkg::*;
#(
  // Of a block.
  parameter int unsigned Words = 2
) (
  input logic   clk_i,
  input clear_t clear_i,

  // In stage 1, a turn ahead; and, in stage 0, whether it enters.
  input word_t [Words-1:0] fresh_i,
  input logic              enter0_i,
  // What stage 0 makes.
  input word_t [Words-1:0] made_i,

  // Of what comes in, word 0, which is looked up first.
  output word_t             fresh3_o,
  output word_t [Words-1:0] state3_o,
  output word_t [Words-1:0] state0_o
);

  word_t [Words-1:0] fresh2_q, fresh3_q, fresh0_q, state1_q, state2_q;

  always_ff @(posedge clk_i) begin
    fresh2_q <= fresh_i;
    fresh3_q <= fresh2_q;
    fresh0_q <= fresh3_q;
    if (clear_i.active) state1_q <= '0;
    else state1_q <= enter0_i ? fresh0_q : made_i;
    state2_q <= state1_q;
    state3_o <= state2_q;
    state0_o <= state3_o;
  end

  assign fresh3_o = fresh3_q[0];

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// MARS as two rings, one of five stages for the mixing rounds and one of nine for the keyed rounds, with 14
// blocks inside, each under a key of its own and in its own direction. A block goes 8 times round the first,
// 16 times round the second, and 8 times round the first again. Both lengths are odd: if a block enters every
// 16 clocks, no two of them ever want the same stage, and both rings are always full. So all that happens is
// settled by a clock that counts to 16, and there is no state but what goes along with a block.
//
// The words K[0] to K[3] are added on the way in, one a clock, K[36] to K[39] taken off on the way out. A block
// to be decrypted goes through with its words in opposite order; then both kinds of mixing are as in encryption.
//
// Cycles: a block every 16 clocks; 239 from the block to its result, in both directions and for every key
// length. Key set-up: see mars_ring_keys.
//
// A clear takes a clock for each of 16 words for each key, and 8 more.
module mars_ring
  import core_pkg::*;
  import mars_pkg::*;
#(
  // Clocks by which it is ahead of a ring beside it: their doors open in different ones.
  parameter int unsigned Phase    = 0,
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (Contexts < 2 || Contexts > 16 || 2 ** $clog2(Contexts) != Contexts) begin : gen_illegal
    $error("mars_ring: Contexts must be a power of two from 2 to 16");
  end

  typedef struct packed {
    logic     valid;
    logic     decrypt;
    context_t key;
  } along_t;

  // -- the clock, and the rounds that the stages work on ----------------------------------------------------

  // When it is 7 a block is taken, in 15 it is in stage 0 for its first round; it leaves the other end in 14.
  // Seen from a stage a round later is 5 clocks later, or 9: so it is 13, or 9, rounds more every clock.
  logic [3:0] time_q;
  logic [4:0][3:0] mix_q;  // by stage of the mixing ring
  logic [7:0][3:0] round_q;  // by stage of the other, as far as it matters
  logic [3:0] round_next;
  logic half, whole;  // a block leaves the mixing ring, for the other one or for good

  assign round_next = round_q[0] + 4'd9;
  assign half       = mix_q[4] == 4'd7;
  assign whole      = mix_q[4] == 4'd15;

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      time_q  <= 4'(Phase);
      mix_q   <= {16'h0, 4'(13 * (Phase + 1))};
      round_q <= {28'h0, 4'(9 * Phase + 1)};
    end else begin
      time_q  <= time_q + 4'd1;
      mix_q   <= {mix_q[3:0], mix_q[0] + 4'd13};
      round_q <= {round_q[6:0], round_next};
    end
  end

  // -- what goes along with the blocks ----------------------------------------------------------------------

  along_t [4:0] mixing_q;
  along_t [8:0] keyed_q;
  along_t entering_q, leaving_q, keyed_next;
  logic [3:0] ticket_q;  // given in turn, one every 16 clocks
  logic take, result_valid_q;
  logic [3:0] result_ticket_q;

  assign take               = time_q == 4'd7;
  assign rsp_o.block_ready  = take;
  assign rsp_o.block_ticket = ticket_t'(ticket_q);
  assign keyed_next         = half ? mixing_q[4] : keyed_q[8];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      result_valid_q <= 1'b0;
    end else begin
      result_valid_q <= leaving_q.valid && time_q == 4'd5 && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      mixing_q        <= '0;
      keyed_q         <= '0;
      entering_q      <= '0;
      leaving_q       <= '0;
      ticket_q        <= '0;
      result_ticket_q <= '0;
    end else begin
      mixing_q <= {mixing_q[3:0], whole ? entering_q : half ? keyed_q[8] : mixing_q[4]};
      keyed_q  <= {keyed_q[7:0], keyed_next};
      if (take) begin
        entering_q <= '{valid: req_i.block_valid, decrypt: req_i.decrypt, key: req_i.block_context};
        ticket_q   <= ticket_q + 4'd1;
      end
      if (whole) leaving_q <= mixing_q[4];
      // 15 numbers have been given since.
      result_ticket_q <= ticket_q + 4'd1;
    end
  end

  assign rsp_o.result_valid  = result_valid_q;
  assign rsp_o.result_ticket = ticket_t'(result_ticket_q);

  // -- keys -----------------------------------------------------------------------------------------------

  logic [9:0] lookup_address;
  word_t lookup;
  ring_at_t at;
  ring_keys_t keys;
  along_t white_block;
  logic [1:0] enter_order, leave_order;

  // From 8 to 11 for the block that enters, from 0 to 3 for the one that leaves.
  assign white_block = time_q[3] ? entering_q : leaving_q;
  assign at = '{
      key: keyed_next.key,
      index: round_next ^ {4{keyed_next.decrypt}},
      white_key: white_block.key,
      upper: white_block.decrypt == time_q[3],
      white: time_q[1:0] ^ {2{time_q[3] && entering_q.decrypt}}
    };

  mars_ring_keys #(
    .Contexts(Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .busy_o          (rsp_o.key_busy),
    .lookup_address_o(lookup_address),
    .lookup_i        (lookup),
    .at_i            (at),
    .keys_o          (keys)
  );

  logic unused;
  assign unused = white_block.valid;

  // -- data -----------------------------------------------------------------------------------------------

  block_t in_q, fresh_q, out_q, result_q, mixed, back;
  logic [8:0] keyed_decrypt;
  logic enter_q;  // a word of the block that enters has its key

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enter_q <= 1'b0;
    else enter_q <= entering_q.valid && time_q inside {[4'd9 : 4'd12]};
  end

  always_ff @(posedge clk_i) begin
    enter_order <= (time_q[1:0] - 2'd1) ^ {2{entering_q.decrypt}};
    leave_order <= (time_q[1:0] - 2'd1) ^ {2{leaving_q.decrypt}};
    if (clear_i.active) in_q <= '0;
    else if (take && req_i.block_valid) in_q <= req_i.block;
    // Zero but for the block that enters, as is what comes back from the other ring.
    if (clear_i.active || !enter_q) fresh_q <= '0;
    else fresh_q <= {in_q[enter_order] + keys.white, fresh_q[3:1]};
    if (clear_i.active) out_q <= '0;
    else if (whole) out_q <= mixed;
    if (clear_i.active) result_q <= '0;
    else result_q <= {out_q[leave_order] - keys.white, result_q[3:1]};
  end

  assign rsp_o.result = result_q;

  always_comb for (int unsigned s = 0; s < 9; s++) keyed_decrypt[s] = keyed_q[s].decrypt;

  mars_ring_mixing u_mixing (
    .clk_i,
    .clear_i(clear_i.active),
    .backward0_i(mix_q[0][3]),
    .backward2_i(mix_q[2][3]),
    .round3_i(mix_q[3]),
    .leave_i(half || whole),
    .fresh_i(fresh_q),
    .back_i(back),
    .words_o(mixed)
  );

  mars_ring_rounds u_rounds (
    .clk_i,
    .clear_i         (clear_i.active),
    .decrypt_i       (keyed_decrypt),
    .round_i         (round_q),
    .keys_i          (keys),
    .enter_i         (half),
    .words_i         (mixed),
    .words_o         (back),
    .lookup_address_i(lookup_address),
    .lookup_o        (lookup)
  );

endmodule

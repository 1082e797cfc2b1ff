// SPDX-License-Identifier: Apache-2.0
//
// Serpent as a ring of nine stages: eight rounds, each with the S-box that is its own, and the door. Nine blocks
// are in it, each under a key of its own, and pass it four times. A block comes past the door every nine clocks;
// after the fourth time it leaves and another may take its place.
//
// Cycles: a block every 4 clocks at full load, for every key size; 39 clocks from the block to its result.
// Key set-up: key_busy is high for 36 clocks behind the last key beat.
//
// A clear takes a clock for each of 8 words for each key, and 8 more.
module serpent_ring
  import core_pkg::*;
  import serpent_pkg::*;
#(
  // 0: encryption only, which is all that CTR needs.
  parameter bit Decrypt = 1'b1,
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  localparam int unsigned Stages = 9;
  // The step in which the last round key is about to be written.
  localparam logic [5:0] LastStep = 6'd35;

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context

  typedef struct packed {
    number_t key;
    logic    decrypt;
  } along_t;

  // What is to be done with a block.
  typedef struct packed {
    along_t     along;
    logic [1:0] pass;
  } way_t;

  // -- the ring -------------------------------------------------------------------------------------------

  // Stage s + 4 is the round of number s, and stage 3 the door of the data. A block is accepted at stage 9, in which
  // the last block may still be: it needs two clocks for its keys, and a third to be registered.
  ring_stage_t [Stages:1] stage;
  ring_rsp_t rsp;  // with tickets of the ring
  way_t [Stages:1] way;
  logic busy_q;  // a key is on its way
  block_t result_q;
  logic enter_q;  // the block in stage 3 comes in
  logic [2:1] leave_decrypt_q;  // of the block that was at the door of the ring one and two clocks ago

  ring_control #(
    .Stages (Stages),
    .Turns  (4),
    .Tail   (3),
    .Decrypt(Decrypt)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  ('{turns: 8'd3, default: '0}),
    .stage_o (stage),
    .busy_i  (busy_q),
    .result_i(result_q),
    .rsp_o   (rsp)
  );

  always_comb
    for (int unsigned s = 1; s <= Stages; s++)
      way[s] = '{
        along: '{key: number_t'(stage[s].key), decrypt: stage[s].decrypt},
        pass: ~stage[s].left[1:0]
      };

  always_ff @(posedge clk_i) begin
    enter_q         <= stage[2].first || !stage[2].valid;
    leave_decrypt_q <= {leave_decrypt_q[1], stage[Stages].decrypt};
  end

  // Blocks leave as they entered and get tickets one after the other; no more than eleven are on their way.
  logic [3:0] enter_ticket_q, result_ticket_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      enter_ticket_q  <= '0;
      result_ticket_q <= '0;
    end else begin
      if (req_i.block_valid && rsp.block_ready) enter_ticket_q <= enter_ticket_q + 4'd1;
      if (rsp.result_valid) result_ticket_q <= result_ticket_q + 4'd1;
    end
  end

  always_comb begin
    rsp_o               = rsp;
    rsp_o.block_ticket  = ticket_t'(enter_ticket_q);
    rsp_o.result_ticket = ticket_t'(result_ticket_q);
  end

  // -- keys -----------------------------------------------------------------------------------------------

  logic [5:0] step;
  number_t context_q;
  logic keys_valid;
  logic [5:0] keys_round;
  block_t [0:0] plain, merged;
  block_t [8:0] keys;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      context_q <= '0;
    end else if (clear_i.active) begin
      busy_q    <= 1'b0;
      context_q <= '0;
    end else if (req_i.key_valid) begin
      busy_q    <= 1'b1;
      context_q <= number_t'(req_i.key_context);
    end else if (step == LastStep) begin
      busy_q <= 1'b0;
    end
  end

  serpent_key_schedule #(
    .KeysPerClock(1),
    .Registered  (1'b1)
  ) u_key_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i   (ring_key(req_i)),
    .step_o  (step),
    .valid_o (keys_valid),
    .round_o (keys_round),
    .plain_o (plain),
    .merged_o(merged)
  );

  // A key is wanted two clocks after it has been asked for.
  serpent_key_memory #(
    .KeysPerClock(1),
    .Contexts    (Contexts),
    .Decrypt     (Decrypt)
  ) u_key_memory (
    .clk_i,
    .clear_i,
    .valid_i  (keys_valid),
    .context_i(context_q),
    .round_i  (keys_round),
    .plain_i  (plain),
    .merged_i (merged),
    .address_i({way[1], way[9:2]}),
    .key_o    (keys)
  );

  // -- data -------------------------------------------------------------------------------------------------

  block_t [2:0] block_q;
  block_t [1:0] sub;  // of encryption, and of decryption

  for (genvar d = 0; d < 2; d++) begin : gen_direction
    if (d == 0 || Decrypt) begin : gen_rounds
      serpent_rounds #(
        .Inverse  (d == 1),
        .Pipelined(1'b1)
      ) u_rounds (
        .clk_i,
        .clear_i (clear_i.active),
        .enable_i(1'b1),
        .door_i  (keys[8]),
        .keys_i  (keys[7:0]),
        .enter_i (enter_q),
        .block_i (block_q[2]),
        .sub_o   (sub[d])
      );
    end else begin : gen_none
      assign sub[d] = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      block_q  <= '0;
      result_q <= '0;
    end else begin
      block_q  <= {block_q[1:0], req_i.block};
      result_q <= sub[Decrypt&&leave_decrypt_q[2]] ^ keys[7];
    end
  end

  logic unused;
  assign unused = ^{stage, rsp};

endmodule

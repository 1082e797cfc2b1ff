// SPDX-License-Identifier: Apache-2.0
//
// AES (FIPS 197) as a ring of pipeline stages, with as many blocks inside, each under a key of its own, as the
// ring has stages: Unrolled rounds of four each. A block comes past the door every Unrolled rounds and leaves there
// after its last one. Decryption is the equivalent inverse cipher
// (5.3.5).
//
// Cycles: a block every 10, 12 or 14 / Unrolled clocks for 128, 192 or 256 key bits; 4 clocks a round + 4 from
// the block to its result. Key set-up: see aes_ring_keys.
module aes_ring
  import core_pkg::*;
  import aes_pkg::*;
#(
  // Rounds in a row: 1, 2, and with keys of 128 bits only, 5 or 10.
  parameter int unsigned Unrolled   = 1,
  // 0: encryption only, which is all that CTR needs.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // Keys that it holds.
  parameter int unsigned Contexts   = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (!(MaxKeyBits inside {128, 192, 256})) begin : gen_illegal_key
    $error("aes_ring: MaxKeyBits must be 128, 192 or 256");
  end
  if (!(Unrolled inside {1, 2}) && !(Unrolled inside {5, 10} && MaxKeyBits == 128)) begin : gen_illegal_unrolled
    $error("aes_ring: Unrolled must divide the rounds of every key size");
  end

  localparam int unsigned Stages = 4;  // of a round
  localparam int unsigned Ring = Unrolled * Stages;
  localparam int unsigned Turns = (MaxKeyBits / 32 + 6) / Unrolled;
  localparam int unsigned TurnBits = Turns > 1 ? $clog2(Turns) : 1;
  localparam int unsigned KeyBits = $clog2(Contexts);

  // -- the ring, some clocks ahead of the data ------------------------------------------------------------

  ring_stage_t [Ring:1] stage;
  logic [TurnBits-1:0] turns;  // that a new block needs, less one
  logic busy;
  block_t result_q;

  ring_control #(
    .Stages (Ring),
    .Turns  (Turns),
    .Tail   (Stages),
    .Decrypt(Decrypt)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  ('{turns: 8'(turns), default: '0}),
    .stage_o (stage),
    .busy_i  (busy),
    .result_i(result_q),
    .rsp_o
  );

  // Stage s of round u, clocks after the block's entry: for the last round, what came to the door.
  logic [Unrolled-1:0] mix_last, mix_decrypt;
  logic [2:1] tail_last_q, tail_decrypt_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      tail_last_q    <= '0;
      tail_decrypt_q <= '0;
    end else begin
      tail_last_q    <= {tail_last_q[1], stage[Ring].last};
      tail_decrypt_q <= {tail_decrypt_q[1], stage[Ring].decrypt};
    end
  end

  for (genvar u = 0; u < Unrolled; u++) begin : gen_mix
    if (u == Unrolled - 1) begin : gen_last
      assign mix_last[u]    = tail_last_q[2];
      assign mix_decrypt[u] = tail_decrypt_q[2];
    end else begin : gen_inner
      assign mix_last[u]    = 1'b0;
      assign mix_decrypt[u] = stage[Stages*(u+1)+2].decrypt;
    end
  end

  // -- keys -----------------------------------------------------------------------------------------------

  block_t white;
  block_t [Unrolled-1:0] round_key;
  logic [Unrolled-1:0][TurnBits-1:0] fetch_left;
  logic [Unrolled-1:0] fetch_decrypt;
  logic [Unrolled-1:0][KeyBits-1:0] fetch_context;

  for (genvar u = 0; u < Unrolled; u++) begin : gen_fetch
    assign fetch_left[u]    = stage[Stages*(u+1)].left[TurnBits-1:0];
    assign fetch_decrypt[u] = stage[Stages*(u+1)].decrypt;
    assign fetch_context[u] = stage[Stages*(u+1)].key[KeyBits-1:0];
  end

  aes_ring_keys #(
    .Unrolled  (Unrolled),
    .Decrypt   (Decrypt),
    .MaxKeyBits(MaxKeyBits),
    .Contexts  (Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i          (ring_key(req_i)),
    .key_context_i  (req_i.key_context[KeyBits-1:0]),
    .busy_o         (busy),
    .white_context_i(req_i.block_context[KeyBits-1:0]),
    .white_decrypt_i(Decrypt && req_i.decrypt),
    .turns_o        (turns),
    .white_o        (white),
    .left_i         (fetch_left),
    .decrypt_i      (fetch_decrypt),
    .context_i      (fetch_context),
    .round_key_o    (round_key)
  );

  // -- data -----------------------------------------------------------------------------------------------

  block_t block1_q, block2_q, entering_q;
  block_t [Unrolled-1:0] mixed, state;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      block1_q   <= '0;
      block2_q   <= '0;
      entering_q <= '0;
      result_q   <= '0;
    end else begin
      block1_q   <= req_i.block;
      block2_q   <= block1_q;
      entering_q <= block2_q ^ white;
      result_q   <= mixed[Unrolled-1] ^ round_key[Unrolled-1];
    end
  end

  for (genvar u = 0; u < Unrolled; u++) begin : gen_round
    // state[u] goes into round u.
    if (u == 0) begin : gen_first
      assign state[u] = stage[3].first ? entering_q : mixed[Unrolled-1] ^ round_key[Unrolled-1];
    end else begin : gen_inner
      assign state[u] = mixed[u-1] ^ round_key[u-1];
    end

    aes_ring_round #(
      .Decrypt(Decrypt)
    ) u_round (
      .clk_i,
      .clear_i,
      .look_valid_i  (stage[Stages*(u+1)-1].valid),
      .look_last_i   (u == Unrolled - 1 && stage[Stages*(u+1)-1].last),
      .look_decrypt_i(stage[Stages*(u+1)-1].decrypt),
      .state_i       (state[u]),
      .mix_last_i    (mix_last[u]),
      .mix_decrypt_i (mix_decrypt[u]),
      .mixed_o       (mixed[u])
    );
  end

  logic unused;
  assign unused = ^stage;

endmodule

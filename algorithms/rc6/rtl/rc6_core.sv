// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/r, both directions, a round in two clocks: one multiplies, the other rotates and adds. The number of rounds is
// in LUTs of which nothing but the contents depends on it (init_lut), so that one placed and routed design serves every
// number up to 20; what is said of clocks and words here is of 20.
//
// The words A, B, C, D stand in p[0] to p[3]. A move is a round without its multiplication: p[0] and p[2] each go
// through a lane (xor, rotate, xor, add) to their other neighbours, p[1] and p[3] through an adder at the entrance
// of p[0] and p[2]:
//   forward    p[3] <- lane 0 <- p[0] <- p[1] <- lane 1 <- p[2] <- p[3]
//   backward   p[3] <- lane 0 <- p[2] <- p[1] <- lane 1 <- p[0] <- p[3]
// Encryption: load, backward with S[0] and S[1] added at the entrances, forward, 20 rounds forward, the last with
// S[42] and S[43] added at the entrances. Decryption: load with S[42] and S[43] subtracted at the entrances,
// backward, 20 rounds backward, forward; each backward move subtracts at the entrances what the next round wants
// subtracted, the last one S[1] and S[0]. Rotation to the right by n is one by ~n + 1 to the left. A block's B and D
// are not yet in p[1] and p[3] in the first move, so that nothing but the adder stands before these.
//
// The key schedule runs beside the rounds (rc6_key_schedule): in its last pass it makes a pair of words in the two
// clocks in which a round uses one, so that a block to be encrypted enters when the first words are there. Decryption
// begins with the last ones, and waits.
//
// Cycles per block: 43 in both directions, feedback included: the next block enters in the clock in which the
// result leaves. A change of direction costs 4 clocks between two frames. A fresh key adds its beats and 95
// clocks to a frame that is encrypted, and 137 to one that is decrypted. All of it is independent of the data and
// of the key's length.
//
// A clear takes 68 clocks: 64 words of the key schedule's memory, the first again when nothing comes any more, and
// what is read.
module rc6_core
  import core_pkg::*;
  import rc6_pkg::*;
#(
  // From 4 to 20.
  parameter int unsigned RoundCount = Rounds
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  typedef enum logic [3:0] {
    Keying,    // no key, or too little of one
    Turn0,     // three clocks that bring the first words of a direction
    Turn1,
    Turn2,
    Waiting,
    Backward,  // the first move
    Forward,   // the second move of encryption, the last of decryption
    Multiply,
    Rotate
  } phase_e;

  if (!(RoundCount inside {[4 : Rounds]})) begin : gen_illegal
    $error("rc6_core: RoundCount must be from 4 to 20");
  end

  phase_e phase_d;
  // In its own code: coded anew, some of its bits would be kept beside the new ones, and proofs would find no match.
  (* fsm_encoding = "none" *)
  phase_e phase_q;
  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic valid_q;
  logic turn, accept, last;

  // The last pair of words of the expanded key; the one of the last round; the one before that.
  logic [4:0] final_pair, round_pair, before_pair;

  for (genvar i = 0; i < 5; i++) begin : gen_rounds
    localparam bit Bit = 1'((RoundCount + 1) >> i);

    (* keep *)
    init_lut #(
      .Init({16{Bit}})
    ) u_final (
      .in_i ('0),
      .out_o(final_pair[i])
    );
  end

  assign round_pair  = final_pair - 5'd1;
  assign before_pair = final_pair - 5'd2;

  // The words of the expanded key that come next. Encryption counts 0, 1 ... 20, 0; decryption 20 ... 0, 21, 20.
  logic [4:0] pair_d, pair_q;
  logic key_early, key_done;  // what encryption begins with is there; all keys are
  logic begins;  // enough for this direction
  word_t [1:0] fetched;

  word_t [3:0] p_q;
  word_t [1:0] loaded_q;  // a block's D and B, which p[3] and p[1] do not have before the first move
  word_t [1:0] entry_q;  // what is added or subtracted at the entrances
  word_t [1:0] addend_q;  // what the lanes add
  // From B and D; for the lanes to take in by xor before the rotation and, crosswise, behind it.
  word_t [1:0] product, before_q, after_q;
  logic [1:0][4:0] amount;
  word_t [1:0] rotated, laned, entering;
  logic backward_q;

  // -- control --------------------------------------------------------------------------------------------

  assign turn               = req_i.decrypt != decrypt_q;
  assign rsp_o.block_ready  = phase_q == Waiting && !turn && (!valid_q || req_i.result_ready);
  assign accept             = req_i.block_valid && rsp_o.block_ready;
  assign rsp_o.result_valid = valid_q;
  assign rsp_o.result       = p_q;
  assign begins             = key_done || (key_early && !req_i.decrypt);
  assign last               = phase_q == Rotate && pair_q == (decrypt_q ? final_pair : 5'd0);

  always_comb begin
    phase_d   = phase_q;
    pair_d    = pair_q;
    decrypt_d = decrypt_q;
    unique case (phase_q)
      Keying: begin
        if (begins) phase_d = Turn0;
        if (begins) decrypt_d = req_i.decrypt;
      end
      Turn0: begin
        phase_d = Turn1;
        pair_d  = decrypt_q ? final_pair : 5'd0;
      end
      Turn1: begin
        phase_d = Turn2;
        pair_d  = decrypt_q ? round_pair : 5'd0;
      end
      Turn2: phase_d = Waiting;
      Waiting: begin
        if (key_done) decrypt_d = req_i.decrypt;
        if (turn && key_done) phase_d = Turn0;
        else if (accept) phase_d = Backward;
        if (accept) pair_d = decrypt_q ? before_pair : 5'd1;
      end
      Backward: phase_d = decrypt_q ? Multiply : Forward;
      Forward: phase_d = decrypt_q ? Waiting : Multiply;
      Multiply: begin
        phase_d = Rotate;
        if (decrypt_q) pair_d = pair_q == 5'd0 ? final_pair : pair_q - 5'd1;
        else pair_d = pair_q == round_pair ? 5'd0 : pair_q + 5'd1;
      end
      Rotate: begin
        if (!last) phase_d = Multiply;
        else phase_d = decrypt_q ? Forward : Waiting;
        if (last && decrypt_q) pair_d = round_pair;
      end
      default: phase_d = Keying;
    endcase
    if (req_i.key_valid) phase_d = Keying;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= ((decrypt_q ? phase_q == Forward : last) || (valid_q && !req_i.result_ready)) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      phase_q   <= Keying;
      pair_q    <= '0;
      decrypt_q <= 1'b0;
    end else begin
      phase_q   <= phase_d;
      pair_q    <= pair_d;
      decrypt_q <= decrypt_d;
    end
  end

  // -- key ------------------------------------------------------------------------------------------------

  // While it multiplies, encryption looks for the last pair, which it needs besides that of the last round.
  rc6_key_schedule u_key_schedule (
    .clk_i,
    .clear_i,
    .req_i,
    .final_i(final_pair),
    .pair_i (phase_q == Multiply ? final_pair : pair_q),
    .even_o (fetched[0]),
    .odd_o  (fetched[1]),
    .early_o(key_early),
    .done_o (key_done)
  );

  logic entry_take, entry_clear;

  // Taken too early they would be added to; what is there while the core multiplies does not matter.
  always_comb begin
    unique case (phase_q)
      Waiting: entry_take = accept;
      Rotate:  entry_take = !decrypt_q && pair_q == round_pair;
      default: entry_take = decrypt_q;
    endcase
    entry_clear = clear_i.active || (decrypt_q ? phase_q == Rotate : !entry_take && phase_q != Multiply);
  end

  always_ff @(posedge clk_i) begin
    if (entry_clear) entry_q <= '0;
    else if (entry_take) entry_q <= fetched;
    if (clear_i.active || phase_q != Multiply || decrypt_q) addend_q <= '0;
    else addend_q <= fetched;
  end

  // -- data path ------------------------------------------------------------------------------------------

  assign product[0] = quadratic(p_q[1]);
  assign product[1] = quadratic(p_q[3]);

  always_ff @(posedge clk_i) begin
    backward_q <= phase_d == Backward || (phase_d == Rotate && decrypt_q);
    if (phase_q != Multiply || clear_i.active) before_q <= '0;
    else before_q <= product;
    if (phase_q != Multiply || !decrypt_q || clear_i.active) after_q <= '0;
    else after_q <= {product[0], product[1]};
  end

  always_comb begin
    for (int unsigned k = 0; k < 2; k++) begin
      amount[k] = backward_q ? ~before_q[k][4:0] : before_q[1-k][4:0];
    end
  end

  for (genvar k = 0; k < 2; k++) begin : gen_lane
    localparam int unsigned Here = 2 * k;
    localparam int unsigned There = 2 - 2 * k;

    word_t opened, offered;

    assign opened     = backward_q ? {p_q[There][30:0], p_q[There][31]} : p_q[Here] ^ before_q[k];
    assign rotated[k] = rotl(opened, amount[k]);
    assign laned[k]   = (rotated[k] ^ after_q[k]) + addend_q[k];

    always_comb begin
      if (phase_q == Waiting) offered = req_i.block[32*Here+:32];
      else offered = backward_q == (k == 0) ? p_q[3] ^ loaded_q[0] : p_q[1] ^ loaded_q[1];
    end

    assign entering[k] = decrypt_q ? offered - entry_q[k] : offered + entry_q[k];
  end

  logic move;
  assign move = phase_q == Backward || phase_q == Forward || phase_q == Rotate;

  always_ff @(posedge clk_i) begin
    if (clear_i.active || req_i.key_valid) begin
      p_q[0] <= '0;
      p_q[2] <= '0;
    end else begin
      if (move || accept) p_q[0] <= entering[0];
      if (move || accept) p_q[2] <= entering[1];
    end
    if (clear_i.active || req_i.key_valid || accept) begin
      p_q[1] <= '0;
      p_q[3] <= '0;
    end else begin
      if (move) p_q[1] <= laned[1];
      if (move) p_q[3] <= laned[0];
    end
    if (clear_i.active || !accept) loaded_q <= '0;
    else loaded_q <= {req_i.block[63:32], req_i.block[127:96]};
  end

endmodule

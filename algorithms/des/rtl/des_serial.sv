// SPDX-License-Identifier: Apache-2.0
//
// DES, and with Triple also triple DES, one round per clock. The register in front of the S-boxes holds
// x = E(R) ^ K, not R, so that a round is one look-up and one gate: S-box, then L ^ P(S) ^ K of the next
// round, which no longer waits for its key. R is had back as x ^ K where it moves to L.
//
// The key schedule is a round ahead. C and D move by two places per clock, left to encrypt and right to
// decrypt, and a round key is taken from them as they are or one place further; with a pause in the middle
// that gives the shifts of one and two places, and after 16 rounds C and D are home.
//
// Cycles per block: 17; with a key of two or three parts 49. Key set-up: 1, after a new key and when the
// direction changes.
module des_serial
  import core_pkg::*;
  import des_pkg::*;
#(
  parameter bit Triple = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  // -- control --------------------------------------------------------------------------------------------

  logic busy_d, busy_q;
  logic valid_d, valid_q;
  logic primed_q;  // idle, and the first round key is there, in the direction of decrypt_q
  logic decrypt_d, decrypt_q;  // the direction of the block, then of the block before
  logic [3:0] step_d, step_q;  // 0: a block comes in, or the last round of a stage; 1 to 15: rounds
  logic last_q, ending_q;  // the last round of a stage, of a block
  logic final_stage;
  logic entering;
  logic load_d;  // C and D are loaded in the next clock

  // The direction of a block stands a clock before it comes, and is then that of decrypt_q.
  assign rsp_o.block_ready  = primed_q && (!valid_q || req_i.result_ready);
  assign rsp_o.result_valid = valid_q;
  assign entering           = req_i.block_valid && rsp_o.block_ready;

  assign busy_d             = entering || (busy_q && !ending_q);
  assign valid_d            = ending_q || (valid_q && !req_i.result_ready);
  assign decrypt_d          = busy_q ? decrypt_q : req_i.decrypt;
  assign step_d             = busy_d ? step_q + 4'd1 : 4'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, valid_q, primed_q} <= '0;
    else {busy_q, valid_q, primed_q} <= {busy_d, valid_d, !busy_d && !load_d} & {3{!clear_i.active}};
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      decrypt_q <= 1'b0;
      step_q    <= '0;
      last_q    <= 1'b0;
      ending_q  <= 1'b0;
    end else begin
      decrypt_q <= decrypt_d;
      step_q    <= step_d;
      last_q    <= step_q == 4'd15;
      ending_q  <= step_q == 4'd15 && final_stage;
    end
  end

  // -- round keys -----------------------------------------------------------------------------------------

  key_t cd_d, cd_q;
  logic further_q;  // the round key is one place further
  logic move_q;  // C and D move, or are loaded, whether or not a block comes
  logic backward_d, backward_q;  // the direction of the stage that the round key is for
  subkey_t subkey;

  // Encryption: at 0 + 1, 2, 4, .. 14 and 14 + 1, 16 + 1, .. 26 + 1, 28. C and D stay where they are behind
  // the 8th and the 16th, and while the last round of a block meets the first round key of the next one.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) backward_q <= 1'b0;
    else backward_q <= backward_d;
    if (clear_i.active) begin
      further_q <= 1'b0;
      move_q    <= 1'b0;
    end else if (!busy_q) begin
      further_q <= backward_d == entering;
      move_q    <= load_d || entering;
    end else begin
      further_q <= backward_d ^ ((step_q >= 4'd7 && step_q != 4'd14) || ending_q);
      move_q    <= load_d || !(step_q inside {4'd6, 4'd14} || (step_q == 4'd15 && final_stage) || ending_q);
    end
  end

  assign subkey = permuted_choice_2(further_q ? rotate_left_1(cd_q) : cd_q);

  if (Triple) begin : gen_triple
    key_t [2:0] keys_q;
    logic three_q;  // there are three stages
    logic [1:0] stage_d, stage_q, next_stage;
    logic [2:0] select_d, select_q;  // the key that C and D are loaded with
    logic left_q, right_q;  // if none, where they move

    assign final_stage = !three_q || stage_q == 2'd2;
    assign next_stage  = !busy_q || final_stage ? 2'd0 : stage_q + 2'd1;
    assign stage_d     = !busy_q || ending_q ? 2'd0 : last_q ? stage_q + 2'd1 : stage_q;
    // The stage in the middle goes the other way.
    assign backward_d  = busy_q && step_q != 4'd15 ? backward_q : decrypt_d ^ (next_stage == 2'd1);
    assign load_d      = busy_q ? step_q == 4'd14 : req_i.key_valid || req_i.decrypt != decrypt_q;

    always_comb begin
      select_d = '0;
      if (load_d) begin
        if (next_stage == 2'd1) select_d[1] = 1'b1;
        else if ((next_stage == 2'd0) == decrypt_d) select_d[2] = 1'b1;
        else select_d[0] = 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        stage_q  <= '0;
        select_q <= '0;
        left_q   <= 1'b0;
        right_q  <= 1'b0;
      end else begin
        stage_q  <= stage_d;
        select_q <= select_d;
        left_q   <= !load_d && !backward_d;
        right_q  <= !load_d && backward_d;
      end
    end

    des_keys u_keys (
      .clk_i,
      .clear_i,
      .req_i,
      .keys_o (keys_q),
      .three_o(three_q)
    );

    assign cd_d = (rotate_left_2(
      cd_q
    ) & {56{left_q}}) | (rotate_right_2(
      cd_q
    ) & {56{right_q}}) | (keys_q[0] & {56{select_q[0]}}) | (keys_q[1] & {56{select_q[1]}}) |
      (keys_q[2] & {56{select_q[2]}});

    always_ff @(posedge clk_i) begin
      if (clear_i.active) cd_q <= '0;
      else if (move_q || entering) cd_q <= cd_d;
    end
  end else begin : gen_single
    key_t fresh_q;  // a key just come, else zero

    assign final_stage = 1'b1;
    assign backward_d  = decrypt_d;
    assign load_d      = req_i.key_valid;
    assign cd_d        = (backward_q ? rotate_right_2(cd_q) : rotate_left_2(cd_q)) | fresh_q;

    // C and D, at home after each block, are the only place of the key: they are emptied as it comes and
    // take it in the clock after.
    always_ff @(posedge clk_i) begin
      if (clear_i.active || !req_i.key_valid) fresh_q <= '0;
      else fresh_q <= permuted_choice_1(req_i.key);
      if (clear_i.active || req_i.key_valid) cd_q <= '0;
      else if (move_q || entering) cd_q <= cd_d;
    end
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  subkey_t x_d, x_q, mixed_q;  // E(R) ^ K, and that K
  subkey_t stay, enter;  // of x_d, within a stage without what the S-boxes give, and elsewhere
  half_t l_d, l_q, r, block_l, block_r;
  half_t substituted;
  logic  round_q;  // L and R change places as they do within a stage

  assign r                  = contract(x_q ^ mixed_q);
  assign substituted        = sp_layer(x_q);
  assign {block_l, block_r} = initial_permutation(req_i.block[63:0]);

  if (Triple) begin : gen_round
    always_ff @(posedge clk_i) begin
      if (clear_i.active) round_q <= 1'b0;
      else round_q <= busy_d && step_q != 4'd15;
    end
  end else begin : gen_round
    assign round_q = busy_q;
  end

  // What does not wait for the S-boxes is put together apart from them: said in another order, the same costs the core
  // a quarter more LUTs. Between the stages of triple DES L and R do not change places: R stays in front of the S-boxes.
  assign stay  = expand(l_q) ^ subkey;
  assign enter = expand(Triple && last_q ? r : block_r) ^ subkey;
  assign x_d   = round_q ? stay ^ expand(substituted) : enter;
  assign l_d   = Triple && last_q ? l_q ^ substituted : busy_q ? r : block_l;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      x_q     <= '0;
      mixed_q <= '0;
      l_q     <= '0;
    end else if (!valid_q || req_i.result_ready) begin
      // What is taken while no block comes does no harm.
      x_q     <= x_d;
      mixed_q <= subkey;
      l_q     <= l_d;
    end
  end

  assign rsp_o.result = 128'(final_permutation(Triple ? {l_q, r} : {r, l_q}));

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Twofish for keys of 128, 192 and 256 bits, both directions. A round takes three clocks: layers C, D and E of
// both g, in logic, in the first two, the MDS matrix and the pseudo-Hadamard transform in the third. What longer
// keys have in front of them, layers B and A, is looked up in block RAM in clocks of their own. Subkeys come on
// the fly from twofish_keys.
//
// Cycles per block: 49, 81, 97 for 128, 192, 256 key bits. The next block enters in the clock in which the
// result leaves. Key set-up: a block can be taken 15 clocks after the last key beat; the first block of
// the other direction 15 clocks after it is offered.
module twofish_core
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,
  input logic        key_decrypt_i,

  input  logic   block_valid_i,
  output logic   block_ready_o,
  input  block_t block_i,
  input  logic   decrypt_i,

  output logic   block_valid_o,
  input  logic   block_ready_i,
  output block_t block_o
);

  logic wipe, purge_q;  // the first clock after a reset wipes what has no reset of its own
  logic decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic keys_ready, short_key, long_key;
  logic enter, busy_q, valid_q;
  // The clocks of a round: layer A is looked up, B is (or the first of them), their result takes the place of x
  // (all these for the longer keys only), C, D and E, the matrix and the transform.
  logic look_q, again_q, replace_q, begin_q, middle_q, combine_q;
  logic       look_a;
  logic       next;  // a round begins in the next clock
  logic       first;  // the first clock of a round
  logic [3:0] round_q;
  logic       last_q;
  pair_t in_0, in_1, out_0, out_1, round_key;
  word_t [3:0] s;

  assign wipe = wipe_i || purge_q;

  twofish_keys u_keys (
    .clk_i,
    .rst_ni,
    .wipe_i     (wipe),
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .turn_i     (turn),
    .decrypt_i  (decrypt_q),
    .fetch_i    (middle_q),
    .use_i      (combine_q),
    .ready_o    (keys_ready),
    .short_o    (short_key),
    .long_o     (long_key),
    .in_0_o     (in_0),
    .in_1_o     (in_1),
    .out_0_o    (out_0),
    .out_1_o    (out_1),
    .round_key_o(round_key),
    .s_o        (s)
  );

  logic unused;
  assign unused        = key_index_i[2];

  // -- control --------------------------------------------------------------------------------------------

  assign turn          = block_valid_i && keys_ready && !busy_q && !valid_q && decrypt_i != decrypt_q;
  assign block_ready_o = keys_ready && !busy_q && decrypt_i == decrypt_q && (!valid_q || block_ready_i);
  assign block_valid_o = valid_q;
  assign enter         = block_valid_i && block_ready_o;
  assign first         = look_q || (begin_q && short_key);
  assign look_a        = look_q && long_key;
  assign next          = enter || (combine_q && !last_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q   <= 1'b1;
      decrypt_q <= 1'b0;
      busy_q    <= 1'b0;
      valid_q   <= 1'b0;
      look_q    <= 1'b0;
      again_q   <= 1'b0;
      replace_q <= 1'b0;
      begin_q   <= 1'b0;
      middle_q  <= 1'b0;
      combine_q <= 1'b0;
      round_q   <= '0;
      last_q    <= 1'b0;
    end else begin
      purge_q <= 1'b0;
      if (key_valid_i) decrypt_q <= key_decrypt_i;
      else if (turn) decrypt_q <= decrypt_i;
      busy_q    <= (enter || (busy_q && !(combine_q && last_q))) && !wipe;
      valid_q   <= ((combine_q && last_q) || (valid_q && !block_ready_i)) && !wipe;
      look_q    <= next && !short_key && !wipe;
      again_q   <= look_a && !wipe;
      replace_q <= ((look_q && !long_key) || again_q) && !wipe;
      begin_q   <= ((next && short_key) || replace_q) && !wipe;
      middle_q  <= begin_q && !wipe;
      combine_q <= middle_q && !wipe;
      if (combine_q || wipe) round_q <= wipe ? '0 : round_q + 4'd1;
      if (combine_q || wipe) last_q <= round_q == 4'd14 && !wipe;
    end
  end

  // -- data path ------------------------------------------------------------------------------------------

  // A round in, (x, target), with x = (R0, R1) and target = (R2, R3), gives (target after it, x). What comes
  // out of the transform rests in f_q and is mixed into the target only as the next round begins.
  pair_t x;
  pair_t x_q, behind_q;  // x of the round under way and of the one before, once the round has begun
  pair_t target_q;  // rotated so that it is in line with x
  pair_t whiten_q;  // the second half of the output is whitened before it is there
  word_t f0, f1;
  pair_t f_q;  // and so is this

  assign x = target_q ^ f_q;

  word_t [1:0] g_in, d_q, m_q, early_address, early, t;

  assign g_in = {rol8(x[63:32]), x[31:0]};

  // Layers A and B, for longer keys. The first lookup is of x, the second of what came of the first.
  for (genvar g = 0; g < 2; g++) begin : gen_g
    assign early_address[g] = again_q ? early[g] ^ s[3] : g_in[g];

    for (genvar j = 0; j < 4; j += 2) begin : gen_rom
      twofish_rom #(
        .Kind(0)
      ) u_rom (
        .clk_i,
        .enable_i(1'b1),
        .table_i (look_a ? {1'b0, LayerA[j+1], 1'b0, LayerA[j]} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
        .a_i     (early_address[g][8*j+:16]),
        .y_o     (early[g][8*j+:16])
      );
    end

    // C, D and E, cut behind the linear part at the head of D and in front of the matrix.
    always_ff @(posedge clk_i) begin
      if (wipe) begin
        d_q[g] <= '0;
        m_q[g] <= '0;
      end else begin
        d_q[g] <= mix_word(layer_mixed(LayerC, mix_word(g_in[g])) ^ s[1]);
        m_q[g] <= layer_mixed(LayerE, mix_word(layer_mixed(LayerD, d_q[g]) ^ s[0]));
      end
    end

    assign t[g] = mds_logic(m_q[g]);
  end

  // Sums of three: saved carries, then one adder.
  function automatic word_t sum3(input word_t a, input word_t b, input word_t c);
    return (a ^ b ^ c) + (((a & b) | (a & c) | (b & c)) << 1);
  endfunction

  assign f0 = sum3(t[0], t[1], round_key[31:0]);
  assign f1 = sum3(t[0], {t[1][30:0], 1'b0}, round_key[63:32]);

  pair_t replaced, aligned, rest;

  // Behind A and B, in the place of x.
  assign replaced = {ror8(early[1] ^ s[2]), early[0] ^ s[2]};
  // In encryption the first word is rotated right behind the mixing and the second left before it, in
  // decryption the first left before it and the second right behind it.
  assign aligned[31:0] = decrypt_q ? rol1(behind_q[31:0]) : ror1(behind_q[31:0]);
  assign aligned[63:32] = decrypt_q ? ror1(behind_q[63:32]) : rol1(behind_q[63:32]);
  // Whitening.
  assign rest = busy_q ? aligned ^ whiten_q : block_i[63:0] ^ in_0;

  always_ff @(posedge clk_i) begin
    if (wipe) begin
      target_q <= '0;
      x_q      <= '0;
      behind_q <= '0;
    end else begin
      if (enter || busy_q) target_q <= replace_q ? replaced : rest;
      if (enter || first) x_q <= busy_q ? x : block_i[127:64] ^ in_1;
      if (first) behind_q <= x_q;
    end
    if (wipe || !last_q) whiten_q <= '0;
    else whiten_q <= out_1;
    if (wipe || enter || replace_q) f_q <= '0;
    else if (busy_q) f_q <= decrypt_q ? {ror1(f1), f0} : {f1, ror1(f0)};
  end

  assign block_o = {x, x_q ^ out_0};

endmodule

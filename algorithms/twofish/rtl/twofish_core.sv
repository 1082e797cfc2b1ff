// SPDX-License-Identifier: Apache-2.0
//
// Twofish for keys of 128, 192 and 256 bits, both directions. The first round starts when the key arrives: subkeys
// come on the fly (twofish_keys), and the layers of g are looked up one a clock (twofish_chain). Meanwhile
// twofish_fill puts the four S-boxes that the key makes into block memory, each entry with its share of the MDS
// matrix. As soon as it is done, also within a block, a round takes two clocks for every key length: one from the
// tables through the sums of the matrix, one for the pseudo-Hadamard transform, from which the next lookup begins.
//
// Cycles per block: 34. The next block enters in the clock in which the result leaves. Key set-up: a block can be
// taken 11 clocks after the last key beat; rounds that begin in the first 267 clocks take 5, 6, 7 clocks each for
// 128, 192, 256 key bits in place of 2, a block 82, 98, 114. The first block of the other direction: 15 clocks after
// it is offered, 11 if the tables are far from full.
//
// A clear takes 272 clocks: the tables are filled as for a key of zeros.
module twofish_core
  import core_pkg::*;
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  logic decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic keys_ready;
  logic enter, busy_q, valid_q;
  // The clocks of a block: one in which it goes on its way, and in each round that of the matrix and that of the
  // transform. While the tables are not full, each round first has those of the chain, layer_q counts them down to
  // 1, one in which its result is taken, and one for the last layer.
  logic open_q, again_q, take_q, last_layer_q, matrix_q, transform_q;
  logic [1:0] layer_d, layer_q;
  logic       next;  // a round begins
  logic       drop;  // nothing is mixed into the target in the next clock
  logic [3:0] round_q;
  logic       last_q;
  pair_t in_0, in_1, out_0, out_1, round_key;
  logic short_key, long_key;
  word_t [3:0] s;
  logic full, far;
  logic write;
  byte_t write_at;
  products_t [3:0] write_data;

  twofish_keys u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .turn_i     (turn),
    .decrypt_i  (decrypt_q),
    .drop_i     (drop),
    .fetch_i    (matrix_q),
    .use_i      (transform_q),
    .slow_i     (far),
    .ready_o    (keys_ready),
    .short_o    (short_key),
    .long_o     (long_key),
    .s_o        (s),
    .in_0_o     (in_0),
    .in_1_o     (in_1),
    .out_0_o    (out_0),
    .out_1_o    (out_1),
    .round_key_o(round_key)
  );

  twofish_fill u_fill (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_i     (req_i.key_valid),
    .short_i     (short_key),
    .long_i      (long_key),
    .s_i         (s),
    .full_o      (full),
    .far_o       (far),
    .write_o     (write),
    .write_at_o  (write_at),
    .write_data_o(write_data)
  );

  // -- control --------------------------------------------------------------------------------------------

  assign turn = req_i.block_valid && keys_ready && !busy_q && !valid_q && req_i.decrypt != decrypt_q;
  assign rsp_o.block_ready = keys_ready && !busy_q && req_i.decrypt == decrypt_q && (!valid_q || req_i.result_ready);
  assign rsp_o.result_valid = valid_q;
  assign enter = req_i.block_valid && rsp_o.block_ready;
  assign drop = enter || layer_q != 2'd0;
  assign next = open_q || (transform_q && !last_q);

  always_comb begin
    layer_d = layer_q - 2'(layer_q != 2'd0);
    if (next && !full) layer_d = short_key ? 2'd1 : long_key ? 2'd3 : 2'd2;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      busy_q  <= 1'b0;
    end else begin
      valid_q <= ((transform_q && last_q) || (valid_q && !req_i.result_ready)) && !clear_i.active;
      busy_q  <= (enter || (busy_q && !(transform_q && last_q))) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      decrypt_q    <= 1'b0;
      open_q       <= 1'b0;
      layer_q      <= '0;
      again_q      <= 1'b0;
      take_q       <= 1'b0;
      last_layer_q <= 1'b0;
      matrix_q     <= 1'b0;
      transform_q  <= 1'b0;
      round_q      <= '0;
      last_q       <= 1'b0;
    end else begin
      if (req_i.key_valid) decrypt_q <= req_i.key_decrypt;
      else if (turn) decrypt_q <= req_i.decrypt;
      open_q       <= enter;
      layer_q      <= layer_d;
      again_q      <= layer_q > 2'd1;
      take_q       <= layer_q == 2'd1;
      last_layer_q <= take_q;
      matrix_q     <= (next && full) || last_layer_q;
      transform_q  <= matrix_q;
      if (transform_q) begin
        round_q <= round_q + 4'd1;
        last_q  <= round_q == 4'd14;
      end
    end
  end

  // -- data path ------------------------------------------------------------------------------------------

  // A round in, (x, target), with x = (R0, R1) and target = (R2, R3), gives (target after it, x). A block begins
  // with x in the place of the target and nothing to be mixed in.
  pair_t x;  // of the next round
  pair_t x_q, target_q;  // the target rotated so that it is in line with x
  pair_t behind_q;  // the first half of the result
  pair_t whiten_q;  // the second half is whitened before it is there
  pair_t aligned, base;
  word_t f0, f1;
  word_t [1:0] g_in, chained, t_q;
  word_t layer_key_q;
  products_t [1:0][3:0] looked_up;

  assign g_in = {rol8(x[63:32]), x[31:0]};

  always_ff @(posedge clk_i) layer_key_q <= s[layer_d];

  for (genvar g = 0; g < 2; g++) begin : gen_g
    twofish_chain u_chain (
      .clk_i,
      .short_i   (short_key),
      .long_i    (long_key),
      .x_i       (g_in[g]),
      .again_i   (again_q),
      .layer_i   (layer_q),
      .key_i     (layer_key_q),
      .last_key_i(s[0]),
      .y_o       (chained[g])
    );

    for (genvar j = 0; j < 4; j++) begin : gen_table
      twofish_table #(
        .Which(LayerE[j])
      ) u_table (
        .clk_i,
        .write_i     (write),
        .write_at_i  (write_at),
        .write_data_i(write_data[j]),
        .last_layer_i(last_layer_q),
        .a_i         (g_in[g][8*j+:8]),
        .y_o         (looked_up[g][j])
      );
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active || drop) t_q[g] <= '0;
      else if (matrix_q) t_q[g] <= mds(looked_up[g]);
    end
  end

  assign {f1, f0} = transform(t_q[0], t_q[1], round_key);

  // What the chain gives goes to the last layer in the place of x, with nothing mixed in.
  assign base = last_layer_q ? {ror8(chained[1]), chained[0]} : target_q;

  // In encryption the first word is rotated right behind the mixing and the second left before it, in
  // decryption the first left before it and the second right behind it.
  assign x = base ^ (decrypt_q ? {ror1(f1), f0} : {f1, ror1(f0)});
  assign aligned[31:0] = decrypt_q ? rol1(x_q[31:0]) : ror1(x_q[31:0]);
  assign aligned[63:32] = decrypt_q ? ror1(x_q[63:32]) : rol1(x_q[63:32]);

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      target_q <= '0;
      x_q      <= '0;
      behind_q <= '0;
    end else begin
      if (enter || open_q || transform_q) begin
        target_q <= enter ? req_i.block[63:0] ^ in_0 : aligned ^ whiten_q;
        x_q      <= enter ? req_i.block[127:64] ^ in_1 : x;
      end
      if (transform_q) behind_q <= x_q ^ out_0;
    end
    if (clear_i.active || round_q != 4'd14) whiten_q <= '0;
    else whiten_q <= out_1;
  end

  assign rsp_o.result = {x_q, behind_q};

endmodule

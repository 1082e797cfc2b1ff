// SPDX-License-Identifier: Apache-2.0
//
// IDEA, one round in three clocks, as its three multiplications in series have it:
//   A   y1 = x1 * Z1, y2 = x2 + Z2, y3 = x3 + Z3; the product of x4 * Z4; p = y1 ^ y3
//   B   y4 of that product; s = p * Z5; w = s + (y2 ^ y4)
//   C   t = w * Z6; x1 = y1 ^ t
// In A of the next round x2 = y3 ^ t, and x3 and x4 are y2 and y4, each ^ (s + t). The fourth multiplier has two
// clocks, and inverts subkeys while there is no block. A round's six subkeys come from block memory at once; the
// same data path decrypts under the decryption subkeys.
//
// The last word of a result is shown as the fourth multiplier makes it, and in that clock the next block enters,
// feedback included.
//
// Cycles per block: 26. Key set-up, the two beats of the key included: 6 clocks to encrypt; 145 to decrypt, once
// per key, begun by a key that is announced for decryption or by the first block to be decrypted. Constant in
// time.
module idea_core
  import core_pkg::*;
  import idea_pkg::*;
#(
  // MulLowHigh or MulBiham.
  parameter int unsigned Multiplier = MulBiham
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  // -- control --------------------------------------------------------------------------------------------

  logic a_q, b_q, c_q, valid_q;  // where the block is
  logic busy, accept, final_q;  // final_q: in the half round behind the rounds
  logic leaves;  // the last word of the result is made
  logic load;  // a block may enter
  logic direction_q, settled_q;  // of the keys that are read ahead; they are there
  logic encrypt_ready, decrypt_ready, ready;
  round_t round_q;  // whose subkeys are read

  assign busy = a_q || b_q || c_q;
  assign leaves = b_q && final_q;
  assign load = (req_i.result_ready && (leaves || !busy)) || (!busy && !valid_q);
  assign ready = direction_q ? decrypt_ready : encrypt_ready;
  assign rsp_o.block_ready = settled_q && ready && req_i.decrypt == direction_q && load;
  assign rsp_o.result_valid = valid_q || leaves;
  assign accept = req_i.block_valid && rsp_o.block_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {a_q, b_q, c_q, valid_q} <= '0;
    else if (clear_i.active) {a_q, b_q, c_q, valid_q} <= '0;
    else begin
      a_q     <= accept || c_q;
      b_q     <= a_q;
      c_q     <= b_q && !final_q;
      valid_q <= rsp_o.result_valid && !req_i.result_ready;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      round_q     <= '0;
      final_q     <= 1'b0;
      direction_q <= 1'b0;
      settled_q   <= 1'b0;
    end else begin
      if (c_q || accept) round_q <= round_q == 4'(Rounds) ? 4'd0 : round_q + 4'd1;
      else if (!busy) round_q <= 4'd0;
      if (c_q) final_q <= round_q == 4'(Rounds);
      else if (!busy || leaves) final_q <= 1'b0;
      if (!busy) direction_q <= req_i.decrypt;
      settled_q <= ready && req_i.decrypt == direction_q;
    end
  end

  // -- subkeys --------------------------------------------------------------------------------------------

  logic mul_taken;
  word_t mul_x;
  word_t [Roles-1:0] z;
  product_t [Roles-1:0] m;  // products with the subkeys of roles 0, 3, 4 and 5

  idea_subkeys u_subkeys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .busy_i         (busy),
    .encrypt_ready_o(encrypt_ready),
    .decrypt_ready_o(decrypt_ready),
    .round_i        (round_q),
    .direction_i    (direction_q),
    .next_i         (!busy || c_q || leaves),
    .z_o            (z),
    .mul_taken_o    (mul_taken),
    .mul_x_o        (mul_x),
    .mul_y_i        (m[3].y)
  );

  // -- the round ------------------------------------------------------------------------------------------

  word_t x1_q, y1_q, y2_q, y3_q, y4_q, p_q, w_q, s_q, t_q;
  word_t y2, y3, u, rest;
  // Kept as they are: what is known early is put together first.
  (* keep *) word_t q, early_p, early_x1;
  logic product;  // the fourth multiplier has one, which stays until it is taken with the result
  logic [1:0] unused_carry;
  word_t [Roles-1:0] x;

  assign q    = (y2_q ^ m[3].y) + m[4].patch;
  assign u    = s_q + t_q;
  // A negated subkey lacks one.
  assign {y2, unused_carry[0]} = {y3_q ^ t_q, 1'b1} + {z[1], direction_q};
  assign {y3, unused_carry[1]} = {y2_q ^ u, 1'b1} + {z[2], direction_q};

  assign product = a_q || mul_taken || clear_i.active;

  assign x = '{0: x1_q, 3: mul_taken ? mul_x : y4_q ^ u, 4: p_q, 5: w_q, default: '0};

  for (genvar r = 0; r < Roles; r++) begin : gen_mul
    if (additive(role_t'(r))) begin : gen_none
      assign m[r] = '0;
    end else begin : gen_one
      idea_mul #(
        .Multiplier(Multiplier),
        .ProductReg(r == 3)
      ) u_mul (
        .clk_i,
        .product_i(product),
        .x_i      (x[r]),
        .k_i      (z[r]),
        .y_o      (m[r])
      );
    end
  end

  logic unused;
  assign unused   = ^{x, m, unused_carry};

  assign early_p  = y3 ^ m[0].patch;
  assign early_x1 = c_q ? y1_q ^ m[5].patch : word_of(req_i.block[63:0], 0);

  // While a block may enter, the rest of the last product is that of w = 0, if that is zero.
  assign rest     = Multiplier == MulBiham ? m[5].rest : m[5].rest & {16{c_q}};

  // p is what it is to be in the one clock in which it counts.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      x1_q <= '0;
      y1_q <= '0;
      y2_q <= '0;
      y3_q <= '0;
      y4_q <= '0;
      p_q  <= '0;
    end else begin
      p_q <= m[0].rest ^ early_p;
      if (load || c_q) x1_q <= rest ^ early_x1;
      if (a_q) y1_q <= m[0].y;
      if (load || a_q) y3_q <= a_q ? y3 : word_of(req_i.block[63:0], 1);
      if (load || a_q) y2_q <= a_q ? y2 : word_of(req_i.block[63:0], 2);
      if (load || b_q) y4_q <= load ? word_of(req_i.block[63:0], 3) : m[3].y;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active || !b_q || final_q) w_q <= '0;
    else w_q <= m[4].part + q + 16'(m[4].one);
  end

  // A block enters as its own second half of a round, with nothing to add.
  always_ff @(posedge clk_i) begin
    if (clear_i.active || !busy || final_q) begin
      s_q <= '0;
      t_q <= '0;
    end else begin
      if (b_q) s_q <= m[4].y;
      if (c_q) t_q <= m[5].y;
    end
  end

  assign rsp_o.result = 128'(block_of(y1_q, y3_q, y2_q, m[3].y));

endmodule

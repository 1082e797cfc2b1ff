// SPDX-License-Identifier: Apache-2.0
//
// A round of aes_ring without its key: ShiftRows, SubBytes and MixColumns or their inverses, from the state to
// what the round key is added to. Block memory is slow, so a register of its own follows it closely.
//
// Latency: 4 clocks, of which the first is the lookup.
module aes_ring_round
  import core_pkg::*;
  import aes_pkg::*;
#(
  // 0: encryption only.
  parameter bit Decrypt = 1'b1
) (
  input logic   clk_i,
  input clear_t clear_i,

  // Of the block in state_i: there is one; this is its last round; its direction.
  input logic   look_valid_i,
  input logic   look_last_i,
  input logic   look_decrypt_i,
  input block_t state_i,

  // The same three clocks later.
  input  logic   mix_last_i,
  input  logic   mix_decrypt_i,
  output block_t mixed_o
);

  block_t shifted, raw_x, raw_y, near_x_q, near_y_q, x_q, y_q, mixed;

  for (genvar c = 0; c < 4; c++) begin : gen_column
    // ShiftRows: row r of column c comes from column c+r, or c-r in decryption.
    for (genvar r = 0; r < 4; r++) begin : gen_row
      localparam int unsigned At = 32 * c + 8 * r;
      localparam int unsigned Enc = 32 * ((c + r) % 4) + 8 * r;
      localparam int unsigned Dec = 32 * ((c + 4 - r) % 4) + 8 * r;

      assign shifted[At+:8] = Decrypt && look_decrypt_i ? state_i[Dec+:8] : state_i[Enc+:8];
    end

    aes_sbox #(
      .SBox   (SBoxEbr),
      .Decrypt(Decrypt)
    ) u_sbox (
      .clk_i,
      .look_i('{rest: !look_valid_i, decrypt: look_decrypt_i, last: look_last_i, a: shifted[32*c+:32]}),
      .sub_o ({raw_x[32*c+:32], raw_y[32*c+:32]})
    );

    // MixColumns and what it lacks of its inverse as in aes_core.
    word_t x, y, correction;
    assign x = x_q[32*c+:32];
    assign y = y_q[32*c+:32];

    always_comb begin
      correction = x ^ ror16(x) ^ xtime_word(x);
      correction = Decrypt && mix_decrypt_i ? xtime_word(correction) : '0;
      mixed[32*c+:32] = x ^ ror8(y) ^ ror16(y) ^ ror24(y) ^ ror8(x) ^ correction;
      // The last round has S-box tables of its own: y is the byte, or x without decryption.
      if (mix_last_i) mixed[32*c+:32] = Decrypt ? y : x;
    end
  end

  always_ff @(posedge clk_i) begin
    // In the memory's output register, which has no reset: what it holds is gone a clock after the lookup rests.
    near_x_q <= raw_x;
    near_y_q <= raw_y;
    if (clear_i.active) begin
      x_q     <= '0;
      y_q     <= '0;
      mixed_o <= '0;
    end else begin
      x_q     <= near_x_q;
      y_q     <= near_y_q;
      mixed_o <= mixed;
    end
  end

endmodule

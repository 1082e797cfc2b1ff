// SPDX-License-Identifier: Apache-2.0
//
// Eight rounds of decryption, each with the inverse S-box that is its own: serpent_encrypt the other way round.
//
// A pass takes 8 / RoundsPerClock clocks.
module serpent_decrypt
  import serpent_pkg::*;
#(
  // Rounds between registers: 1, 2, 4 or 8.
  parameter int unsigned RoundsPerClock = 8
) (
  input logic clk_i,
  // Zero to all registers; else they take what comes with enable_i.
  input logic wipe_i,
  input logic enable_i,

  // The last round key, with which a block enters; those of round 8p + 7 down to 8p, merged.
  input block_t       head_i,
  input block_t [7:0] keys_i,

  // What passes the door comes from outside.
  input  logic   enter_i,
  input  block_t block_i,
  // What the last inverse S-box gives; in the last pass only a key is missing.
  output block_t sub_o
);

  block_t feedback_q;
  block_t [7:0] x, y;  // in front of and behind the inverse S-boxes

  assign x[0]  = enter_i ? block_i ^ head_i : feedback_q;
  assign sub_o = y[7];

  always_ff @(posedge clk_i) begin
    if (wipe_i) feedback_q <= '0;
    else if (enable_i) feedback_q <= unmix(y[7], keys_i[7]);
  end

  for (genvar r = 0; r < 8; r++) begin : gen_round
    serpent_sbox #(
      .Index  (7 - r),
      .Inverse(1'b1)
    ) u_sbox (
      .x_i(x[r]),
      .y_o(y[r])
    );

    if (r > 0) begin : gen_next
      block_t mixed;
      assign mixed = unmix(y[r-1], keys_i[r-1]);

      if (r % RoundsPerClock == 0) begin : gen_register
        block_t x_q;
        always_ff @(posedge clk_i) begin
          if (wipe_i) x_q <= '0;
          else if (enable_i) x_q <= mixed;
        end
        assign x[r] = x_q;
      end else begin : gen_wire
        assign x[r] = mixed;
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Eight rounds of encryption, each with the S-box that is its own, in a ring that a block passes four times.
// There is a register in front of every RoundsPerClock-th round; with one in front of each, eight blocks can
// be on their way. Round keys are merged into the linear mix of the round before.
//
// A pass takes 8 / RoundsPerClock clocks.
module serpent_encrypt
  import serpent_pkg::*;
#(
  // Rounds between registers: 1, 2, 4 or 8.
  parameter int unsigned RoundsPerClock = 8
) (
  input logic clk_i,
  // Zero to all registers; else they take what comes with enable_i.
  input logic wipe_i,
  input logic enable_i,

  // The key of the first round; of round 8p + 1 to 8p + 7, merged.
  input block_t       head_i,
  input block_t [6:0] keys_i,

  // What passes the door comes from outside.
  input  logic   enter_i,
  input  block_t block_i,
  // What the last S-box gives; in the last pass only a key is missing.
  output block_t sub_o
);

  block_t feedback_q;
  block_t [7:0] x, y;  // in front of and behind the S-boxes

  assign x[0]  = (enter_i ? block_i : feedback_q) ^ head_i;
  assign sub_o = y[7];

  always_ff @(posedge clk_i) begin
    if (wipe_i) feedback_q <= '0;
    else if (enable_i) feedback_q <= mix(y[7], '0);
  end

  for (genvar r = 0; r < 8; r++) begin : gen_round
    serpent_sbox #(
      .Index(r)
    ) u_sbox (
      .x_i(x[r]),
      .y_o(y[r])
    );

    if (r > 0) begin : gen_next
      block_t mixed;
      assign mixed = mix(y[r-1], keys_i[r-1]);

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

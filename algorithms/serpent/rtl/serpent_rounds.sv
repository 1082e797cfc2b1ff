// SPDX-License-Identifier: Apache-2.0
//
// Rounds of encryption or, Inverse, of decryption, in a ring that a block passes 32 / Rounds times. With eight
// each has the S-box that is its own; of fewer each has 8 / Rounds to choose from, which costs no more S-boxes
// in all: a choice of two, four or eight is a LUT of five, six or seven inputs. Round keys are merged into the
// linear mix of the round before.
//
// A block passes in a clock or, Pipelined, in Rounds + 1, with as many blocks on their way.
module serpent_rounds
  import serpent_pkg::*;
#(
  // Rounds of the ring: 1, 2, 4 or 8.
  parameter int unsigned Rounds    = 8,
  parameter bit          Inverse   = 1'b0,
  // A register in front of every round, and one in front of the door.
  parameter bit          Pipelined = 1'b0,
  // What enters goes into the first register and not past it, and loses a clock there.
  parameter bit          Load      = 1'b0
) (
  input logic clk_i,
  // Zero to all registers; else they take what comes with enable_i.
  input logic clear_i,
  input logic enable_i,

  // The key with which a block enters; those behind the rounds, merged.
  input block_t              door_i,
  input block_t [Rounds-1:0] keys_i,

  // What passes the door comes from outside.
  input  logic   enter_i,
  input  block_t block_i,
  // What the last S-box gives; in the last turn only a key is missing.
  output block_t sub_o
);

  block_t [Rounds-1:0] x, y, mixed;  // in front of the S-boxes, behind them, behind the rounds
  block_t door, feedback_d, feedback_q;

  // Which of its S-boxes each round has to take: the numbers of encryption rise, those of decryption fall.
  localparam int unsigned Turns = 8 / Rounds;
  localparam int unsigned TurnBits = Turns > 1 ? $clog2(Turns) : 1;

  logic [TurnBits-1:0] turn;

  if (Turns > 1) begin : gen_turn
    logic [TurnBits-1:0] turn_q;

    always_ff @(posedge clk_i) begin
      if (clear_i) turn_q <= Inverse ? '1 : '0;
      else if (enable_i && !(Load && enter_i)) turn_q <= Inverse ? turn_q - 1'b1 : turn_q + 1'b1;
    end

    assign turn = turn_q;
  end else begin : gen_no_turn
    assign turn = '0;
  end

  assign sub_o      = y[Rounds-1];
  assign door       = enter_i ? block_i ^ door_i : Load ? mixed[Rounds-1] : feedback_q;
  assign feedback_d = Load ? door : mixed[Rounds-1];

  always_ff @(posedge clk_i) begin
    if (clear_i) feedback_q <= '0;
    else if (enable_i) feedback_q <= feedback_d;
  end

  for (genvar r = 0; r < Rounds; r++) begin : gen_round
    block_t next;

    if (r > 0) begin : gen_next
      assign next = mixed[r-1];
    end else begin : gen_first
      assign next = Load ? feedback_q : door;
    end

    if (Pipelined) begin : gen_register
      block_t x_q;
      always_ff @(posedge clk_i) begin
        if (clear_i) x_q <= '0;
        else if (enable_i) x_q <= next;
      end
      assign x[r] = x_q;
    end else begin : gen_wire
      assign x[r] = next;
    end

    block_t sub;

    serpent_sbox #(
      .Index  (Inverse ? Rounds - 1 - r : r),
      .Step   (Rounds),
      .Inverse(Inverse)
    ) u_sbox (
      .turn_i(turn),
      .x_i   (x[r]),
      .y_o   (sub)
    );

    if (Turns == 1) begin : gen_kept
      // Looking across S-boxes without a choice saves no area, but costs levels of logic.
      (* keep *) block_t kept;
      assign kept = sub;
      assign y[r] = kept;
    end else begin : gen_not_kept
      assign y[r] = sub;
    end

    assign mixed[r] = Inverse ? unmix(y[r], keys_i[r]) : mix(y[r], keys_i[r]);
  end

endmodule

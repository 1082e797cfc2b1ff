// SPDX-License-Identifier: Apache-2.0
//
// An S-box or its inverse, or the choice of some, on all 32 bit slices of a block. Combinational: a LUT of four
// inputs for each bit, or of up to seven if there is a choice.
module serpent_sbox
  import serpent_pkg::*;
#(
  // Which of the eight, or the first of those to choose from, and how far it is from each to the next.
  parameter int unsigned Index   = 0,
  parameter int unsigned Step    = 8,
  parameter bit          Inverse = 1'b0,

  localparam int unsigned Turns    = 8 / Step,
  localparam int unsigned TurnBits = Turns > 1 ? $clog2(Turns) : 1
) (
  // Which of these; zero if there is no choice.
  input  logic   [TurnBits-1:0] turn_i,
  input  block_t                x_i,
  output block_t                y_o
);

  word_t [15:0] hit;  // the slices whose input is v

  for (genvar v = 0; v < 16; v++) begin : gen_hit
    always_comb begin
      hit[v] = '1;
      for (int unsigned b = 0; b < 4; b++) hit[v] &= v[b] ? x_i[b] : ~x_i[b];
    end
  end

  block_t [2**TurnBits-1:0] y;

  for (genvar t = 0; t < 2 ** TurnBits; t++) begin : gen_turn
    localparam table_t Table = sbox_table(3'(Index + t * Step), Inverse);

    always_comb begin
      y[t] = '0;
      for (int unsigned v = 0; v < 16; v++) begin
        for (int unsigned b = 0; b < 4; b++) if (Table[v][b]) y[t][b] |= hit[v];
      end
    end
  end

  assign y_o = y[turn_i];

endmodule

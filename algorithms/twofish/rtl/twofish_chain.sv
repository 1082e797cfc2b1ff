// SPDX-License-Identifier: Apache-2.0
//
// The layers of one g in front of its last, for the blocks that come before the tables are full: a lookup in
// block memory each clock, of x in the first, of what came of the one before in the others. As many clocks as
// the key has words, 2 to 4, and one more to mix in the last word.
module twofish_chain
  import twofish_pkg::*;
(
  input logic clk_i,

  // The key is of two words, of four.
  input logic short_i,
  input logic long_i,

  input word_t x_i,  // looked up in every clock

  // The next lookup is of what the lookup before last gave, not of x's. It has to be low when there is no block,
  // or what is here would go round for ever.
  input logic        again_i,
  input logic  [1:0] layer_i,  // of it: 3 for B, 2 for C, 1 for D
  input word_t       key_i,

  input  word_t last_key_i,
  output word_t y_o
);

  logic [1:0][3:0] layer;
  word_t [1:0] address, y;
  word_t y_q;

  assign layer[0]   = short_i ? LayerC : long_i ? LayerA : LayerB;
  assign layer[1]   = layer_i == 2'd3 ? LayerB : layer_i == 2'd2 ? LayerC : LayerD;
  assign address[0] = x_i;
  assign address[1] = y[again_i] ^ key_i;

  for (genvar j = 0; j < 4; j += 2) begin : gen_rom
    // The head, and the rest.
    for (genvar r = 0; r < 2; r++) begin : gen_rest
      twofish_rom #(
        .Kind(0)
      ) u_rom (
        .clk_i,
        .enable_i(1'b1),
        .table_i ({1'b0, layer[r][j+1], 1'b0, layer[r][j]}),
        .a_i     (address[r][8*j+:16]),
        .y_o     (y[r][8*j+:16])
      );
    end
  end

  always_ff @(posedge clk_i) y_q <= y[1] ^ last_key_i;

  assign y_o = y_q;

endmodule

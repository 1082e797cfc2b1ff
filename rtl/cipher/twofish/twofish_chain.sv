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

  logic [3:0] head, layer;
  word_t head_y, y, address, y_q;

  assign head    = short_i ? LayerC : long_i ? LayerA : LayerB;
  assign layer   = layer_i == 2'd3 ? LayerB : layer_i == 2'd2 ? LayerC : LayerD;
  assign address = (again_i ? y : head_y) ^ key_i;

  for (genvar j = 0; j < 4; j += 2) begin : gen_rom
    twofish_rom #(
      .Kind(0)
    ) u_head (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, head[j+1], 1'b0, head[j]}),
      .a_i     (x_i[8*j+:16]),
      .y_o     (head_y[8*j+:16])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rest (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, layer[j+1], 1'b0, layer[j]}),
      .a_i     (address[8*j+:16]),
      .y_o     (y[8*j+:16])
    );
  end

  always_ff @(posedge clk_i) y_q <= y ^ last_key_i;

  assign y_o = y_q;

endmodule

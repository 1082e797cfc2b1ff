// SPDX-License-Identifier: Apache-2.0
//
// The layers of the function h, a pipeline of lookups in block memory that computes an h a clock. All bytes of
// its input are the same, as they are in the key schedule and when a table is filled. Layers that a key has not
// are lookups of the byte itself.
//
// What goes in leaves five clocks later, in front of the sums of the MDS matrix; word i of the key is mixed in
// 4 - i clocks behind the input. With the memories' output registers all of it takes twice as long.
module twofish_layers
  import twofish_pkg::*;
#(
  parameter bit Registered = 1'b0  // with output registers
) (
  input logic clk_i,
  input logic enable_i,

  // The key is of two words, of four.
  input logic short_i,
  input logic long_i,

  input  byte_t           x_i,
  input  word_t     [3:0] key_i,
  output products_t [3:0] y_o
);

  byte_t [1:0] a, raw_a;
  word_t b, c, d;

  twofish_rom #(
    .Kind(0)
  ) u_rom_a (
    .clk_i,
    .enable_i,
    .table_i(long_i ? {2'd1, 2'd0} : {2'd2, 2'd2}),
    .a_i    ({x_i, x_i}),
    .y_o    (raw_a)
  );

  if (Registered) begin : gen_registered
    always_ff @(posedge clk_i) if (enable_i) a <= raw_a;
  end else begin : gen_direct
    assign a = raw_a;
  end

  twofish_lookups #(
    .Registered(Registered)
  ) u_lookups (
    .clk_i,
    .enable_i,
    .short_i,
    .b_i({a[LayerA[3]], a[LayerA[2]], a[LayerA[1]], a[LayerA[0]]} ^ key_i[3]),
    .c_i(b ^ key_i[2]),
    .d_i(c ^ key_i[1]),
    .e_i(d ^ key_i[0]),
    .b_o(b),
    .c_o(c),
    .d_o(d),
    .e_o(y_o)
  );

endmodule

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
  byte_t [3:0] b, c, d, raw_b, raw_c, raw_d;
  products_t [3:0] raw_y;
  word_t address_b, address_c, address_d, address_e;

  twofish_rom #(
    .Kind(0)
  ) u_rom_a (
    .clk_i,
    .enable_i,
    .table_i(long_i ? {2'd1, 2'd0} : {2'd2, 2'd2}),
    .a_i    ({x_i, x_i}),
    .y_o    (raw_a)
  );

  assign address_b = {a[LayerA[3]], a[LayerA[2]], a[LayerA[1]], a[LayerA[0]]} ^ key_i[3];
  assign address_c = b ^ key_i[2];
  assign address_d = c ^ key_i[1];
  assign address_e = d ^ key_i[0];

  for (genvar j = 0; j < 4; j += 2) begin : gen_layers
    twofish_rom #(
      .Kind(0)
    ) u_rom_b (
      .clk_i,
      .enable_i,
      .table_i(short_i ? {2'd2, 2'd2} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
      .a_i    (address_b[8*j+:16]),
      .y_o    (raw_b[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_c (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerC[j+1], 1'b0, LayerC[j]}),
      .a_i    (address_c[8*j+:16]),
      .y_o    (raw_c[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_d (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerD[j+1], 1'b0, LayerD[j]}),
      .a_i    (address_d[8*j+:16]),
      .y_o    (raw_d[j+:2])
    );

    twofish_rom #(
      .Kind(1)
    ) u_rom_e (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerE[j+1], 1'b0, LayerE[j]}),
      .a_i    (address_e[8*j+:16]),
      .y_o    (raw_y[j+:2])
    );
  end

  if (Registered) begin : gen_registered
    always_ff @(posedge clk_i) begin
      if (enable_i) {a, b, c, d, y_o} <= {raw_a, raw_b, raw_c, raw_d, raw_y};
    end
  end else begin : gen_direct
    assign {a, b, c, d, y_o} = {raw_a, raw_b, raw_c, raw_d, raw_y};
  end

endmodule

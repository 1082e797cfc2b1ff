// SPDX-License-Identifier: Apache-2.0
//
// The layers of h and g behind the first, looked up in block memory, each apart: whoever joins them to a pipeline mixes
// in the key between them. A layer B that a short key has not is a lookup of the byte itself.
//
// A lookup takes one clock, or two with the memories' output registers.
module twofish_lookups
  import twofish_pkg::*;
#(
  parameter bit Registered = 1'b1  // with output registers
) (
  input logic clk_i,
  input logic enable_i,
  input logic short_i,

  input  word_t           b_i,
  input  word_t           c_i,
  input  word_t           d_i,
  input  word_t           e_i,
  output word_t           b_o,
  output word_t           c_o,
  output word_t           d_o,
  // With the shares of the MDS matrix.
  output products_t [3:0] e_o
);

  byte_t [3:0] b, c, d;
  products_t [3:0] e;

  for (genvar j = 0; j < 4; j += 2) begin : gen_pair
    twofish_rom #(
      .Kind(0)
    ) u_rom_b (
      .clk_i,
      .enable_i,
      .table_i(short_i ? {2'd2, 2'd2} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
      .a_i    (b_i[8*j+:16]),
      .y_o    (b[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_c (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerC[j+1], 1'b0, LayerC[j]}),
      .a_i    (c_i[8*j+:16]),
      .y_o    (c[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_d (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerD[j+1], 1'b0, LayerD[j]}),
      .a_i    (d_i[8*j+:16]),
      .y_o    (d[j+:2])
    );

    twofish_rom #(
      .Kind(1)
    ) u_rom_e (
      .clk_i,
      .enable_i,
      .table_i({1'b0, LayerE[j+1], 1'b0, LayerE[j]}),
      .a_i    (e_i[8*j+:16]),
      .y_o    (e[j+:2])
    );
  end

  if (Registered) begin : gen_registered
    always_ff @(posedge clk_i) begin
      if (enable_i) {b_o, c_o, d_o, e_o} <= {b, c, d, e};
    end
  end else begin : gen_direct
    assign {b_o, c_o, d_o, e_o} = {b, c, d, e};
  end

endmodule

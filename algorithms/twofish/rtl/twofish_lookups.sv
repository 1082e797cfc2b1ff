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

  word_t [2:0] x;
  byte_t [2:0][3:0] y;
  products_t [3:0] e;

  assign x = {b_i, c_i, d_i};

  for (genvar j = 0; j < 4; j += 2) begin : gen_pair
    // Layers D, C and B.
    for (genvar l = 0; l < 3; l++) begin : gen_layer
      localparam logic [3:0] Which = l == 0 ? LayerD : l == 1 ? LayerC : LayerB;

      twofish_rom #(
        .Kind(0)
      ) u_rom (
        .clk_i,
        .enable_i,
        .table_i(l == 2 && short_i ? {2'd2, 2'd2} : {1'b0, Which[j+1], 1'b0, Which[j]}),
        .a_i    (x[l][8*j+:16]),
        .y_o    (y[l][j+:2])
      );
    end

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
      if (enable_i) {b_o, c_o, d_o, e_o} <= {y[2], y[1], y[0], e};
    end
  end else begin : gen_direct
    assign {b_o, c_o, d_o, e_o} = {y[2], y[1], y[0], e};
  end

endmodule

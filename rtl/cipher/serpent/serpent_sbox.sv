// SPDX-License-Identifier: Apache-2.0
//
// One S-box, or its inverse, on all 32 bit slices of a block. Combinational: a LUT4 for each bit.
module serpent_sbox
  import serpent_pkg::*;
#(
  // Which of the eight.
  parameter int unsigned Index   = 0,
  parameter bit          Inverse = 1'b0
) (
  input  block_t x_i,
  output block_t y_o
);

  localparam table_t Table = sbox_table(3'(Index), Inverse);

  always_comb begin
    y_o = '0;
    for (int unsigned v = 0; v < 16; v++) begin
      word_t hit;  // the slices whose input is v
      hit = '1;
      for (int unsigned b = 0; b < 4; b++) hit &= v[b] ? x_i[b] : ~x_i[b];
      for (int unsigned b = 0; b < 4; b++) if (Table[v][b]) y_o[b] |= hit;
    end
  end

endmodule

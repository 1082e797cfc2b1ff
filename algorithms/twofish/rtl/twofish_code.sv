// SPDX-License-Identifier: Apache-2.0
//
// What each byte of a key beat adds to a word of the S-vector: its column of the RS code, looked up in block memory. A
// lookup takes one clock.
module twofish_code
  import twofish_pkg::*;
(
  input  logic        clk_i,
  input  pair_t       key_i,
  output word_t [7:0] share_o
);

  for (genvar j = 0; j < 8; j += 2) begin : gen_columns
    twofish_rom #(
      .Kind  (2),
      .Column(j)
    ) u_rom (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({2'd1, 2'd0}),
      .a_i     (key_i[8*j+:16]),
      .y_o     (share_o[j+:2])
    );
  end

endmodule

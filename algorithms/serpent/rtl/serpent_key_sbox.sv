// SPDX-License-Identifier: Apache-2.0
//
// The S-boxes of the key schedule: four bit slices through the S-box of a round, from one table of all eight
// in block memory (ECP5: one DP16KD, two slices at each port). The result stands a clock later.
module serpent_key_sbox
  import serpent_pkg::*;
(
  input  logic            clk_i,
  // Which of the eight.
  input  logic [2:0]      index_i,
  // Slice by slice.
  input  logic [3:0][3:0] x_i,
  output logic [3:0][3:0] y_o
);

  // Filled once, so that it becomes block memory in the device and an indexed array in simulation.
  (* rom_style = "block" *)
  logic [7:0] rom[2048];

  initial begin
    for (int unsigned i = 0; i < 2048; i++) rom[i] = {SBoxes[i>>8][(i>>4)%16], SBoxes[i>>8][i%16]};
  end

  always_ff @(posedge clk_i) begin
    y_o[1:0] <= rom[{index_i, x_i[1:0]}];
    y_o[3:2] <= rom[{index_i, x_i[3:2]}];
  end

endmodule

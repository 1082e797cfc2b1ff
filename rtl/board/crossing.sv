// SPDX-License-Identifier: Apache-2.0
//
// A word from one clock to another. It arrives whole, and is one that the other side has had: the newest one whenever
// the one before has arrived. Words that stay for less than a round trip may be passed over.
//
// A round trip takes up to 4 clocks of either side.
module crossing #(
  parameter int unsigned Width = 8
) (
  input logic             from_clk_i,
  input logic             from_rst_ni,
  input logic [Width-1:0] from_i,

  input  logic             to_clk_i,
  input  logic             to_rst_ni,
  output logic [Width-1:0] to_o
);

  logic ask, took;
  logic [Width-1:0] word;

  crossing_from #(
    .Width(Width)
  ) u_from (
    .clk_i (from_clk_i),
    .rst_ni(from_rst_ni),
    .from_i,
    .word_o(word),
    .ask_o (ask),
    .took_i(took)
  );

  crossing_to #(
    .Width(Width)
  ) u_to (
    .clk_i (to_clk_i),
    .rst_ni(to_rst_ni),
    .word_i(word),
    .ask_i (ask),
    .took_o(took),
    .to_o
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The side of a crossing to which a word comes: it is taken when ask_i has been seen to change, two clocks after.
module crossing_to #(
  parameter int unsigned Width = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [Width-1:0] word_i,
  input  logic             ask_i,
  output logic             took_o,
  output logic [Width-1:0] to_o
);

  logic [1:0] ask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_q  <= '0;
      took_o <= 1'b0;
      to_o   <= '0;
    end else begin
      ask_q  <= {ask_q[0], ask_i};
      took_o <= ask_q[1];
      if (ask_q[1] != took_o) to_o <= word_i;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The side of a crossing from which a word comes: it stands still from the change of ask_o until took_i has followed.
module crossing_from #(
  parameter int unsigned Width = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [Width-1:0] from_i,
  output logic [Width-1:0] word_o,
  output logic             ask_o,
  input  logic             took_i
);

  logic [1:0] took_q;
  logic differs_q;

  // A clock between comparison and use: what is sent is what there is then.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      took_q    <= '0;
      differs_q <= 1'b0;
      ask_o     <= 1'b0;
      word_o    <= '0;
    end else begin
      took_q    <= {took_q[0], took_i};
      differs_q <= word_o != from_i && took_q[1] == ask_o && !differs_q;
      if (differs_q) begin
        word_o <= from_i;
        ask_o  <= !ask_o;
      end
    end
  end

endmodule

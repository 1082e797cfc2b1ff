// SPDX-License-Identifier: Apache-2.0
// A word from one clock to another: the newest one whenever the one before has arrived.
module small_crossing #(
  parameter int unsigned Width = 8
) (
  input  logic             from_clk_i,
  input  logic             from_rst_ni,
  input  logic [Width-1:0] from_i,
  input  logic             to_clk_i,
  input  logic             to_rst_ni,
  output logic [Width-1:0] to_o
);
  logic [Width-1:0] word_q;
  logic ask_q, took_q;
  logic [1:0] ask_there_q, took_there_q;
  always_ff @(posedge from_clk_i or negedge from_rst_ni) begin
    if (!from_rst_ni) {word_q, ask_q, took_there_q} <= '0;
    else begin
      took_there_q <= {took_there_q[0], took_q};
      if (took_there_q[1] == ask_q && word_q != from_i) begin
        word_q <= from_i;
        ask_q  <= !ask_q;
      end
    end
  end
  always_ff @(posedge to_clk_i or negedge to_rst_ni) begin
    if (!to_rst_ni) {to_o, took_q, ask_there_q} <= '0;
    else begin
      ask_there_q <= {ask_there_q[0], ask_q};
      took_q      <= ask_there_q[1];
      if (ask_there_q[1] != took_q) to_o <= word_q;
    end
  end
endmodule

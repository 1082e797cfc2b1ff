// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is: the first lane that asks behind the one that had its turn last.
//
// Clocks: 2 from a lane's bit to its number. For 2 clocks behind a turn there is none.
module array_turn
  import array_front_pkg::*;
#(
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic  [Lanes-1:0] valid_i,
  // The lane that is shown has its turn, and no longer asks in the clock behind.
  input  logic              taken_i,
  output logic              valid_o,
  output lane_t             lane_o
);

  logic [Lanes-1:0] behind_q, asks_q;
  logic  taken_q;
  lane_t lane;

  always_comb begin
    lane = '0;
    for (int unsigned l = 0; l < Lanes; l++) if (asks_q[Lanes-1-l]) lane = lane_t'(Lanes - 1 - l);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {behind_q, asks_q, taken_q, valid_o, lane_o} <= '0;
    end else begin
      asks_q  <= (valid_i & behind_q) != '0 ? valid_i & behind_q : valid_i;
      lane_o  <= lane;
      taken_q <= taken_i;
      valid_o <= asks_q != '0 && !taken_i && !taken_q;
      if (taken_i) for (int unsigned l = 0; l < Lanes; l++) behind_q[l] <= lane_t'(l) > lane_o;
    end
  end

endmodule

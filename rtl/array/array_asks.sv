// SPDX-License-Identifier: Apache-2.0
//
// Tiles whose exit has a frame for the entrance: which of them has its turn, and the frame's beats.
//
// Clocks: 1 from what a tile asks for.
module array_asks
  import array_front_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1
) (
  input logic clk_i,
  input logic rst_ni,

  input ask_t    [Tiles-1:0] asks_i,
  input stream_t [Tiles-1:0] forwards_i,

  // The next tile that asks has its turn.
  input  logic  next_i,
  // One asks; the one whose turn it is does, for this lane; another one does.
  output logic  any_o,
  output logic  asked_o,
  output logic  others_o,
  output tile_t tile_o,
  output lane_t lane_o,

  // Beats of the one that has been taken.
  output stream_t forward_o
);

  ask_t [Tiles-1:0] asks_q;
  logic [Tiles-1:0] asks, behind;
  tile_t tile_q, next;

  assign tile_o = tile_q;
  assign any_o  = asks != '0;

  always_comb begin
    {forward_o, lane_o, next, asked_o, others_o} = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      forward_o |= forwards_i[t];
      asks[t]   = asks_q[t].valid;
      behind[t] = asks_q[t].valid && tile_t'(t) > tile_q;
      if (tile_q == tile_t'(t)) begin
        asked_o = asks_q[t].valid;
        lane_o  = asks_q[t].lane;
      end else begin
        others_o |= asks_q[t].valid;
      end
    end
    // In turns.
    for (int t = Tiles - 1; t >= 0; t--) if (behind[t] || (behind == '0 && asks[t])) next = tile_t'(t);
  end

  // An exit asks until it has been told something, and for a few clocks longer: a frame is looked at for more.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {asks_q, tile_q} <= '0;
    else begin
      asks_q <= asks_i;
      if (next_i && any_o) tile_q <= next;
    end
  end

endmodule

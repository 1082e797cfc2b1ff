// SPDX-License-Identifier: Apache-2.0
//
// The frame that is on its way from the entrance: beats of the host, or of a tile's exit. Whoever it is for is far away, so
// beats leave from a queue, and what is said of them ends there. The frame is over when its last beat has been taken: what
// waits in the queue may be waiting for an answer, and nobody else's frame is to wait behind it.
//
// Clocks: 1 from a beat to where it goes, 1 from the last one's taking to over_o. One beat a clock.
module array_pass
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1
) (
  input logic clk_i,
  input logic rst_ni,

  // A frame has its way, and comes from a tile or from the host.
  input logic start_i,
  input logic tile_i,

  input  stream_t host_i,
  output logic    host_ready_o,
  input  stream_t forward_i,
  output logic    forward_ready_o,

  // Whoever it is for, until it is over.
  input  logic    [Tiles-1:0] to_lane_i,
  input  logic                to_loader_i,
  output stream_t             beat_o,
  input  logic    [Tiles-1:0] lanes_ready_i,
  input  logic                loader_ready_i,
  output logic                over_o
);

  logic host_q, tile_q;  // beats of it are still to come
  logic ready, taken;
  stream_t in;

  always_comb begin
    in = '0;
    if (host_q) in = host_i;
    if (tile_q) in = forward_i;
  end
  assign host_ready_o    = host_q && ready;
  assign forward_ready_o = tile_q && ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {host_q, tile_q, over_o} <= '0;
    else begin
      if (start_i) {host_q, tile_q} <= {!tile_i, tile_i};
      else if (in.valid && in.last && ready) {host_q, tile_q} <= '0;
      over_o <= beat_o.valid && beat_o.last && taken;
    end
  end

  assign taken = (to_lane_i & lanes_ready_i) != '0 || (to_loader_i && loader_ready_i);

  skid_buffer #(
    .Width(65)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .s_valid_i(in.valid),
    .s_ready_o(ready),
    .s_data_i ({in.last, in.data}),
    .m_valid_o(beat_o.valid),
    .m_ready_i(taken),
    .m_data_o ({beat_o.last, beat_o.data})
  );

endmodule

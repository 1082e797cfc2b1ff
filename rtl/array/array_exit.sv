// SPDX-License-Identifier: Apache-2.0
//
// Answers of several tiles into one stream, each whole: the next one is that of the next tile that has one.
//
// Clocks: 1 between the last beat of an answer and the first one of another tile's.
module array_exit
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 2
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t [Tiles-1:0] s_i,
  output logic    [Tiles-1:0] s_ready_o,

  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,
  // No beat waits here.
  output logic    empty_o
);

  logic [Tiles-1:0] turn_q, turn;
  logic busy_q, ready;
  stream_t chosen;

  // While no answer is on its way the turn goes round.
  assign turn = {turn_q[Tiles-2:0], turn_q[Tiles-1]};

  always_comb begin
    chosen = '0;
    for (int unsigned t = 0; t < Tiles; t++) if (turn_q[t]) chosen |= s_i[t];
  end

  assign s_ready_o = turn_q & {Tiles{ready}};
  assign empty_o   = !m_axis_o.valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q <= Tiles'(1);
      busy_q <= 1'b0;
    end else begin
      if (chosen.valid) busy_q <= !(ready && chosen.last);
      if (chosen.valid ? ready && chosen.last : !busy_q) turn_q <= turn;
    end
  end

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i(chosen.valid),
    .s_ready_o(ready),
    .s_data_i ({chosen.last, chosen.data}),
    .m_valid_o(m_axis_o.valid),
    .m_ready_i(m_axis_ready_i),
    .m_data_o ({m_axis_o.last, m_axis_o.data})
  );

endmodule

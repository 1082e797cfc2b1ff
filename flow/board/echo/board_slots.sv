// SPDX-License-Identifier: Apache-2.0
//
// A board's slots give back what they get, for measurements. They have no tiles.
module board_slots
  import slot_pkg::stream_t;
#(
  parameter int unsigned Slots = 1,
  parameter int unsigned Tiles = 0
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t [Slots-1:0] s_axis_i,
  output logic    [Slots-1:0] s_axis_ready_o,
  output stream_t [Slots-1:0] m_axis_o,
  input  logic    [Slots-1:0] m_axis_ready_i
);

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    echo_slot u_slot (
      .clk_i,
      .rst_ni,
      .s_axis_tdata (s_axis_i[s].data),
      .s_axis_tvalid(s_axis_i[s].valid),
      .s_axis_tready(s_axis_ready_o[s]),
      .s_axis_tlast (s_axis_i[s].last),
      .m_axis_tdata (m_axis_o[s].data),
      .m_axis_tvalid(m_axis_o[s].valid),
      .m_axis_tready(m_axis_ready_i[s]),
      .m_axis_tlast (m_axis_o[s].last)
    );
  end

endmodule

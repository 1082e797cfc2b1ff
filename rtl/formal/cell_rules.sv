// SPDX-License-Identifier: Apache-2.0
//
// What holds for every cell that a stream goes through: offers stay, and what goes in comes out once, in order and soon.
module cell_rules #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 2,
  // Data is zero while there is none.
  parameter bit Zero = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i,
  input logic s_valid_i,
  input logic s_ready_o,
  input logic [Width-1:0] s_data_i,
  input logic m_valid_o,
  input logic m_ready_i,
  input logic [Width-1:0] m_data_o
);

  stream_rules #(
    .Width(Width),
    .Zero (Zero)
  ) u_offer (
    .clk_i,
    .rst_ni,
    .revoke_i(clear_i),
    .valid_i (m_valid_o),
    .ready_i (m_ready_i),
    .data_i  (m_data_o)
  );

  order_rules #(
    .Width(Width),
    .Depth(Depth)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i,
    .s_valid_i,
    .s_ready_i(s_ready_o),
    .s_data_i,
    .m_valid_i(m_valid_o),
    .m_ready_i,
    .m_data_i (m_data_o)
  );

endmodule

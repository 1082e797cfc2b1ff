// SPDX-License-Identifier: Apache-2.0
//
// A cell between any two neighbours that keep the rules.
module cell_harness #(
  parameter int unsigned Width = 4,
  // A spill_register, in place of a skid_buffer.
  parameter bit Spill = 1'b0
) (
  input logic clk_i,
  input logic s_valid_i,
  input logic [Width-1:0] s_data_i,
  input logic m_ready_i
);

  logic rst_ni, s_ready_o;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  if (Spill) begin : gen_spill
    spill_register #(
      .Width(Width)
    ) u_dut (
      .m_valid_o(),
      .m_data_o (),
      .*
    );
  end else begin : gen_skid
    skid_buffer #(
      .Width(Width)
    ) u_dut (
      .m_valid_o(),
      .m_data_o (),
      .*
    );
  end

  stream_rules #(
    .Width (Width),
    .Assume(1'b1)
  ) u_environment (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (s_valid_i),
    .ready_i (s_ready_o),
    .data_i  (s_data_i)
  );

endmodule

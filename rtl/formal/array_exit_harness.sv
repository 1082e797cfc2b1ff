// SPDX-License-Identifier: Apache-2.0
//
// array_exit between tiles with any answers and any host.
module array_exit_harness
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 4
) (
  input logic clk_i,
  input stream_t [Tiles-1:0] s_i,
  input logic m_axis_ready_i
);

  // What has to be reachable: shown by a proof that it is not, which fails.
  localparam bit NoTurn = 1'b0;

  logic rst_ni;
  logic [Tiles-1:0] s_ready;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  array_exit #(
    .Tiles(Tiles)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .s_i,
    .s_ready_o(s_ready),
    .m_axis_o (),
    .m_axis_ready_i,
    .empty_o  ()
  );

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    stream_rules #(
      .Width (65),
      .Assume(1'b1)
    ) u_rules (
      .clk_i,
      .rst_ni,
      .revoke_i(1'b0),
      .valid_i (s_i[t].valid),
      .ready_i (s_ready[t]),
      .data_i  ({s_i[t].last, s_i[t].data})
    );
  end

  if (NoTurn) begin : gen_cover
    always_ff @(posedge clk_i) if (rst_ni) assert (u_dut.u_check.others_q[0] == '0);
  end

endmodule

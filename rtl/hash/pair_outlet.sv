// SPDX-License-Identifier: Apache-2.0
//
// The exit of a slot with two ways: responses one after the other, as they are finished. A way's first result beat
// comes when its frame is in and its hash is done, so that the other one never waits for more than one response.
//
// Latency: 2 clocks for the first beat, 1 for the others. Throughput: one beat per clock.
module pair_outlet
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // From the ways.
  input  stream_t [1:0] way_i,
  output logic    [1:0] ready_o,

  // This way's response is out.
  output logic [1:0] answered_o,

  output stream_t m_axis_o,
  input  logic    m_axis_ready_i
);

  logic [1:0] open_q;  // this way's response is going out
  logic out_ready;
  logic [1:0] valid;

  assign valid      = {way_i[1].valid, way_i[0].valid};
  assign ready_o    = open_q & {2{out_ready}};
  assign answered_o = ready_o & valid & {way_i[1].last, way_i[0].last};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else if (open_q == '0) open_q <= {valid[1] && !valid[0], valid[0]};
    else if (answered_o != '0) open_q <= '0;
  end

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i((open_q & valid) != '0),
    .s_ready_o(out_ready),
    .s_data_i (open_q[1] ? {way_i[1].last, way_i[1].data} : {way_i[0].last, way_i[0].data}),
    .m_valid_o(m_axis_o.valid),
    .m_ready_i(m_axis_ready_i),
    .m_data_o ({m_axis_o.last, m_axis_o.data})
  );

endmodule

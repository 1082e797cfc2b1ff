// SPDX-License-Identifier: Apache-2.0
//
// The exit of a slot with two ways: responses one after the other, as they are finished. A way's first result beat
// comes when its frame is in and its hash is done, so that the other one never waits for more than one response.
//
// Latency: 2 clocks for the first beat, 1 for the others. Throughput: one beat per clock.
module pair_outlet (
  input logic clk_i,
  input logic rst_ni,

  // From the ways.
  input  logic [1:0]       valid_i,
  output logic [1:0]       ready_o,
  input  logic [1:0][63:0] beat_i,
  input  logic [1:0]       last_i,

  // This way's response is out.
  output logic [1:0] answered_o,

  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  logic [1:0] open_q;  // this way's response is going out
  logic out_ready;

  assign ready_o    = open_q & {2{out_ready}};
  assign answered_o = ready_o & valid_i & last_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else if (open_q == '0) open_q <= {valid_i[1] && !valid_i[0], valid_i[0]};
    else if (answered_o != '0) open_q <= '0;
  end

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i((open_q & valid_i) != '0),
    .s_ready_o(out_ready),
    .s_data_i (open_q[1] ? {last_i[1], beat_i[1]} : {last_i[0], beat_i[0]}),
    .m_valid_o(m_axis_tvalid),
    .m_ready_i(m_axis_tready),
    .m_data_o ({m_axis_tlast, m_axis_tdata})
  );

endmodule

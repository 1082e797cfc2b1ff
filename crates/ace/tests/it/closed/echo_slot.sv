// SPDX-License-Identifier: Apache-2.0
//
// A slot that gives back what it gets, but for a count: its image (echo.bit.gz, which the flow made of this with seed 1)
// has nextpnr's source of zeros in it, and nothing that reads it.

module echo_shell (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);
  logic        full_q;
  logic [64:0] beat_q;
  assign s_axis_tready = !full_q;
  assign m_axis_tvalid = full_q;
  assign {m_axis_tlast, m_axis_tdata} = beat_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_q ? !m_axis_tready : s_axis_tvalid;
  end
  always_ff @(posedge clk_i) begin
    if (!full_q) beat_q <= {s_axis_tlast, s_axis_tdata};
  end
endmodule
module echo_front (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);
  echo_shell u_shell (.*);
endmodule
module echo_core (input logic clk_i, input logic rst_ni, output logic [7:0] count_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_o <= 8'd1;
    else count_o <= {count_o[6:0], ^(count_o & 8'hb8)};
  end
endmodule
module echo_slot (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);
  logic [63:0] data;
  logic [ 7:0] count;
  echo_front u_front (.m_axis_tdata(data), .*);
  echo_core u_core (.clk_i, .rst_ni, .count_o(count));
  assign m_axis_tdata = data ^ {56'b0, count};
endmodule

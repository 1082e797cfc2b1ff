// SPDX-License-Identifier: Apache-2.0
//
// Of a text whose tag is wrong nothing leaves (RFC 5116, section 2.2): what says so is the whole answer.
module array_outlet_check
  import array_front_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input stream_t m_axis_o,
  input logic m_axis_ready_i
);

  trailer_t trailer;
  logic text_q;
  assign trailer = trailer_t'(m_axis_o.data);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) text_q <= 1'b0;
    else if (m_axis_o.valid && m_axis_ready_i) text_q <= !m_axis_o.last;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && m_axis_o.valid && m_axis_o.last && trailer.status == StatusBadTag) assert (!text_q);
  end

endmodule

bind array_outlet array_outlet_check u_check (.*);

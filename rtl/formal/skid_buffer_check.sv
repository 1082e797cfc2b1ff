// SPDX-License-Identifier: Apache-2.0
//
// skid_buffer: a word that was taken does not stay behind.
module skid_buffer_check #(
  parameter int unsigned Width = 64
) (
  input logic clk_i,
  input logic rst_ni,
  input logic m_valid_o,
  input logic write_q,
  input logic [1:0][Width-1:0] word_q
);

  logic empty_q;  // so it was in the clock before

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) empty_q <= 1'b0;
    else empty_q <= !m_valid_o;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && empty_q && !m_valid_o) begin
      assert (word_q[!write_q] == '0)
      else $error("a word that was taken is still there");
    end
  end

endmodule

bind skid_buffer skid_buffer_check #(.Width(Width)) u_check (.*);
bind skid_buffer cell_rules #(.Width(Width)) u_rules (.*);

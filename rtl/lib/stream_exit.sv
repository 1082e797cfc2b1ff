// SPDX-License-Identifier: Apache-2.0
//
// The registered exit of a stream: valid and data come straight from flip-flops, and so does s_ready_o, so
// that back-pressure does not reach through. A skid word takes what arrives while the output stalls.
//
// Latency: 1 clock. Throughput: one word per clock.
module stream_exit #(
  // Bits per word.
  parameter int unsigned Width = 64
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             s_valid_i,
  output logic             s_ready_o,
  input  logic [Width-1:0] s_data_i,

  output logic             m_valid_o,
  input  logic             m_ready_i,
  output logic [Width-1:0] m_data_o
);

  logic valid_q;  // the output word counts
  logic skid_q;  // the skid word counts
  logic [Width-1:0] data_q, skid_data_q;

  logic advance;
  assign advance   = !valid_q || m_ready_i;

  assign s_ready_o = !skid_q;
  assign m_valid_o = valid_q;
  assign m_data_o  = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q     <= 1'b0;
      skid_q      <= 1'b0;
      data_q      <= '0;
      skid_data_q <= '0;
    end else begin
      skid_q <= !advance && (skid_q || s_valid_i);
      if (!skid_q) skid_data_q <= s_data_i;
      if (advance) begin
        valid_q <= skid_q || s_valid_i;
        data_q  <= skid_q ? skid_data_q : s_data_i;
      end
    end
  end

endmodule

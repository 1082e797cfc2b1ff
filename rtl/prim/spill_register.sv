// SPDX-License-Identifier: Apache-2.0
//
// The registered exit of a stream: valid and data come straight from flip-flops, and so does s_ready_o, so
// that back-pressure does not reach through. A spare word takes what arrives while the output stalls.
//
// A word that does not count is zero, whatever s_data_i shows meanwhile: by the flip-flops' own synchronous reset, and
// not by a gate in front of every bit, which would lie behind whatever decides s_valid_i. So a clear has nothing to do
// here, and what is on its way out is not lost by one. A reset takes the word from the output with the clock, and the
// output's valid with it: data never stands there alone.
//
// Latency: 1 clock. Throughput: one word per clock.
module spill_register #(
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
  logic spare_valid_q;  // the spare word counts
  logic [Width-1:0] data_q, spare_q;

  logic advance;
  logic none;  // no word is there for the output, nor does one come
  logic valid_d, wipe;
  assign advance   = !valid_q || m_ready_i;
  assign none      = !spare_valid_q && !s_valid_i;
  assign valid_d   = rst_ni && !(advance && none);
  assign wipe      = !rst_ni || (advance && none);

  assign s_ready_o = !spare_valid_q;
  assign m_valid_o = valid_q;
  assign m_data_o  = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) spare_valid_q <= 1'b0;
    else spare_valid_q <= !advance && (spare_valid_q || s_valid_i);
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid_d;
    if (wipe) data_q <= '0;
    else if (advance) data_q <= spare_valid_q ? spare_q : s_data_i;
    if (advance || none) spare_q <= '0;
    else if (!spare_valid_q) spare_q <= s_data_i;
  end

endmodule

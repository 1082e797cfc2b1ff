// SPDX-License-Identifier: Apache-2.0
//
// Fills the tables of the four S-boxes that a key makes: every byte goes through the layers under the S-vector,
// two clocks each, beside the first blocks; and for a key of zeros when the key is forgotten.
//
// From the last key beat to full_o: 267 clocks, for all key lengths.
module twofish_fill
  import core_pkg::*;
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // Starts over: with every key beat.
  input logic start_i,

  // As of the key beats so far; the S-vector follows in two clocks.
  input logic        short_i,
  input logic        long_i,
  input word_t [3:0] s_i,

  // All is written; it will not be for some clocks yet.
  output logic full_o,
  output logic far_o,

  // Entry write_at_o of each of the four tables.
  output logic            write_o,
  output byte_t           write_at_o,
  output products_t [3:0] write_data_o
);

  localparam logic [8:0] Latency = 9'd10;
  localparam logic [8:0] Last = 9'd255 + Latency;

  logic [8:0] at_q;  // byte at_q goes in
  logic full_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q   <= '0;
      full_q <= 1'b0;
    end else if (start_i || (clear_i.active && clear_i.index == '0)) begin
      at_q   <= '0;
      full_q <= 1'b0;
    end else if (!full_q) begin
      at_q   <= at_q + 9'd1;
      full_q <= at_q == Last;
    end
  end

  assign full_o = full_q;
  assign far_o  = !at_q[8];

  twofish_layers #(
    .Registered(1'b1)
  ) u_layers (
    .clk_i,
    .enable_i(1'b1),
    .short_i,
    .long_i,
    .x_i     (at_q[7:0]),
    .key_i   (s_i),
    .y_o     (write_data_o)
  );

  assign write_o    = !full_q;
  assign write_at_o = at_q[7:0] - Latency[7:0];

endmodule

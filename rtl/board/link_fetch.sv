// SPDX-License-Identifier: Apache-2.0
//
// Words of the receive queue as a stream: those of whole frames alone. The place of a word is free when it is taken.
//
// Latency: 3 clocks. Throughput: one word per clock.
module link_fetch #(
  parameter int unsigned AddressBits = 11
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [AddressBits-1:0] committed_i,
  output logic                   read_o,
  output logic [AddressBits-1:0] read_at_o,
  output logic [AddressBits-1:0] taken_o,

  // The word itself is what the memory shows.
  output logic valid_o,
  input  logic ready_i
);

  logic first_q, there;

  assign there  = read_at_o != committed_i;
  assign read_o = !valid_o || ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_at_o <= '0;
      taken_o   <= '0;
      first_q   <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      if (read_o) begin
        first_q <= there;
        valid_o <= first_q;
        if (there) read_at_o <= read_at_o + AddressBits'(1);
      end
      if (valid_o && ready_i) taken_o <= taken_o + AddressBits'(1);
    end
  end

endmodule

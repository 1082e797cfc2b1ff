// SPDX-License-Identifier: Apache-2.0
//
// The tap of the receive delay: it walks to the one that is asked for, a tap in 8 clocks. While no frame has come whole
// since the reset, and nobody has asked for one, it is moved by 8 every 2^SearchBits clocks.
module taps #(
  parameter int unsigned SearchBits = 18
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       go_i,
  input  logic [6:0] tap_i,
  input  logic       whole_i,   // a frame has come whole
  output logic [6:0] tap_o,
  output logic       arrived_o,

  // To the delay lines: a tap further, or down, where move_o falls.
  output logic move_o,
  output logic down_o
);

  logic [6:0] want_q;
  logic [2:0] phase_q;
  logic [SearchBits-1:0] search_q;
  logic found_q, apart_q;

  assign arrived_o = !apart_q && phase_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      want_q   <= '0;
      phase_q  <= '0;
      search_q <= '0;
      found_q  <= 1'b0;
      apart_q  <= 1'b0;
      tap_o    <= '0;
      move_o   <= 1'b0;
      down_o   <= 1'b0;
    end else begin
      found_q  <= found_q || whole_i || go_i;
      search_q <= found_q ? '0 : search_q + SearchBits'(1);
      apart_q  <= want_q != tap_o;
      if (go_i) want_q <= tap_i;
      else if (search_q == '1) want_q <= want_q + 7'd8;

      // Direction first, then the step, then its end.
      if (phase_q != '0 || apart_q) phase_q <= phase_q + 3'd1;
      if (phase_q == 3'd1) down_o <= want_q < tap_o;
      if (phase_q == 3'd3) move_o <= want_q != tap_o;
      if (phase_q == 3'd5) begin
        move_o <= 1'b0;
        if (move_o) tap_o <= down_o ? tap_o - 7'd1 : tap_o + 7'd1;
      end
    end
  end

endmodule

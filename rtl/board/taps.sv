// SPDX-License-Identifier: Apache-2.0
//
// The tap of the receive delay: it walks to the one that is asked for, a tap in 8 clocks. While no frame has come whole
// since the reset, and nobody has asked for one, it is moved by 8 every 2^SearchBits clocks. One that is asked for is on
// trial: unless a frame comes whole within as many clocks of its arrival, the one before is asked for again.
module taps
  import board_pkg::*;
#(
  parameter int unsigned SearchBits = 18
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       go_i,
  input  logic [6:0] tap_i,
  input  logic [3:0] whole_i,   // frames that have come whole, modulo 2^4
  output logic [6:0] tap_o,
  output logic       arrived_o,

  // To the delay lines: a tap further, or down, where move_o falls.
  output logic move_o,
  output logic down_o
);

  logic [6:0] want_q, back_q;
  logic [TallyBits-1:0] seen_q;
  logic [2:0] phase_q;
  logic [SearchBits-1:0] search_q;
  logic found_q, trial_q, apart_q, late_q;

  // Wherever it begins: nothing but its going round counts.
  always_ff @(posedge clk_i) begin
    if (trial_q && !arrived_o) {late_q, search_q} <= '0;
    else {late_q, search_q} <= {1'b0, search_q} + (SearchBits + 1)'(1);
  end

  assign arrived_o = !apart_q && phase_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      want_q  <= '0;
      phase_q <= '0;
      found_q <= 1'b0;
      trial_q <= 1'b0;
      back_q  <= '0;
      seen_q  <= '0;
      apart_q <= 1'b0;
      tap_o   <= '0;
      move_o  <= 1'b0;
      down_o  <= 1'b0;
    end else begin
      apart_q <= want_q != tap_o;
      if (go_i) begin
        want_q  <= tap_i;
        found_q <= 1'b1;
        trial_q <= 1'b1;
        seen_q  <= whole_i;
        if (!trial_q) back_q <= want_q;
      end else if (trial_q) begin
        if (!arrived_o) seen_q <= whole_i;
        else if (seen_q != whole_i) trial_q <= 1'b0;
        else if (late_q) begin
          trial_q <= 1'b0;
          want_q  <= back_q;
        end
      end else if (!found_q) begin
        if (whole_i != '0) found_q <= 1'b1;
        else if (late_q) want_q <= want_q + 7'd8;
      end

      // Direction first, then the step, then its end.
      if (phase_q != '0 || apart_q) phase_q <= phase_q + 3'd1;
      if (phase_q == 3'd1) down_o <= want_q < tap_o;
      if (phase_q == 3'd3) move_o <= apart_q;
      if (phase_q == 3'd5) begin
        move_o <= 1'b0;
        if (move_o) tap_o <= down_o ? tap_o - 7'd1 : tap_o + 7'd1;
      end
    end
  end

endmodule

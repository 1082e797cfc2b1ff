// SPDX-License-Identifier: Apache-2.0
//
// When a block has to be chosen so that its words are there at its start: so many clocks before it, which may be more
// than one interval of the set. Every start has its pulse.
//
// The start is the ahead_o-th one behind the pulse.
module array_pulse
  import array_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // A set's interval less one, by how much a block moves the base of inputs, and clocks from the pulse to the start, which
  // are less than three intervals. There is a hold until they have stood for 10 clocks. No pulses come meanwhile, nor
  // before the first start behind a change.
  input logic [ContextBits-1:0] last_i,
  input logic [StreamBits-1:0] stride_i,
  input logic [6:0] lead_i,
  input logic changing_i,
  input logic hold_i,

  input  logic                  start_i,
  output logic                  pulse_o,
  output logic [           1:0] ahead_o,
  output logic [StreamBits-1:0] base_ahead_o
);

  typedef logic signed [ContextBits+1:0] clocks_t;

  // As many intervals as it takes, one a clock: then so many clocks behind a start's next one.
  clocks_t at_q, pulse_at_q;
  logic [1:0] ahead_q;
  logic [StreamBits-1:0] base_q;
  logic [ContextBits-1:0] since_q;
  logic near_q, synced_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {at_q, pulse_at_q, ahead_q, base_q, ahead_o, base_ahead_o} <= '0;
      {since_q, near_q, synced_q} <= '0;
    end else begin
      if (at_q >= 0) begin
        at_q    <= -clocks_t'({1'b0, lead_i}) - clocks_t'(1);
        ahead_q <= '0;
        base_q  <= '0;
      end else begin
        at_q    <= at_q + clocks_t'({1'b0, last_i}) + clocks_t'(1);
        ahead_q <= ahead_q + 2'd1;
        base_q  <= base_q + stride_i;
      end
      if (at_q >= 0) begin
        // In the clock before the pulse; of that behind a start in the start's own.
        pulse_at_q   <= at_q == 0 ? clocks_t'({2'b0, last_i}) : at_q - clocks_t'(1);
        ahead_o      <= ahead_q;
        base_ahead_o <= base_q;
      end
      since_q  <= start_i ? '0 : since_q + 1'b1;
      synced_q <= !changing_i && (synced_q || start_i);
      near_q   <= synced_q && !hold_i && clocks_t'({2'b0, since_q}) == pulse_at_q;
    end
  end

  assign pulse_o = near_q;

endmodule

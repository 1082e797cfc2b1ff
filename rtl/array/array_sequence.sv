// SPDX-License-Identifier: Apache-2.0
//
// Counts contexts, blocks and bases. A block starts with context 0; nothing ever stands still. Another bank takes
// over when the last context has run after switch_i.
//
// Latency: the context's address is that of clock t, block and bases are those of the context in clock t + 2. Behind a
// reset the first start comes in the clock behind the first one.
module array_sequence
  import array_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // What runs from the next start on.
  input logic      switch_i,
  input settings_t settings_i,

  output logic [ContextBits-1:0] context_o,
  output logic                   context_bank_o,
  // That of the elements, two clocks later.
  output logic                   bank_o,

  // In the clock before a block's context 0, from whose clock on it is block_o.
  output logic                  start_o,
  output logic [ StageBits-1:0] block_o,
  output logic [MemoryBits-1:0] memory_base_o,
  output logic [StreamBits-1:0] input_base_o,
  output logic [StreamBits-1:0] output_base_o
);

  settings_t next_q, settings_q, late_q;
  logic pending_q, wrap, wrap1_q, wrap2_q;

  assign wrap           = context_o == settings_q.last;
  assign context_bank_o = settings_q.bank;
  assign bank_o         = late_q.bank;
  assign start_o        = wrap2_q;

  always_ff @(posedge clk_i) begin
    if (switch_i) next_q <= settings_i;
    pending_q <= switch_i || (pending_q && !wrap);
    context_o <= wrap ? '0 : context_o + 1'b1;
    wrap1_q   <= wrap;
    wrap2_q   <= wrap1_q;
    if (wrap && pending_q) settings_q <= next_q;
    if (wrap2_q) begin
      late_q        <= settings_q;
      block_o       <= block_o + 1'b1;
      memory_base_o <= memory_base_o + settings_q.memory_stride;
      input_base_o  <= input_base_o + settings_q.input_stride;
      output_base_o <= output_base_o + settings_q.output_stride;
    end
    if (!rst_ni) begin
      pending_q     <= 1'b0;
      context_o     <= '0;
      wrap1_q       <= 1'b1;
      wrap2_q       <= 1'b0;
      settings_q    <= '0;
      late_q        <= '0;
      block_o       <= '0;
      memory_base_o <= '0;
      input_base_o  <= '0;
      output_base_o <= '0;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The key of a frame on its way into a context of the core, and which context holds the key that is kept for frames
// without one of their own. The beats reach the core from registers, a clock after they came.
module lane_key
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A frame starts; then its key, where it has one, beat by beat. A key that was cut short is completed with
  // beats that are made up, and is not kept.
  input logic           start_i,
  input stream_t        beat_i,
  input logic     [5:0] len_i,
  input logic           made_up_i,
  input context_t       context_i,

  // A whole key is kept, and where.
  output logic     kept_o,
  output context_t kept_context_o,
  // A key is on its way, or being expanded.
  output logic     pending_o,

  output key_beat_t key_o,
  input  logic      key_busy_i
);

  logic [Shape.context_bits-1:0] kept_context_q;
  assign kept_context_o = context_t'(kept_context_q);

  logic valid_q, last_q;
  logic [2:0] index_q;
  logic [63:0] key_q;
  logic sent_q;  // all of it is in the core
  logic done;
  assign done  = pending_o && sent_q && !key_busy_i;
  assign key_o = '{valid: valid_q, data: key_q, index: index_q, last: last_q, len: len_i};

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_q <= '0;
    else key_q <= beat_i.data;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {kept_o, kept_context_q, pending_o, sent_q, valid_q, last_q, index_q} <= '0;
    else begin
      valid_q <= beat_i.valid;
      last_q  <= beat_i.last;
      if (start_i) index_q <= '0;
      else if (valid_q) index_q <= index_q + 3'd1;
      if (clear_i.active) kept_o <= 1'b0;
      else if (beat_i.valid) kept_o <= beat_i.last && !made_up_i;
      if (beat_i.valid) kept_context_q <= context_i[Shape.context_bits-1:0];
      pending_o <= (beat_i.valid || (pending_o && !done)) && !clear_i.active;
      sent_q    <= (valid_q && last_q) || (sent_q && pending_o && !done);
    end
  end

endmodule

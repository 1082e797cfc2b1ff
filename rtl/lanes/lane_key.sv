// SPDX-License-Identifier: Apache-2.0
//
// The key of a frame on its way into a context of the core, and which context holds the key that is kept for frames
// without one of their own. The beats reach the core from registers, a clock after they came.
module lane_key
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape,

  localparam int unsigned ContextWidth = $clog2(Shape.contexts)
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A frame starts; then its key, where it has one, beat by beat. A key that was cut short is completed with
  // beats that are made up, and is not kept.
  input logic                    start_i,
  input logic                    beat_valid_i,
  input logic [            63:0] beat_i,
  input logic                    last_i,
  input logic                    made_up_i,
  input logic [ContextWidth-1:0] context_i,

  // A whole key is kept, and where.
  output logic                    kept_o,
  output logic [ContextWidth-1:0] kept_context_o,
  // A key is on its way, or being expanded.
  output logic                    pending_o,

  output logic        key_valid_o,
  output logic [63:0] key_o,
  output logic [ 2:0] key_index_o,
  output logic        key_last_o,
  input  logic        key_busy_i
);

  logic sent_q;  // all of it is in the core
  logic done;
  assign done = pending_o && sent_q && !key_busy_i;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_o <= '0;
    else key_o <= beat_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kept_o         <= 1'b0;
      kept_context_o <= '0;
      pending_o      <= 1'b0;
      sent_q         <= 1'b0;
      key_valid_o    <= 1'b0;
      key_last_o     <= 1'b0;
      key_index_o    <= '0;
    end else begin
      key_valid_o <= beat_valid_i;
      key_last_o  <= last_i;
      if (start_i) key_index_o <= '0;
      else if (key_valid_o) key_index_o <= key_index_o + 3'd1;
      if (clear_i.active) kept_o <= 1'b0;
      else if (beat_valid_i) kept_o <= last_i && !made_up_i;
      if (beat_valid_i) kept_context_o <= context_i;
      pending_o <= (beat_valid_i || (pending_o && !done)) && !clear_i.active;
      sent_q    <= (key_valid_o && key_last_o) || (sent_q && pending_o && !done);
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// From the core's results to the beats of a response: mixed with the mask, cut where the payload ends, and of blocks
// of 16 bytes the second half kept for the next beat. Where results enter with the next block they stay in the core
// until it comes, though they are sent at once.
module cipher_out
  import cipher_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A frame begins, and is dropped.
  input header_t header_i,
  input logic    start_i,
  input logic    abort_i,
  // A frame with payload is under way; the block in the core belongs to a dropped one.
  output logic   active_o,
  output logic   stale_o,

  // As in cipher_in.
  input logic                        feedback_i,
  input logic                        fill_i,
  input logic                        final_i,
  input logic [Shape.block_bits-1:0] mask_i,

  // A block enters the core. take_i: its result is taken elsewhere.
  input  logic      enter_i,
  input  logic      take_i,
  input  core_rsp_t rsp_i,
  output logic      ready_o,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o
);

  localparam bit Unhurried = Shape.unhurried;
  localparam bit Wide = Shape.block_bytes == 16;
  localparam int unsigned Halves = Shape.block_bytes / 8;

  logic stale_d;
  logic inside_q;  // there is a block in the core
  logic inside_final_d, inside_final_q;  // it is the last one
  logic sent_d, sent_q;  // the result in the core is not to be sent any more
  logic active_d;
  logic open_q;  // a result in the core may be sent; one register, for it stands in front of every bit of the response
  logic go_q;  // nothing else holds it back in the core
  logic held;  // the second half of a result waits for its beat
  logic offer, take;  // a result is offered from the core; and taken
  logic leave;
  logic end_taken;  // the last result beat is taken
  logic empty_q;  // there is no payload

  // Nothing here waits for the core: only valid and ready together count.
  assign ready_o        = ((result_ready_i || sent_q) && go_q && !held) || take_i;
  assign leave          = rsp_i.result_valid && ready_o;

  assign offer          = rsp_i.result_valid && open_q && !held;
  assign take           = offer && result_ready_i;

  assign result_valid_o = offer || held;
  assign done_o         = active_o && (end_taken || empty_q);

  assign inside_final_d = enter_i ? final_i : inside_final_q && !start_i;
  assign stale_d        = abort_i || (stale_o && inside_q);
  assign active_d       = (start_i || active_o) && !done_o && !abort_i;
  assign sent_d         = stale_d || ((take || (sent_q && inside_q)) && !leave);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {active_o, empty_q, stale_o, inside_q, inside_final_q, sent_q, open_q, go_q} <= '0;
    else begin
      empty_q        <= header_i.payload_len == '0;
      active_o       <= active_d;
      stale_o        <= stale_d;
      inside_q       <= (enter_i || (inside_q && !leave)) && !clear_i.active;
      inside_final_q <= inside_final_d;
      sent_q         <= sent_d;
      open_q         <= active_d && !sent_d;
      // Where results enter again not before the next block is there, unless there is none.
      go_q           <= stale_d || !feedback_i || fill_i || (enter_i ? final_i : go_q);
    end
  end

  // Bytes behind the end of a payload are zero, and so is what stands here when a frame is over. All this is known long
  // before it is needed.
  logic [       7:0]      whole;  // of its last beat, bytes that count
  logic [Halves-1:0][7:0] keep_q;  // of the result in the core, bytes that count
  logic [Halves-1:0]      last_half;  // the payload ends in this half of a block

  assign last_half = Wide ? Halves'(header_i.payload_len[3] ? 2 : 1) : '1;

  always_comb begin
    for (int unsigned k = 0; k < 8; k++) begin
      whole[k] = header_i.payload_len[2:0] == '0 || 3'(k) < header_i.payload_len[2:0];
    end
  end

  // Without a reset of its own: it is right a clock after one.
  always_ff @(posedge clk_i) begin
    for (int unsigned h = 0; h < Halves; h++) begin
      if (!active_d) keep_q[h] <= '0;
      else if (!((Unhurried ? inside_final_q : inside_final_d) && last_half[h])) keep_q[h] <= '1;
      else keep_q[h] <= whole;
    end
  end

  function automatic logic [63:0] trim(input logic [63:0] x, input logic [7:0] keep);
    for (int unsigned k = 0; k < 8; k++) trim[8*k+:8] = x[8*k+:8] & {8{keep[k]}};
  endfunction

  logic [Shape.block_bits-1:0] mixed;
  assign mixed = rsp_i.result[Shape.block_bits-1:0] ^ mask_i;

  if (Wide) begin : gen_wide
    logic        held_q;
    logic        held_final_q;  // of the last block
    logic        short_q;  // the block in the core is the last one and its result is one beat only
    logic [63:0] rest_q;

    assign held = held_q;
    // rest_q is zero when nothing is held.
    assign result_o = rest_q | trim(mixed[63:0], keep_q[0] & {8{!held_q}});
    assign end_taken = take ? short_q : held_q && held_final_q && result_ready_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {held_q, held_final_q, short_q} <= '0;
      else begin
        held_q <= ((take && !short_q) || (held_q && !result_ready_i)) && !abort_i;
        short_q <= (Unhurried ? inside_final_q : inside_final_d) && header_i.payload_len[3:0] inside {[4'd1 : 4'd8]};
        if (take) held_final_q <= inside_final_q;
      end
    end

    always_ff @(posedge clk_i) begin
      if (!active_o || abort_i || (held_q && result_ready_i)) rest_q <= '0;
      else if (take && !short_q) rest_q <= trim(mixed[Shape.block_bits-1-:64], keep_q[Halves-1]);
    end
  end else begin : gen_narrow
    assign held      = 1'b0;
    assign end_taken = take && inside_final_q;

    assign result_o  = trim(mixed, keep_q[0]);
  end

endmodule

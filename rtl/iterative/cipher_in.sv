// SPDX-License-Identifier: Apache-2.0
//
// From the beats of a frame to the blocks that enter the core. While the core works on a block the next one is
// assembled, so that it enters in the very clock in which the previous result leaves.
//
// Three registers of one block form a chain: next (what enters the core next), chain (what will be mixed in
// later) and mask (what is mixed into the result of the block now in the core). A fourth, start, is mixed into
// what enters the core; it is zero where there is nothing to mix in. Where there is feedback so is the result that
// leaves in that clock.
//   ECB          payload -> next
//   CBC encrypt  payload -> next; start is the IV for the first block, and then there is feedback
//   CBC decrypt  payload -> next -> chain -> mask; chain starts as the IV
//   CTR          payload -> next -> chain, which leaves next zero, so that start, the counter, enters the core;
//                in that clock start counts on and mask = payload
//   OFB          as CTR, but start is the IV for the first block, and then there is feedback
//   CFB          as OFB, but what chain leaves in next is mask, the payload before: encryption feeds back the
//                result with it, decryption nothing
// Nothing but the mixing lies between the core's output and its input, and nothing at all in front of the
// registers. All four are zero between frames.
module cipher_in
  import cipher_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  // The frame, and what kind it is; blocks of it are under way.
  input request_t frame_i,
  input kind_t kind_i,
  input logic active_i,

  // For a beat of IV or payload. stall_i: none yet; take_i: the beat is for here.
  output logic ready_o,
  input  logic stall_i,
  input  logic take_i,

  // To the core.
  output logic                             block_valid_o,
  output logic      [Shape.block_bits-1:0] block_o,
  input  core_rsp_t                        rsp_i,

  // A block of payload is complete and will be offered in the next clock; one enters; it is the last one.
  output logic                        fill_o,
  output logic                        enter_o,
  output logic                        final_o,
  output logic [Shape.block_bits-1:0] mask_o
);

  typedef logic [Shape.block_bits-1:0] block_t;

  localparam bit Cfb = Shape.modes.cfb;
  localparam bit Eager = Shape.eager;
  localparam bit Wide = Shape.block_bytes == 16;
  localparam int unsigned Halves = Shape.block_bytes / 8;
  localparam bit Ready = Shape.unhurried && !Wide;

  block_t next_q, chain_q, mask_q, start_q;
  logic half_q;  // the second beat of a block comes next
  logic full_q;  // next_q is to enter the core
  logic payload_q;  // a block of payload was the last to be completed, not the IV
  logic turn_q;  // next goes to chain in this clock
  logic chained_q;  // the block in the core is to be mixed into the next
  logic load;  // a beat goes into next_q
  logic block_end;  // and completes a block

  assign ready_o = (!full_q || (Eager && enter_o && !kind_i.stream)) && !turn_q && !stall_i;

  assign load = take_i && ready_o;
  assign block_end = load && (!Wide || half_q || frame_i.last);

  assign block_valid_o = full_q;
  assign block_o = next_q ^ start_q ^ (rsp_i.result[Shape.block_bits-1:0] & {Shape.block_bits{chained_q}});
  assign enter_o = full_q && rsp_i.block_ready;
  assign mask_o = mask_q;

  assign fill_o = kind_i.stream ? turn_q && payload_q : block_end && frame_i.section == SecPayload;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {half_q, full_q, final_o, payload_q, turn_q, chained_q} <= '0;
    else begin
      if (frame_i.start || block_end) half_q <= 1'b0;
      else if (load) half_q <= Wide;
      full_q <= (fill_o || (full_q && !enter_o)) && !frame_i.drop;
      if (block_end) begin
        final_o   <= frame_i.last;
        payload_q <= frame_i.section == SecPayload;
      end
      turn_q <= block_end && (frame_i.section == SecIv || kind_i.stream);
      if (frame_i.start) chained_q <= 1'b0;
      else if (enter_o) chained_q <= kind_i.feedback;
    end
  end

  // Data of a frame that is over is forgotten, and with it what a reset found.
  always_ff @(posedge clk_i) begin
    if (!active_i) begin
      chain_q <= '0;
      mask_q  <= '0;
    end else begin
      if (turn_q || enter_o) chain_q <= next_q;
      if (enter_o && kind_i.mixing) mask_q <= chain_q;
    end
    if (!active_i || (turn_q && !(Cfb && kind_i.cfb))) begin
      next_q <= '0;
    end else if (Cfb && turn_q) begin
      next_q <= mask_q;
    end else begin
      for (int unsigned h = 0; h < Halves; h++) begin
        // Until it is full it follows the input: what is not a beat of this block is overwritten.
        if ((!full_q || (Eager && enter_o)) && half_q == 1'(h)) next_q[64*h+:64] <= frame_i.beat;
      end
    end
  end

  // The IV comes to start by an addition, because a counter is what start has to be in CTR: one big-endian
  // number. In all other clocks the beat to be added is zero; or one if Ready, which saves a gate before the sum.
  logic [63:0] iv_q;
  logic [Halves-1:0] write_q;  // the half that iv_q is for
  logic iv_take;
  block_t number, more, sum, counted;

  assign iv_take = load && frame_i.section == SecIv && (kind_i.stream || kind_i.feedback);
  assign number  = {<<8{start_q}};
  assign more    = {<<8{{Halves{iv_q}}}};
  // A block that is to enter is the counter, or ends the start.
  assign sum     = number + (Ready ? more : more | block_t'(full_q));
  assign counted = {<<8{sum}};

  always_ff @(posedge clk_i) begin
    if (!iv_take) iv_q <= Ready ? 64'd1 << 56 : '0;
    else iv_q <= frame_i.beat;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_q <= '0;
    else write_q <= {Halves{iv_take}} & Halves'(half_q ? 2 : 1);
  end

  always_ff @(posedge clk_i) begin
    if (!active_i || (enter_o && !kind_i.count)) start_q <= '0;
    else begin
      for (int unsigned h = 0; h < Halves; h++) begin
        if (write_q[h] || enter_o) start_q[64*h+:64] <= counted[64*h+:64];
      end
    end
  end

endmodule

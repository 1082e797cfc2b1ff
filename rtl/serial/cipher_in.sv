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
  import slot_pkg::*;
#(
  // All as in cipher_modes.
  parameter int unsigned BlockBytes = 16,
  parameter bit Encrypt = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter bit Cfb = 1'b0,
  parameter bit Ofb = 1'b0,
  parameter bit Eager = 1'b0,
  parameter bit Unhurried = 1'b0,

  localparam int unsigned BlockBits = 8 * BlockBytes
) (
  input logic clk_i,
  input logic rst_ni,

  // The kind of the frame: payload goes to the mask (CTR, CFB, OFB); and of these CTR, CFB; results enter with the
  // next block; results are mixed with mask.
  input logic stream_i,
  input logic count_i,
  input logic cfb_i,
  input logic feedback_i,
  input logic mixing_i,

  // A frame begins; it is under way; it is dropped.
  input logic start_i,
  input logic active_i,
  input logic abort_i,

  // Beats of IV and payload. stall_i: none yet.
  input  logic            valid_i,
  output logic            ready_o,
  input  logic            stall_i,
  input  logic     [63:0] beat_i,
  input  section_e        section_i,
  input  logic            last_i,

  // To the core, and what it has as a result.
  output logic                 block_valid_o,
  input  logic                 block_ready_i,
  output logic [BlockBits-1:0] block_o,
  input  logic [BlockBits-1:0] result_i,

  // A block of payload is complete and will be offered in the next clock; one enters; it is the last one.
  output logic                 fill_o,
  output logic                 enter_o,
  output logic                 final_o,
  output logic [BlockBits-1:0] mask_o
);

  typedef logic [BlockBits-1:0] block_t;

  localparam bit Wide = BlockBytes == 16;
  localparam int unsigned Halves = BlockBytes / 8;
  localparam bit Start = Ctr || Cfb || Ofb || (Cbc && Encrypt);
  localparam bit Ready = Unhurried && Ctr && !Wide, One = Ctr && !Ready;

  block_t next_q, chain_q, mask_q, start_q;
  logic half_q;  // the second beat of a block comes next
  logic full_q;  // next_q is to enter the core
  logic payload_q;  // a block of payload was the last to be completed, not the IV
  logic turn_q;  // next goes to chain in this clock
  logic chained_q;  // the block in the core is to be mixed into the next
  logic load;  // a beat goes into next_q
  logic block_end;  // and completes a block

  assign ready_o       = (!full_q || (Eager && enter_o && !stream_i)) && !turn_q && !stall_i;

  assign load          = valid_i && ready_o;
  assign block_end     = load && (!Wide || half_q || last_i);

  assign block_valid_o = full_q;
  assign block_o       = next_q ^ start_q ^ (result_i & {BlockBits{chained_q}});
  assign enter_o       = full_q && block_ready_i;
  assign mask_o        = mask_q;

  assign fill_o        = stream_i ? turn_q && payload_q : block_end && section_i == SecPayload;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      half_q    <= 1'b0;
      full_q    <= 1'b0;
      final_o   <= 1'b0;
      payload_q <= 1'b0;
      turn_q    <= 1'b0;
      chained_q <= 1'b0;
    end else begin
      if (start_i || block_end) half_q <= 1'b0;
      else if (load) half_q <= Wide;
      full_q <= (fill_o || (full_q && !enter_o)) && !abort_i;
      if (block_end) begin
        final_o   <= last_i;
        payload_q <= section_i == SecPayload;
      end
      turn_q <= block_end && (section_i == SecIv || stream_i);
      if (start_i) chained_q <= 1'b0;
      else if (enter_o) chained_q <= feedback_i;
    end
  end

  // Data of a frame that is over is forgotten, and with it what a reset found.
  always_ff @(posedge clk_i) begin
    if (!active_i) begin
      chain_q <= '0;
      mask_q  <= '0;
    end else begin
      if (turn_q || enter_o) chain_q <= next_q;
      if (enter_o && mixing_i) mask_q <= chain_q;
    end
    if (!active_i || (turn_q && !(Cfb && cfb_i))) begin
      next_q <= '0;
    end else if (Cfb && turn_q) begin
      next_q <= mask_q;
    end else begin
      for (int unsigned h = 0; h < Halves; h++) begin
        // Until it is full it follows the input: what is not a beat of this block is overwritten.
        if ((!full_q || (Eager && enter_o)) && half_q == 1'(h)) next_q[64*h+:64] <= beat_i;
      end
    end
  end

  // The IV comes to start by an addition, because a counter is what start has to be in CTR: one big-endian
  // number. In all other clocks the beat to be added is zero; or one if Ready, which saves a gate before the sum.
  if (Start) begin : gen_start
    logic [63:0] iv_q;
    logic [Halves-1:0] write_q;  // the half that iv_q is for
    logic iv_take;
    block_t number, more, sum, counted;

    assign iv_take = load && section_i == SecIv && (stream_i || feedback_i);
    assign number  = {<<8{start_q}};
    assign more    = {<<8{{Halves{iv_q}}}};
    // A block that is to enter is the counter, or ends the start.
    assign sum     = number + (One ? more | block_t'(full_q) : more);
    assign counted = {<<8{sum}};

    always_ff @(posedge clk_i) begin
      if (!iv_take) iv_q <= Ready ? 64'd1 << 56 : '0;
      else iv_q <= beat_i;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) write_q <= '0;
      else write_q <= {Halves{iv_take}} & Halves'(half_q ? 2 : 1);
    end

    always_ff @(posedge clk_i) begin
      if (!active_i || (enter_o && !count_i)) start_q <= '0;
      else begin
        for (int unsigned h = 0; h < Halves; h++) begin
          if (write_q[h] || enter_o) start_q[64*h+:64] <= counted[64*h+:64];
        end
      end
    end
  end else begin : gen_no_start
    assign start_q = '0;
  end

endmodule

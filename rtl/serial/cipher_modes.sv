// SPDX-License-Identifier: Apache-2.0
//
// ECB, CBC and CTR around any block cipher core that holds one block at a time. While the core works on a
// block the next one is assembled from its beats, so that it enters the core in the very clock in which the
// previous result leaves.
//
// Three registers of one block form a chain: next (what enters the core next), chain (what will be mixed in
// later) and mask (what is mixed into the result of the block now in the core). A fourth, start, is mixed into
// what enters the core; it is zero where there is nothing to mix in.
//   ECB          payload -> next
//   CBC encrypt  payload -> next; start is the IV for the first block, later the result in the core is mixed in
//                at its door
//   CBC decrypt  payload -> next -> chain -> mask; chain starts as the IV
//   CTR          payload -> next -> chain, which leaves next zero, so that start, the counter, enters the core;
//                in that clock start counts on and mask = payload
// Nothing but the mixing lies between the core's output and its input, and nothing at all in front of the
// registers. All four are zero between frames.
//
// Clocks per block: the core's own figure, but not less than the beats of a block + 1 (CTR: + 2); with Eager
// and blocks of one beat 1 (CTR: 3). Clocks per frame besides: 1 where there is an IV.
module cipher_modes
  import core_pkg::*;
  import slot_pkg::*;
#(
  // The algorithm code that frames must carry.
  parameter logic [7:0] Algorithm = AlgAes,
  // 8 or 16.
  parameter int unsigned BlockBytes = 16,
  // Bit n set: a key of n bytes is legal.
  parameter logic [63:0] KeyLengths = '0,
  // What the core can do. CTR needs Encrypt.
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  // The modes that this configuration has.
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  // Take a beat in the very clock in which a block enters the core: for a core so fast that this clock
  // counts, at the price of a path from its handshake to the shell. Not in CTR.
  parameter bit Eager = 1'b0,
  parameter bit Unhurried = 1'b0,  // The core takes two clocks or more: its block is seen to be the last later.
  localparam int unsigned BlockBits = 8 * BlockBytes
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // From and to the shell.
  input  header_t header_i,
  output status_e verdict_o,
  input  logic    start_i,

  input  logic            beat_valid_i,
  output logic            beat_ready_o,
  input  logic     [63:0] beat_i,
  input  section_e        section_i,
  input  logic            beat_last_i,

  input logic abort_i,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o,
  output logic [31:0] result_len_o,

  // From and to the core.
  output logic        key_valid_o,
  output logic [63:0] key_o,
  output logic [ 2:0] key_index_o,
  output logic        key_last_o,
  output logic [ 5:0] key_len_o,
  output logic        key_decrypt_o,

  output logic                 block_valid_o,
  input  logic                 block_ready_i,
  output logic [BlockBits-1:0] block_o,
  output logic                 decrypt_o,

  input  logic                 block_valid_i,
  output logic                 block_ready_o,
  input  logic [BlockBits-1:0] block_i
);

  if (!(BlockBytes inside {8, 16})) begin : gen_illegal_block
    $error("cipher_modes: BlockBytes must be 8 or 16");
  end
  if (!Encrypt && !Decrypt || !(Ecb || Cbc || Ctr) || Ctr && !Encrypt) begin : gen_illegal_modes
    $error("cipher_modes: no mode left, or CTR without Encrypt");
  end
  if (KeyLengths == '0 || KeyLengths[0]) begin : gen_illegal_keys
    $error("cipher_modes: KeyLengths must name at least one length and not 0");
  end

  typedef logic [BlockBits-1:0] block_t;

  localparam bit Wide = BlockBytes == 16;
  localparam int unsigned Halves = BlockBytes / 8;
  localparam bit Ready = Unhurried && Ctr && !Wide, One = Ctr && !Ready;
  // -- the verdict ----------------------------------------------------------------------------------------

  logic key_kept_q;  // the core has a whole key

  cipher_verdict #(
    .Algorithm (Algorithm),
    .BlockBytes(BlockBytes),
    .KeyLengths(KeyLengths),
    .Encrypt   (Encrypt),
    .Decrypt   (Decrypt),
    .Ecb       (Ecb),
    .Cbc       (Cbc),
    .Ctr       (Ctr)
  ) u_verdict (
    .clk_i,
    .rst_ni,
    .header_i,
    .key_kept_i(key_kept_q),
    .verdict_o
  );

  assign result_len_o = header_i.payload_len;

  // -- what kind of frame ---------------------------------------------------------------------------------

  logic ctr_q, feedback_q, mixing_q;  // CTR; CBC encryption; CBC decryption or CTR
  logic active_q;  // a frame with payload is under way

  logic is_ctr, is_cbc;
  assign is_ctr = Ctr && header_i.op == OpCtr;
  assign is_cbc = Cbc && header_i.op == OpCbc;

  assign decrypt_o = Decrypt && header_i.flags.decrypt && !ctr_q;

  // -- the key --------------------------------------------------------------------------------------------

  // It is on its way to the core for a clock, and no longer.
  logic stale_d, stale_q;  // the block in the core belongs to an aborted frame
  logic key_take;
  assign key_take      = beat_valid_i && section_i == SecKey && !stale_q;

  assign key_len_o     = header_i.key_len[5:0];
  assign key_decrypt_o = decrypt_o;

  always_ff @(posedge clk_i) begin
    if (!key_take) key_o <= '0;
    else key_o <= beat_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_kept_q  <= 1'b0;
      key_valid_o <= 1'b0;
      key_last_o  <= 1'b0;
      key_index_o <= '0;
    end else begin
      key_valid_o <= key_take;
      key_last_o  <= beat_last_i;
      if (start_i) key_index_o <= '0;
      else if (key_valid_o) key_index_o <= key_index_o + 3'd1;
      if (clear_i.active) key_kept_q <= 1'b0;
      else if (key_take) key_kept_q <= beat_last_i;
    end
  end

  // -- blocks in ------------------------------------------------------------------------------------------

  block_t next_q, chain_q, mask_q, start_q;
  logic half_q;  // the second beat of a block comes next
  logic fill, full_q;  // next_q is to enter the core
  logic final_q;  // it is, or comes with, the last block of the payload
  logic payload_q;  // a block of payload was the last to be completed, not the IV
  logic turn_q;  // next goes to chain in this clock
  logic chained_q;  // the block in the core is to be mixed into the next
  logic inside_q;  // there is a block in the core
  logic inside_final_d, inside_final_q;  // it is the last one
  logic load;  // a beat goes into next_q
  logic block_end;  // and completes a block
  logic enter, leave;

  assign beat_ready_o = (!full_q || (Eager && enter && !ctr_q)) && !turn_q && !stale_q;

  assign load         = beat_valid_i && beat_ready_o && section_i != SecKey;
  assign block_end    = load && (!Wide || half_q || beat_last_i);

  // The IV comes to start by an addition, because a counter is what start has to be in CTR: one big-endian
  // number. In all other clocks the beat to be added is zero; or one if Ready, which saves a gate before the sum.
  if (Ctr || (Cbc && Encrypt)) begin : gen_start
    logic [63:0] iv_q;
    logic [Halves-1:0] write_q;  // the half that iv_q is for
    logic iv_take;
    block_t number, more, sum, counted;

    assign iv_take = load && section_i == SecIv && (ctr_q || feedback_q);
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
      if (!active_q || (enter && !ctr_q)) start_q <= '0;
      else begin
        for (int unsigned h = 0; h < Halves; h++) begin
          if (write_q[h] || enter) start_q[64*h+:64] <= counted[64*h+:64];
        end
      end
    end
  end else begin : gen_no_start
    assign start_q = '0;
  end

  assign block_valid_o = full_q;
  assign block_o       = next_q ^ start_q ^ (block_i & {BlockBits{chained_q}});
  assign enter         = full_q && block_ready_i;

  assign fill          = ctr_q ? turn_q && payload_q : block_end && section_i == SecPayload;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ctr_q      <= 1'b0;
      feedback_q <= 1'b0;
      mixing_q   <= 1'b0;
      half_q     <= 1'b0;
      full_q     <= 1'b0;
      final_q    <= 1'b0;
      payload_q  <= 1'b0;
      turn_q     <= 1'b0;
      chained_q  <= 1'b0;
    end else begin
      if (start_i) begin
        ctr_q      <= is_ctr;
        feedback_q <= is_cbc && Encrypt && !header_i.flags.decrypt;
        mixing_q   <= is_ctr || (is_cbc && header_i.flags.decrypt);
      end
      if (start_i || block_end) half_q <= 1'b0;
      else if (load) half_q <= Wide;
      full_q <= (fill || (full_q && !enter)) && !abort_i;
      if (block_end) begin
        final_q   <= beat_last_i;
        payload_q <= section_i == SecPayload;
      end
      turn_q <= block_end && (section_i == SecIv || ctr_q);
      if (start_i) chained_q <= 1'b0;
      else if (enter) chained_q <= feedback_q;
    end
  end

  // Data of a frame that is over is forgotten, and with it what a reset found.
  always_ff @(posedge clk_i) begin
    if (!active_q) begin
      chain_q <= '0;
      mask_q  <= '0;
    end else begin
      if (turn_q || enter) chain_q <= next_q;
      if (enter && mixing_q) mask_q <= chain_q;
    end
    if (!active_q || turn_q) begin
      next_q <= '0;
    end else begin
      for (int unsigned h = 0; h < Halves; h++) begin
        // Until it is full it follows the input: what is not a beat of this block is overwritten.
        if ((!full_q || (Eager && enter)) && half_q == 1'(h)) next_q[64*h+:64] <= beat_i;
      end
    end
  end

  // -- results out ----------------------------------------------------------------------------------------

  // In CBC encryption a result stays in the core until the next block enters, though it is sent at once.
  logic sent_q;  // the result in the core is not to be sent any more
  logic go_q;  // nothing else holds it back in the core
  logic held;  // the second half of a result waits for its beat
  logic offer, take;  // a result is offered from the core; and taken
  logic end_taken;  // the last result beat is taken
  logic empty_q;  // there is no payload

  // Nothing here waits for the core: only valid and ready together count.
  assign block_ready_o  = (result_ready_i || sent_q) && go_q && !held;
  assign leave          = block_valid_i && block_ready_o;

  assign offer          = block_valid_i && active_q && !sent_q && !held;
  assign take           = offer && result_ready_i;

  assign result_valid_o = offer || held;
  assign done_o         = active_q && (end_taken || empty_q);

  assign inside_final_d = enter ? final_q : inside_final_q && !start_i;
  assign stale_d        = abort_i || (stale_q && inside_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q       <= 1'b0;
      empty_q        <= 1'b0;
      stale_q        <= 1'b0;
      inside_q       <= 1'b0;
      inside_final_q <= 1'b0;
      sent_q         <= 1'b0;
      go_q           <= 1'b0;
    end else begin
      empty_q        <= header_i.payload_len == '0;
      active_q       <= (start_i || active_q) && !done_o && !abort_i;
      stale_q        <= stale_d;
      inside_q       <= (enter || (inside_q && !leave)) && !clear_i.active;
      inside_final_q <= inside_final_d;
      sent_q         <= stale_d || ((take || (sent_q && inside_q)) && !leave);
      // In CBC encryption not before the next block is there, unless there is none.
      go_q           <= stale_d || !feedback_q || fill || (enter ? final_q : go_q);
    end
  end

  // Bytes behind the end of a CTR payload are zero. All this is known long before it is needed.
  logic [       7:0]      whole;  // of its last beat, bytes that count
  logic [Halves-1:0][7:0] keep_q;  // of the result in the core, bytes that count
  logic [Halves-1:0]      last_half;  // the payload ends in this half of a block

  assign last_half = Wide ? Halves'(header_i.payload_len[3] ? 2 : 1) : '1;

  always_comb begin
    for (int unsigned k = 0; k < 8; k++) begin
      whole[k] = !Ctr || header_i.payload_len[2:0] == '0 || 3'(k) < header_i.payload_len[2:0];
    end
  end

  // Without a reset of its own: it is right a clock after one.
  always_ff @(posedge clk_i) begin
    for (int unsigned h = 0; h < Halves; h++) begin
      if (!((Unhurried ? inside_final_q : inside_final_d) && last_half[h])) keep_q[h] <= '1;
      else keep_q[h] <= whole;
    end
  end

  function automatic logic [63:0] trim(input logic [63:0] x, input logic [7:0] keep);
    for (int unsigned k = 0; k < 8; k++) trim[8*k+:8] = x[8*k+:8] & {8{keep[k]}};
  endfunction

  block_t mixed;
  assign mixed = block_i ^ mask_q;

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
      if (!rst_ni) begin
        held_q       <= 1'b0;
        held_final_q <= 1'b0;
        short_q      <= 1'b0;
      end else begin
        held_q <= ((take && !short_q) || (held_q && !result_ready_i)) && !abort_i;
        short_q <= Ctr && (Unhurried ? inside_final_q : inside_final_d) && header_i.payload_len[3:0] inside {[4'd1 : 4'd8]};
        if (take) held_final_q <= inside_final_q;
      end
    end

    always_ff @(posedge clk_i) begin
      if (!active_q || (held_q && result_ready_i)) rest_q <= '0;
      else if (take && !short_q) rest_q <= trim(mixed[BlockBits-1-:64], keep_q[Halves-1]);
    end
  end else begin : gen_narrow
    if (Unhurried) begin : gen_kept
      assign held      = 1'b0;
      assign end_taken = take && inside_final_q;
      block_t trimmed;
      // Kept, or what the shell puts in the place of a result would come in front of the trimming. In this half
      // it takes a gate of its own: the length of the result, or zero. In the other half it is a register, and
      // the trimming is better left open.
      (* keep *)
      logic [31:0] kept;
      assign trimmed  = trim(mixed, keep_q[0]);
      assign kept     = trimmed[31:0];
      assign result_o = {trimmed[63:32], kept};
    end else begin : gen_open
      assign held      = 1'b0;
      assign result_o  = trim(mixed, keep_q[0]);
      assign end_taken = take && inside_final_q;
    end
  end

endmodule

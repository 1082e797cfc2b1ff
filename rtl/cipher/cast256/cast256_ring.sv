// SPDX-License-Identifier: Apache-2.0
//
// CAST-256 (RFC 2612) as a ring of four pipeline stages with four blocks inside, each under a key of its own:
//   0 new word, masked for the next round   1 rotation   2 lookups   3 combination
// A block comes past the door, in front of stage 1, once a round. In the clock in which the last word of one
// block is made, what the first round of the next block looks up is masked: that one enters a turn before.
// A fresh key goes through the ring in the place of a block.
//
// Cycles: a block every 48 clocks, in both directions; 196 clocks from the block to its result. Key set-up: 776
// clocks and up to 5 from the last key beat; meanwhile three slots are for blocks. A wipe takes as long.
module cast256_ring
  import cast_pkg::*;
#(
  // Key places: a power of two, up to 8.
  parameter int unsigned Keys = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  // A slot has two numbers, used in turn: its next block enters before the result of the one before is out.
  localparam int unsigned SlotBits = 3
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input  logic               key_valid_i,
  input  logic [       63:0] key_i,
  input  logic [        2:0] key_index_i,
  input  logic               key_last_i,
  input  logic [        5:0] key_len_i,
  input  logic [KeyBits-1:0] key_place_i,
  output logic               key_busy_o,

  input  logic                block_valid_i,
  output logic                block_ready_o,
  input  logic [       127:0] block_i,
  input  logic                decrypt_i,
  input  logic [ KeyBits-1:0] block_place_i,
  output logic [SlotBits-1:0] block_slot_o,

  output logic                result_valid_o,
  output logic [SlotBits-1:0] result_slot_o,
  output logic [       127:0] result_o
);

  if (Keys < 2 || Keys > 8 || 2 ** KeyBits != Keys) begin : gen_illegal
    $error("cast256_ring: Keys must be a power of two from 2 to 8");
  end

  typedef struct packed {
    logic               number;   // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               keying;   // in the place of a block, a fresh key
    logic               last;     // the round under way is the last
    logic [5:0]         round;    // whose round key is for the masking at the end of this turn
    logic               decrypt;
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the ring of slots ------------------------------------------------------------------------------------

  slot_t through;
  slot_t [3:0] slot_q;  // by stage; the door is where stage 1 begins
  logic [1:0] turn_q;  // which slot is there
  logic free, enter, enter_key;
  logic key_waits_q;  // a fresh key is to enter
  logic key_done;
  // A block enters, or leaves, at the end of this turn.
  logic enter2_q, enter3_q, enter0_q, leave2_q, leave3_q, leave0_q;

  assign free          = !slot_q[1].valid || slot_q[1].last;
  assign block_ready_o = free && !key_waits_q;
  assign block_slot_o  = {!slot_q[1].number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign enter_key     = free && key_waits_q;

  always_comb begin
    through = slot_q[1];
    if (enter || enter_key) begin
      through.number  = slot_q[1].number ^ enter;
      through.valid   = 1'b1;
      through.keying  = enter_key;
      through.last    = 1'b0;
      through.round   = '0;
      through.decrypt = decrypt_i;
      through.place   = block_place_i;
    end else begin
      through.valid = slot_q[1].valid && !slot_q[1].last && !(slot_q[1].keying && key_done);
      through.last  = slot_q[1].round == 6'd46 && !slot_q[1].keying;
      through.round = slot_q[1].round + 6'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q         <= '0;
      turn_q         <= '0;
      enter2_q       <= 1'b0;
      enter3_q       <= 1'b0;
      enter0_q       <= 1'b0;
      leave2_q       <= 1'b0;
      leave3_q       <= 1'b0;
      leave0_q       <= 1'b0;
      result_valid_o <= 1'b0;
      result_slot_o  <= '0;
    end else begin
      slot_q         <= {slot_q[2], through, slot_q[0], slot_q[3]};
      turn_q         <= turn_q + 2'd1;
      enter2_q       <= enter;
      enter3_q       <= enter2_q;
      enter0_q       <= enter3_q;
      leave2_q       <= slot_q[1].valid && slot_q[1].last;
      leave3_q       <= leave2_q;
      leave0_q       <= leave3_q;
      result_valid_o <= leave0_q;
      result_slot_o  <= {slot_q[0].number ^ enter0_q, turn_q + 2'd1};
      if (wipe_i) begin
        for (int unsigned s = 0; s < 4; s++) slot_q[s].valid <= 1'b0;
      end
    end
  end

  // -- keys -----------------------------------------------------------------------------------------------

  localparam int unsigned Entries = 64 * Keys;

  logic expanding, expanding_q, receiving_q, erase_q, advance, key_start, key_start_q;
  logic [KeyBits-1:0] place_q;
  logic [KeyBits+5:0] erase_at_q;
  logic write, write_mask_q, write_rotate_q;
  logic [3:0] write_quad;
  logic [2:0] write_call;
  logic [1:0] write_place;
  logic [KeyBits+5:0] write_at_q;
  word_t word, written_q, kappa, kappa_q, constant, constant_q;
  logic [4:0] constant_rotate, constant_rotate_q;
  kind_e constant_kind, constant_kind_q;

  cast256_schedule u_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .advance_i  (advance),
    .busy_o     (expanding),
    .start_o    (key_start),
    .target_o   (kappa),
    .word_i     (word),
    .kind_o     (constant_kind),
    .mask_o     (constant),
    .rotate_o   (constant_rotate),
    .write_o    (write),
    .quad_o     (write_quad),
    .call_o     (write_call)
  );

  assign key_busy_o  = expanding || receiving_q || erase_q;
  assign key_done    = !expanding;
  assign advance     = slot_q[0].valid && slot_q[0].keying;
  assign write_place = write_call[0] ? write_call[2:1] + 2'd1 : ~write_call[2:1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_waits_q    <= 1'b0;
      expanding_q    <= 1'b0;
      receiving_q    <= 1'b0;
      erase_q        <= 1'b0;
      erase_at_q     <= '0;
      place_q        <= '0;
      write_mask_q   <= 1'b0;
      write_rotate_q <= 1'b0;
    end else begin
      if (key_valid_i) begin
        receiving_q <= !key_last_i;
        place_q     <= key_place_i;
      end
      expanding_q    <= expanding && !wipe_i;
      key_waits_q    <= ((expanding && !expanding_q) || (key_waits_q && !enter_key)) && !wipe_i;
      erase_q        <= wipe_i || (erase_q && erase_at_q != '1);
      erase_at_q     <= erase_q ? erase_at_q + 1'b1 : '0;
      write_mask_q   <= erase_q || (write && write_call[0]);
      write_rotate_q <= erase_q || (write && !write_call[0]);
    end
  end

  // Block memories, 12 quads of 4 for each place: an address, the entry a clock later, and then a register. No
  // entry is read for a block while it is written: none is inside under a key that is being made. The quads
  // behind the twelfth are zero; a fresh key reads those, and its constants are put in behind the memory.
  (* ram_style = "block", no_rw_check *)
  word_t masks[Entries];
  (* ram_style = "block", no_rw_check *)
  logic [4:0] rotations[Entries];
  logic backward2;
  logic [KeyBits+5:0] read_at;
  word_t mask3_q, mask0_q;
  logic [4:0] rotate3_q, rotate0_q, rotate1_q;
  word_t extra0_q;
  logic [4:0] extra_rotate0_q;
  logic [3:0] quad;

  // Decryption takes the quads in reverse order; the second half of them is computed backward.
  assign backward2 = slot_q[2].round >= 6'd24;
  assign quad = slot_q[2].decrypt ? 4'd11 - slot_q[2].round[5:2] : slot_q[2].round[5:2];
  assign read_at = {slot_q[2].place, quad | {4{slot_q[2].keying}}, slot_q[2].round[1:0] ^ {2{backward2}}};

  always_ff @(posedge clk_i) begin
    write_at_q <= erase_q ? erase_at_q : {place_q, write_quad, write_place};
    written_q  <= erase_q ? '0 : word;
    if (write_mask_q) masks[write_at_q] <= written_q;
    if (write_rotate_q) rotations[write_at_q] <= written_q[4:0];
    mask3_q         <= masks[read_at];
    rotate3_q       <= rotations[read_at];
    mask0_q         <= mask3_q;
    rotate0_q       <= rotate3_q;
    rotate1_q       <= rotate0_q | extra_rotate0_q;
    extra0_q        <= constant_q & {32{slot_q[3].keying}};
    extra_rotate0_q <= constant_rotate_q & {5{slot_q[3].keying}};
    // As the schedule gives them: those of the round after the next.
    if (advance) begin
      constant_q        <= constant;
      constant_rotate_q <= constant_rotate;
    end
  end

  kind_e kind0_q, kind1_q, kind2_q, kind3_q;  // in stage 0 of the next round, then of the one under way
  logic [1:0] place3;
  logic away3, away0_q, backward1_q, backward2_q, backward3_q, backward0_q;

  assign away3  = slot_q[3].round >= 6'd24 && !slot_q[3].keying;
  assign place3 = slot_q[3].round[1:0] ^ {2{away3}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      constant_kind_q <= Kind1;
      kind0_q         <= Kind1;
      kind1_q         <= Kind1;
      kind2_q         <= Kind1;
      kind3_q         <= Kind1;
      away0_q         <= 1'b0;
      backward1_q     <= 1'b0;
      backward2_q     <= 1'b0;
      backward3_q     <= 1'b0;
      backward0_q     <= 1'b0;
    end else begin
      if (advance) constant_kind_q <= constant_kind;
      kind0_q     <= slot_q[3].keying ? constant_kind_q : place3 == 2'd3 ? Kind1 : kind_e'(place3);
      kind1_q     <= kind0_q;
      kind2_q     <= kind1_q;
      kind3_q     <= kind2_q;
      // The next round is of a backward quad; so is the one under way.
      away0_q     <= away3;
      backward1_q <= away0_q;
      backward2_q <= backward1_q;
      backward3_q <= backward2_q;
      backward0_q <= backward3_q;
    end
  end

  // -- data -----------------------------------------------------------------------------------------------

  typedef word_t [3:0] words_t;

  words_t fresh, fresh2_q, fresh3_q, fresh0_q;  // a block that enters
  words_t made, state1_q, state2_q, state3_q, state0_q;
  word_t target3, target0_q, feed3, feed0_q;
  logic live3, live0_q, feed_live0_q;
  logic [3:0] purge_q;  // all data is forgotten within a turn

  assign fresh = {swap(block_i[31:0]), swap(block_i[63:32]), swap(block_i[95:64]), swap(block_i[127:96])};
  assign live3 = !(slot_q[3].keying && key_start_q);

  // Forward quads rotate the words to the left, word 0 is looked up and word 1 is the target; backward quads
  // rotate them to the right, word 3 is looked up and word 0 is the target. In stage 3 it is known what stage 0
  // works on.
  always_comb begin
    target3 = backward3_q ? state3_q[0] : state3_q[1];
    // In the turn in which a key enters, the last round of the block before is computed.
    if (slot_q[3].keying && !leave3_q) target3 = kappa_q;
    feed3 = target3;
    if (enter3_q) feed3 = fresh3_q[0];
    else if (away3) feed3 = backward3_q ? state3_q[2] : state3_q[0];
    if (backward0_q) made = {state0_q[2], state0_q[1], word, state0_q[3]};
    else made = {state0_q[0], state0_q[3], state0_q[2], word};
  end

  cast_round u_round (
    .clk_i,
    .kind_i     (kind3_q),
    .live_i     (live0_q),
    .target_i   (target0_q),
    .word_o     (word),
    .feed_live_i(feed_live0_q),
    .feed_i     (feed0_q),
    .next_i     (kind0_q),
    .mask_i     (mask0_q | extra0_q),
    .rotate_i   (rotate1_q)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) purge_q <= '1;
    else purge_q <= {purge_q[2:0], wipe_i};
  end

  always_ff @(posedge clk_i) begin
    fresh2_q <= fresh;
    fresh3_q <= fresh2_q;
    fresh0_q <= fresh3_q;
    if (purge_q != '0) state1_q <= '0;
    else state1_q <= enter0_q ? fresh0_q : made;
    state2_q     <= state1_q;
    state3_q     <= state2_q;
    state0_q     <= state3_q;
    target0_q    <= target3;
    feed0_q      <= feed3;
    live0_q      <= live3;
    feed_live0_q <= live3 && !enter3_q && !away3;
    // Steps of the key schedule are a turn long.
    kappa_q      <= kappa;
    key_start_q  <= key_start;
    result_o     <= {swap(made[0]), swap(made[1]), swap(made[2]), swap(made[3])};
  end

  logic unused;
  assign unused = ^key_index_i[2];

endmodule

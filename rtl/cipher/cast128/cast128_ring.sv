// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 (RFC 2144) as a ring of four pipeline stages with four blocks inside, each under a key of its own:
//   0 new word, masked for the next round   1 rotation   2 lookups   3 combination
// A block comes past the door, in front of stage 1, once a round. In the clock in which the last word of one
// block is made, what the first round of the next block looks up is masked: that one enters a turn before.
//
// Cycles: a block every 16 clocks, or 12 under keys of 5 to 10 bytes, in both directions; 68 or 52 clocks from
// the block to its result. Key set-up: 200 clocks from the last key beat, during which other blocks go on. A
// wipe takes as long.
module cast128_ring
  import cast_pkg::*;
#(
  // Key places: a power of two, up to 32.
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
  input  logic [        63:0] block_i,
  input  logic                decrypt_i,
  input  logic [ KeyBits-1:0] block_place_i,
  output logic [SlotBits-1:0] block_slot_o,

  output logic                result_valid_o,
  output logic [SlotBits-1:0] result_slot_o,
  output logic [        63:0] result_o
);

  if (Keys < 2 || Keys > 32 || 2 ** KeyBits != Keys) begin : gen_illegal
    $error("cast128_ring: Keys must be a power of two from 2 to 32");
  end

  typedef struct packed {
    logic               number;   // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               last;     // the round under way is the last
    logic [3:0]         left;     // rounds behind it
    logic [3:0]         index;    // round key for the masking at the end of this turn
    logic               decrypt;
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the ring of slots ------------------------------------------------------------------------------------

  slot_t through;
  slot_t [3:0] slot_q;  // by stage; the door is where stage 1 begins
  logic [1:0] turn_q;  // which slot is there
  logic enter, short_key;
  logic [3:0] final_index;
  // A block enters, or leaves, at the end of this turn.
  logic enter2_q, enter3_q, enter0_q, leave2_q, leave3_q, leave0_q;
  logic [Keys-1:0] short_q;  // keys with 12 rounds

  assign block_ready_o = !slot_q[1].valid || slot_q[1].last;
  assign block_slot_o  = {!slot_q[1].number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign short_key     = short_q[block_place_i];
  assign final_index   = short_key ? 4'd11 : 4'd15;

  always_comb begin
    through = slot_q[1];
    if (enter) begin
      through.number  = !slot_q[1].number;
      through.valid   = 1'b1;
      through.last    = 1'b0;
      through.left    = final_index;
      through.index   = decrypt_i ? final_index : 4'd0;
      through.decrypt = decrypt_i;
      through.place   = block_place_i;
    end else begin
      through.valid = slot_q[1].valid && !slot_q[1].last;
      through.last  = slot_q[1].left == 4'd1;
      through.left  = slot_q[1].left - 4'd1;
      through.index = slot_q[1].decrypt ? slot_q[1].index - 4'd1 : slot_q[1].index + 4'd1;
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

  localparam int unsigned Entries = 16 * Keys;

  logic expanding, receiving_q, erase_q;
  logic [KeyBits-1:0] place_q;
  logic [KeyBits+3:0] erase_at_q;
  logic write, rotation, write_mask_q, write_rotate_q;
  logic [3:0] write_index;
  logic [KeyBits+3:0] write_at_q;
  word_t written, written_q;

  cast128_schedule #(
    .Phases(3)
  ) u_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[0]),
    .key_last_i,
    .key_len_i  (key_len_i[4:0]),
    .busy_o     (expanding),
    .write_o    (write),
    .rotation_o (rotation),
    .index_o    (write_index),
    .word_o     (written)
  );

  assign key_busy_o = expanding || receiving_q || erase_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      receiving_q    <= 1'b0;
      erase_q        <= 1'b0;
      erase_at_q     <= '0;
      place_q        <= '0;
      short_q        <= '0;
      write_mask_q   <= 1'b0;
      write_rotate_q <= 1'b0;
    end else begin
      if (key_valid_i) begin
        receiving_q          <= !key_last_i;
        place_q              <= key_place_i;
        short_q[key_place_i] <= key_len_i <= 6'd10;
      end
      erase_q        <= wipe_i || (erase_q && erase_at_q != '1);
      erase_at_q     <= erase_q ? erase_at_q + 1'b1 : '0;
      write_mask_q   <= erase_q || (write && !rotation);
      write_rotate_q <= erase_q || (write && rotation);
    end
  end

  // Block memories: an address, the entry a clock later, and then a register. No entry is read for a block while
  // it is written: none is inside under a key that is being made.
  (* ram_style = "block", no_rw_check *)
  word_t masks[Entries];
  (* ram_style = "block", no_rw_check *)
  logic [4:0] rotations[Entries];
  logic [KeyBits+3:0] read_at;
  word_t mask3_q, mask0_q;
  logic [4:0] rotate3_q, rotate0_q, rotate1_q;

  assign read_at = {slot_q[2].place, slot_q[2].index};

  always_ff @(posedge clk_i) begin
    write_at_q <= erase_q ? erase_at_q : {place_q, write_index};
    written_q  <= erase_q ? '0 : written;
    if (write_mask_q) masks[write_at_q] <= written_q;
    if (write_rotate_q) rotations[write_at_q] <= written_q[4:0];
    mask3_q   <= masks[read_at];
    rotate3_q <= rotations[read_at];
    mask0_q   <= mask3_q;
    rotate0_q <= rotate3_q;
    rotate1_q <= rotate0_q;
  end

  kind_e kind0_q, kind1_q, kind2_q, kind3_q;  // in stage 0 of the next round, then of the one under way

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kind0_q <= Kind1;
      kind1_q <= Kind1;
      kind2_q <= Kind1;
      kind3_q <= Kind1;
    end else begin
      kind0_q <= cast128_kind(slot_q[3].index);
      kind1_q <= kind0_q;
      kind2_q <= kind1_q;
      kind3_q <= kind2_q;
    end
  end

  // -- data -----------------------------------------------------------------------------------------------

  typedef struct packed {
    word_t left;
    word_t right;
  } halves_t;

  halves_t fresh, fresh2_q, fresh3_q, fresh0_q;  // a block that enters
  halves_t made, state1_q, state2_q, state3_q, state0_q;
  word_t word, feed0_q;
  logic [3:0] purge_q;  // all data is forgotten within a turn

  assign fresh = '{left: swap(block_i[31:0]), right: swap(block_i[63:32])};

  cast_round u_round (
    .clk_i,
    .kind_i     (kind3_q),
    .live_i     (1'b1),
    .target_i   (state0_q.left),
    .word_o     (word),
    .feed_live_i(!enter0_q),
    .feed_i     (feed0_q),
    .next_i     (kind0_q),
    .mask_i     (mask0_q),
    .rotate_i   (rotate1_q)
  );

  assign made = '{left: state0_q.right, right: word};

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
    state2_q <= state1_q;
    state3_q <= state2_q;
    state0_q <= state3_q;
    feed0_q  <= enter3_q ? fresh3_q.right : state3_q.left;
    result_o <= {swap(made.left), swap(made.right)};
  end

  logic unused;
  assign unused = ^{key_index_i[2:1], key_len_i[5]};

endmodule

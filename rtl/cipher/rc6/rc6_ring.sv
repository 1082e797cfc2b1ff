// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 as a ring of six stages, one round, with as many blocks inside, each under a key of its own and in
// its own direction. A block goes round 21 times: once for the words in front of the rounds, then the rounds.
// With Way there is a seventh stage, in front of the first.
//   stage 1   multiply B and D
//   stage 2   join the products: t and u, and the amounts of the rotations
//   stage 3   xor with t and u (encryption), the first half of the rotations
//   stage 4   the second half
//   stage 5   add round keys (encryption)
//   stage 6   xor with u and t (decryption); the words change places; subtract round keys (decryption); the door
// Lane 0 makes the next D, lane 1 the next B: encryption from A and C, decryption from C and A. The next A and C
// are B and D, in decryption D and B. Encryption enters as (D, A, B, C), and its first turn adds S[1] and S[0] in
// the lanes; decryption subtracts S[43] and S[42] there. Behind the last turn, too, the words stand one further
// in decryption. Rotation to the right by n is one by ~n + 1 to the left.
//
// Cycles: a block every 21 clocks at full load; 128 (with Way 149) from the block to its result, in both
// directions and for every key length. Key set-up: see rc6_ring_keys.
module rc6_ring
  import rc6_pkg::*;
#(
  // Stages between the door and the multipliers, which may be far from all else on the device: 0 or 1.
  parameter int unsigned Way  = 0,
  // Key places.
  parameter int unsigned Keys = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  localparam int unsigned Stages   = 6 + Way,
  localparam int unsigned TurnBits = $clog2(Stages),
  // A slot has two numbers, used in turn: its next block enters before the result of the one before is out.
  localparam int unsigned SlotBits = TurnBits + 1
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

  input  logic                  block_valid_i,
  output logic                  block_ready_o,
  input  block_t                block_i,
  input  logic                  decrypt_i,
  input  logic   [ KeyBits-1:0] block_place_i,
  output logic   [SlotBits-1:0] block_slot_o,

  output logic                  result_valid_o,
  output logic   [SlotBits-1:0] result_slot_o,
  output block_t                result_o
);

  if (!(Way inside {0, 1})) begin : gen_illegal_way
    $error("rc6_ring: Way must be 0 or 1");
  end

  localparam logic [4:0] Final = 5'(Rounds + 1);  // the last pair of words
  localparam logic [4:0] Nothing = '1;  // a pair of zeros

  typedef struct packed {
    logic               number;   // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               first;    // the turn in front of the rounds
    logic               last;     // this is the last turn
    logic [4:0]         pair;     // of words: encryption adds it, decryption subtracts it for the next turn
    logic               decrypt;
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the ring of slots, a clock ahead of the data: slot_q[Way+s+1] belongs to stage s ----------------------

  slot_t [Stages:1] slot_q;
  slot_t at_door, through, leaving_q;
  logic [TurnBits-1:0] turn_q;  // which slot is at the door
  logic enter, leave;

  assign at_door       = slot_q[Stages];
  assign block_ready_o = !at_door.valid || at_door.last;
  assign block_slot_o  = {!at_door.number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign leave         = at_door.valid && at_door.last;

  always_comb begin
    through = at_door;
    if (enter) begin
      through.number  = !at_door.number;
      through.valid   = 1'b1;
      through.first   = 1'b1;
      through.last    = 1'b0;
      through.pair    = decrypt_i ? 5'(Rounds) : 5'd0;
      through.decrypt = decrypt_i;
      through.place   = block_place_i;
    end else begin
      through.valid = at_door.valid && !at_door.last;
      through.first = 1'b0;
      through.last  = at_door.pair == (at_door.decrypt ? 5'd1 : 5'(Rounds - 1));
      through.pair  = at_door.decrypt ? at_door.pair - 5'd1 : at_door.pair + 5'd1;
    end
  end

  logic [2:1] leave_q;
  logic [2:1][SlotBits-1:0] leave_slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q       <= '0;
      leaving_q    <= '0;
      turn_q       <= '0;
      leave_q      <= '0;
      leave_slot_q <= '0;
    end else begin
      slot_q <= {slot_q[Stages-1:1], through};
      if (wipe_i) begin
        for (int unsigned i = 1; i <= Stages; i++) slot_q[i].valid <= 1'b0;
      end
      leaving_q    <= at_door;
      turn_q       <= turn_q == TurnBits'(Stages - 1) ? '0 : turn_q + TurnBits'(1);
      leave_q      <= {leave_q[1], leave};
      leave_slot_q <= {leave_slot_q[1], {at_door.number, turn_q}};
    end
  end

  assign result_valid_o = leave_q[2];
  assign result_slot_o  = leave_slot_q[2];

  // -- keys -----------------------------------------------------------------------------------------------

  logic [4:0] lane_pair, entry_pair;
  word_t [1:0] lane_key, entry_key;

  always_comb begin
    lane_pair  = slot_q[Way+4].pair;
    entry_pair = slot_q[Way+5].pair;
    if (slot_q[Way+4].decrypt) lane_pair = slot_q[Way+4].first ? Final : Nothing;
    if (!slot_q[Way+5].decrypt) entry_pair = slot_q[Way+5].last ? Final : Nothing;
  end

  rc6_ring_keys #(
    .Keys(Keys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i  (key_index_i[1:0]),
    .key_last_i,
    .key_words_i  (key_len_i[5:2]),
    .key_place_i,
    .busy_o       (key_busy_o),
    .lane_place_i (slot_q[Way+4].place),
    .lane_pair_i  (lane_pair),
    .lane_o       (lane_key),
    .entry_place_i(slot_q[Way+5].place),
    .entry_pair_i (entry_pair),
    .entry_o      (entry_key)
  );

  logic unused;
  assign unused = ^{key_index_i[2], key_len_i[1:0], leaving_q};

  // -- data -----------------------------------------------------------------------------------------------

  // All data is forgotten within the clocks that it takes through the block memory.
  logic [2:0] purge_q;
  logic purge;
  assign purge = purge_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) purge_q <= '1;
    else purge_q <= {purge_q[1:0], wipe_i};
  end

  // The words A, B, C, D are 0 to 3; B and D go along with lanes 1 and 0 (side 1, side 0). A name's number is
  // the stage that it goes into.
  word_t [3:0] in_q, p0_q, p1_q, p2_q, p3_q, next;
  logic enter_q;
  word_t [1:0] low_q;
  logic [1:0][15:0] high_q;
  word_t [1:0] joined, product3_q, product4_q, product5_q, product6_q;  // of B and D
  logic [1:0][4:0] amount_d, amount3_q, amount4_q;
  word_t [1:0] opened, turned4_q, turned5_q, sum6_q;
  word_t [1:0] side4_q, side5_q, side6_q;
  logic decrypt6;

  assign decrypt6 = leaving_q.decrypt;

  always_comb begin
    for (int unsigned k = 0; k < 2; k++) begin
      joined[k] = rotl5(join_products(low_q[k], high_q[k]));
    end
    for (int unsigned k = 0; k < 2; k++) begin
      if (slot_q[Way+3].first) amount_d[k] = {5{slot_q[Way+3].decrypt}};
      else amount_d[k] = slot_q[Way+3].decrypt ? ~joined[k][4:0] : joined[1-k][4:0];
      if (slot_q[Way+4].decrypt) opened[k] = {p3_q[2-2*k][30:0], p3_q[2-2*k][31]};
      else opened[k] = p3_q[2*k] ^ product3_q[k];
    end
    // Side 0 becomes the next A, side 1 the next C.
    for (int unsigned k = 0; k < 2; k++) begin
      next[2*k] = decrypt6 ? side6_q[k] - entry_key[k] : side6_q[k] + entry_key[k];
    end
    next[1] = sum6_q[1] ^ product6_q[0];
    next[3] = sum6_q[0] ^ product6_q[1];
  end

  if (Way == 0) begin : gen_near
    assign p1_q = p0_q;
  end else begin : gen_far
    always_ff @(posedge clk_i) begin
      if (purge) p1_q <= '0;
      else p1_q <= p0_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enter_q <= 1'b0;
    else enter_q <= enter;
  end

  always_ff @(posedge clk_i) begin
    if (purge) begin
      in_q       <= '0;
      p0_q       <= '0;
      p2_q       <= '0;
      p3_q       <= '0;
      low_q      <= '0;
      high_q     <= '0;
      product3_q <= '0;
      product4_q <= '0;
      product5_q <= '0;
      product6_q <= '0;
      amount3_q  <= '0;
      amount4_q  <= '0;
      turned4_q  <= '0;
      turned5_q  <= '0;
      sum6_q     <= '0;
      side4_q    <= '0;
      side5_q    <= '0;
      side6_q    <= '0;
      result_o   <= '0;
    end else begin
      in_q <= decrypt_i ? block_i : {block_i[95:0], block_i[127:96]};
      p0_q <= enter_q ? in_q : next;
      // Into stage 2.
      p2_q <= p1_q;
      for (int unsigned k = 0; k < 2; k++) begin
        low_q[k]  <= low_product(p1_q[2*k+1][15:0]);
        high_q[k] <= high_product(p1_q[2*k+1][31:16], p1_q[2*k+1][13:0]);
      end
      // 3
      p3_q      <= p2_q;
      amount3_q <= amount_d;
      if (slot_q[Way+3].first) product3_q <= '0;
      else product3_q <= joined;
      // 4
      for (int unsigned k = 0; k < 2; k++) turned4_q[k] <= rotl(opened[k], {3'b000, amount3_q[k][1:0]});
      amount4_q  <= amount3_q;
      product4_q <= product3_q;
      side4_q    <= {p3_q[3], p3_q[1]};
      // 5
      for (int unsigned k = 0; k < 2; k++) turned5_q[k] <= rotl(turned4_q[k], {amount4_q[k][4:2], 2'b00});
      product5_q <= product4_q;
      side5_q    <= side4_q;
      // 6
      for (int unsigned k = 0; k < 2; k++) begin
        sum6_q[k] <= slot_q[Way+6].decrypt ? turned5_q[k] - lane_key[k] : turned5_q[k] + lane_key[k];
      end
      if (!slot_q[Way+6].decrypt) product6_q <= '0;
      else product6_q <= product5_q;
      side6_q  <= slot_q[Way+6].decrypt ? {side5_q[0], side5_q[1]} : side5_q;
      result_o <= decrypt6 ? {next[0], next[3:1]} : next;
    end
  end

endmodule

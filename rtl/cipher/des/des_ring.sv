// SPDX-License-Identifier: Apache-2.0
//
// DES and triple DES as a ring of pipeline stages, one round each and one more at the door, with as many blocks
// inside, each under keys of its own, as there are stages. A block comes past the door every Unrolled rounds. Of
// the initial and final permutations only those at the door are left; between the three parts of triple DES the
// halves change places.
//
// A stage holds L, R, and C and D already moved for its round, so that the round key is wiring and a round is
// one exclusive-or, one look-up and one exclusive-or.
//
// Cycles: a block every 16 / Unrolled clocks, with a key of two or three parts every 48 / Unrolled; for Unrolled
// = 48, where single DES is triple DES under one key three times, every clock. From the block to its result
// Unrolled + 1 clocks for each time around, and 1. Key set-up: none, a key can be used in the clock behind its
// last beat.
module des_ring
  import des_pkg::*;
#(
  // Rounds in a row: 2, 4, 8, 16 or 48.
  parameter int unsigned Unrolled = 8,
  // Key places.
  parameter int unsigned Keys     = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  localparam int unsigned Ring     = Unrolled + 1,
  localparam int unsigned TurnBits = $clog2(Ring),
  // A slot has two numbers, used in turn: its next block enters before the result of the one before is out.
  localparam int unsigned SlotBits = TurnBits + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input  logic               key_valid_i,
  input  logic [       63:0] key_i,
  input  logic [        2:0] key_index_i,
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

  if (!(Unrolled inside {2, 4, 8, 16, 48})) begin : gen_illegal
    $error("des_ring: Unrolled must be 2, 4, 8, 16 or 48");
  end

  // Times around the ring for 16 rounds; the whole of triple DES goes once through 48 stages.
  localparam int unsigned Turns = Unrolled < 16 ? 16 / Unrolled : 1;
  localparam bit Whole = Unrolled == 48;

  typedef struct packed {
    logic               number;    // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               last;      // this is the last time around
    logic [2:0]         turn;      // times around so far, within 16 rounds
    logic [1:0]         part;      // of triple DES
    logic               three;     // there are three parts
    logic               decrypt;
    logic               backward;  // this part decrypts
    logic [KeyBits-1:0] place;
  } slot_t;

  typedef struct packed {
    half_t l;
    half_t r;
    key_t  cd;
  } state_t;

  // -- keys -----------------------------------------------------------------------------------------------

  // All key places are overwritten after a reset and for a wipe.
  logic scrub_q;
  logic [KeyBits-1:0] scrub_place_q, write_place;
  logic [Keys-1:0] three_q;
  logic [2:0] write;
  key_t write_key;

  assign key_busy_o  = scrub_q;
  assign write_place = scrub_q ? scrub_place_q : key_place_i;
  assign write_key   = scrub_q ? '0 : permuted_choice_1(key_i);

  // The first key is the third too until that comes.
  always_comb begin
    write = {3{scrub_q}};
    if (key_valid_i) begin
      if (key_index_i == 3'd0) write = 3'b111;
      if (key_index_i == 3'd1) write = 3'b010;
      if (key_index_i == 3'd2) write = 3'b100;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scrub_q       <= 1'b1;
      scrub_place_q <= '0;
      three_q       <= '0;
    end else begin
      scrub_q <= wipe_i || (scrub_q && scrub_place_q != '1);
      scrub_place_q <= wipe_i || !scrub_q ? '0 : scrub_place_q + KeyBits'(1);
      if (key_valid_i) three_q[key_place_i] <= key_index_i != 3'd0;
    end
  end

  (* ram_style = "distributed" *)
  key_t keys1[Keys];
  (* ram_style = "distributed" *)
  key_t keys2[Keys];
  (* ram_style = "distributed" *)
  key_t keys3[Keys];

  always_ff @(posedge clk_i) begin
    if (write[0]) keys1[write_place] <= write_key;
    if (write[1]) keys2[write_place] <= write_key;
    if (write[2]) keys3[write_place] <= write_key;
  end

  // C and D for the first round of a part: encryption moves them first, decryption begins at home.
  function automatic key_t first(input logic backward, input key_t key);
    return backward ? key : rotate_left_1(key);
  endfunction

  // -- the ring of slots ----------------------------------------------------------------------------------

  slot_t [Ring-1:0] slot_q;  // by stage, the door last
  slot_t at_door, through;
  logic [TurnBits-1:0] turn_q;  // which slot is at the door
  logic enter, leave, part_ends;

  assign at_door       = slot_q[Ring-1];
  assign block_ready_o = !at_door.valid || at_door.last;
  assign block_slot_o  = {!at_door.number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign leave         = at_door.valid && at_door.last;
  assign part_ends     = at_door.turn == 3'(Turns - 1);

  always_comb begin
    through = at_door;
    if (enter) begin
      through.number   = !at_door.number;
      through.valid    = 1'b1;
      through.turn     = '0;
      through.part     = '0;
      through.three    = three_q[block_place_i];
      through.decrypt  = decrypt_i;
      through.backward = decrypt_i;
      through.place    = block_place_i;
    end else begin
      through.valid = at_door.valid && !at_door.last;
      through.turn  = part_ends ? '0 : at_door.turn + 3'd1;
      if (part_ends) begin
        through.part     = at_door.part + 2'd1;
        through.backward = !at_door.backward;
      end
    end
    through.last = Whole || (through.turn == 3'(Turns - 1) && (!through.three || through.part == 2'd2));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q         <= '0;
      turn_q         <= '0;
      result_valid_o <= 1'b0;
      result_slot_o  <= '0;
    end else begin
      slot_q <= {slot_q[Ring-2:0], through};
      if (wipe_i) begin
        for (int unsigned i = 0; i < Ring; i++) slot_q[i].valid <= 1'b0;
      end
      turn_q         <= turn_q == TurnBits'(Ring - 1) ? '0 : turn_q + TurnBits'(1);
      result_valid_o <= leave && !wipe_i;
      result_slot_o  <= {at_door.number, turn_q};
    end
  end

  // -- data -----------------------------------------------------------------------------------------------

  // Data registers have no reset of their own: the clock behind a reset empties them.
  logic purge_q, purge;
  assign purge = purge_q || wipe_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) purge_q <= 1'b1;
    else purge_q <= 1'b0;
  end

  state_t [Ring-1:0] state_q;
  state_t entering, around;
  key_t next_key_q;  // of the part that the slot at the door begins, if it begins one
  block_t halves;

  // Stage Unrolled - 1 is one clock in front of the door.
  key_t [2:0] ahead;
  logic [1:0] ahead_part;

  assign ahead = {keys3[slot_q[Ring-2].place], keys2[slot_q[Ring-2].place], keys1[slot_q[Ring-2].place]};
  assign ahead_part = slot_q[Ring-2].part;

  // The second part has the second key; the last one the third, or in decryption the first.
  always_ff @(posedge clk_i) begin
    if (purge) next_key_q <= '0;
    else if (ahead_part == 2'd0) next_key_q <= first(!slot_q[Ring-2].backward, ahead[1]);
    else next_key_q <= first(!slot_q[Ring-2].backward, ahead[slot_q[Ring-2].decrypt?0 : 2]);
  end

  assign halves      = initial_permutation(block_i);
  assign entering.l  = halves[63:32];
  assign entering.r  = halves[31:0];
  // Single DES has its only key at every place.
  assign entering.cd = first(decrypt_i, decrypt_i ? keys3[block_place_i] : keys1[block_place_i]);

  // At the door nothing is computed: the halves change places where a part ends.
  always_comb begin
    around = state_q[Ring-1];
    if (part_ends) begin
      around.l  = state_q[Ring-1].r;
      around.r  = state_q[Ring-1].l;
      around.cd = next_key_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (purge) begin
      state_q[0] <= '0;
      result_o   <= '0;
    end else begin
      state_q[0] <= enter ? entering : around;
      result_o   <= final_permutation({state_q[Ring-1].r, state_q[Ring-1].l});
    end
  end

  for (genvar s = 0; s < Unrolled; s++) begin : gen_round
    // Stages of one part of triple DES that are in front of another one, where all parts are laid out.
    localparam bit Ends = Whole && s % 16 == 15 && s != Unrolled - 1;
    // With parts laid out the second one goes the other way.
    localparam bit Second = Whole && s / 16 == 1;

    half_t r;
    key_t  cd;  // for the round behind this one

    assign r = state_q[s].l ^ f(state_q[s].r, permuted_choice_2(state_q[s].cd));

    if (Ends) begin : gen_part
      // That is the first one of the next part, whose key is read a stage ahead.
      key_t key_q;
      logic backward;

      assign cd       = key_q;
      assign backward = slot_q[s-1].backward ^ Second;

      always_ff @(posedge clk_i) begin
        if (purge) key_q <= '0;
        else if (!Second) key_q <= first(!backward, keys2[slot_q[s-1].place]);
        else
          key_q <= first(
            !backward, slot_q[s-1].decrypt ? keys1[slot_q[s-1].place] : keys3[slot_q[s-1].place]
          );
      end
    end else begin : gen_move
      // Encryption moves C and D in front of rounds 0, 1, 8 and 15 by one place, decryption in front of 1, 8 and
      // 15, and not at all in front of 0; by two places else. Round 0 begins with a key of its own.
      logic [3:0] round;

      assign round = 4'(s + 1) + 4'(32'(slot_q[s].turn) * Unrolled);

      always_comb begin
        unique case ({
          slot_q[s].backward ^ Second, Shifts[round] == 1
        })
          2'b00:   cd = rotate_left_2(state_q[s].cd);
          2'b01:   cd = rotate_left_1(state_q[s].cd);
          2'b10:   cd = rotate_right_2(state_q[s].cd);
          default: cd = turn(rotate_left_1(turn(state_q[s].cd)));
        endcase
      end
    end

    always_ff @(posedge clk_i) begin
      if (purge) state_q[s+1] <= '0;
      else if (Ends) state_q[s+1] <= '{l: r, r: state_q[s].r, cd: cd};
      else state_q[s+1] <= '{l: state_q[s].r, r: r, cd: cd};
    end
  end

endmodule

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
  import core_pkg::*;
  import des_pkg::*;
#(
  // Rounds in a row: 2, 4, 8, 16 or 48.
  parameter int unsigned Unrolled = 8,
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  if (!(Unrolled inside {2, 4, 8, 16, 48})) begin : gen_illegal
    $error("des_ring: Unrolled must be 2, 4, 8, 16 or 48");
  end

  localparam int unsigned Ring = Unrolled + 1;
  // Times around the ring for 16 rounds; the whole of triple DES goes once through 48 stages.
  localparam int unsigned Turns = Unrolled < 16 ? 16 / Unrolled : 1;
  localparam bit Whole = Unrolled == 48;
  localparam int unsigned AllTurns = Whole ? 1 : 3 * Turns;
  localparam int unsigned TurnBits = Whole ? 1 : $clog2(AllTurns);

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context
  typedef logic [TurnBits-1:0] turns_t;

  localparam int unsigned Backward = 0;  // goes along with a block: this part decrypts

  typedef struct packed {
    half_t l;
    half_t r;
    key_t  cd;
  } state_t;

  // -- the ring -------------------------------------------------------------------------------------------

  number_t block_key, key_number;
  ring_stage_t [Ring:1] stage;
  ring_door_t door;
  logic part_ends;
  logic [Contexts-1:0] three_q;  // keys of two or three parts
  block_t result_q;

  assign block_key  = number_t'(req_i.block_context);
  assign key_number = number_t'(req_i.key_context);

  // Turns left, within 16 rounds.
  function automatic logic [3:0] turns_of(input turns_t count);
    return 4'(count) & 4'(Turns - 1);
  endfunction

  assign part_ends = turns_of(stage[Ring].left[TurnBits-1:0]) == '0;

  always_comb begin
    door                  = '0;
    door.turns            = Whole ? '0 : three_q[block_key] ? 8'(AllTurns - 1) : 8'(Turns - 1);
    door.enter[Backward]  = req_i.decrypt;
    door.around[Backward] = stage[Ring].own[Backward] ^ part_ends;
  end

  ring_control #(
    .Stages(Ring),
    .Turns (AllTurns),
    .Tail  (1)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  (door),
    .stage_o (stage),
    .busy_i  (1'b0),
    .result_i(128'(result_q)),
    .rsp_o
  );

  // -- keys -----------------------------------------------------------------------------------------------

  // The three keys of a context, two copies: 0 for blocks that enter, 1 for parts that begin a clock later.
  key_t [1:0][2:0] key;
  number_t [1:0][2:0] number;
  logic [2:0] write;

  // The first key is the third too until that comes.
  assign write = {
    req_i.key_index != 3'd1, req_i.key_index <= 3'd1, req_i.key_index == 3'd0
  } & {3{req_i.key_valid}};

  for (genvar k = 0; k < 6; k++) begin : gen_key
    ram_logic #(
      .Width(56),
      .Depth(Contexts)
    ) u_keys (
      .clk_i,
      .clear_i,
      .write_i     (write[k%3]),
      .write_at_i  (key_number),
      .write_data_i(permuted_choice_1(req_i.key)),
      .read_at_i   (number[k/3][k%3]),
      .read_data_o (key[k/3][k%3])
    );
  end

  assign number[0] = {3{block_key}};

  // Where all parts are laid out, each begins at a stage of its own; else all at the door.
  if (Whole) begin : gen_whole
    assign number[1] = {number_t'(stage[31].key), number_t'(stage[15].key), number_t'(stage[31].key)};
  end else begin : gen_parts
    assign number[1] = {3{number_t'(stage[Ring-1].key)}};
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) three_q <= '0;
    else if (req_i.key_valid) three_q[key_number] <= req_i.key_index != 3'd0;
  end

  // C and D for the first round of a part: encryption moves them first, decryption begins at home.
  function automatic key_t first(input logic backward, input key_t home);
    return backward ? home : rotate_left_1(home);
  endfunction

  // -- data -----------------------------------------------------------------------------------------------

  state_t [Ring-1:0] state_q;  // by stage, less one
  state_t entering, leaving;
  key_t   next_key_q;  // of the part that the block at the door begins, if it begins one
  block_t halves;

  // The second part has the second key; the last one the third, or in decryption the first.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) next_key_q <= '0;
    else if (stage[Ring-1].left[TurnBits-1]) next_key_q <= first(!stage[Ring-1].own[Backward], key[1][1]);
    else next_key_q <= first(!stage[Ring-1].own[Backward], key[1][stage[Ring-1].decrypt?0 : 2]);
  end

  assign halves      = initial_permutation(req_i.block[63:0]);
  assign entering.l  = halves[63:32];
  assign entering.r  = halves[31:0];
  // Single DES has its only key at every place.
  assign entering.cd = first(req_i.decrypt, key[0][req_i.decrypt?2 : 0]);

  // At the door nothing is computed: the halves change places where a part ends.
  always_comb begin
    leaving = state_q[Ring-1];
    if (part_ends) leaving = '{l: state_q[Ring-1].r, r: state_q[Ring-1].l, cd: next_key_q};
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      state_q[0] <= '0;
      result_q   <= '0;
    end else begin
      state_q[0] <= req_i.block_valid && stage[Ring].last ? entering : leaving;
      result_q   <= final_permutation({state_q[Ring-1].r, state_q[Ring-1].l});
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

      assign cd = key_q;

      always_ff @(posedge clk_i) begin
        if (clear_i.active) key_q <= '0;
        else key_q <= first(!(stage[s].own[Backward] ^ Second), key[1][!Second?1 : stage[s].decrypt?0 : 2]);
      end
    end else begin : gen_move
      // Encryption moves C and D in front of rounds 0, 1, 8 and 15 by one place, decryption in front of 1, 8 and
      // 15, and not at all in front of 0; by two places else. Round 0 begins with a key of its own.
      logic [3:0] round;

      assign round = 4'(s + 1) + 4'(Unrolled) * (4'(Turns - 1) - turns_of(stage[s+1].left[TurnBits-1:0]));

      always_comb begin
        unique case ({
          stage[s+1].own[Backward] ^ Second, Shifts[round] == 1
        })
          2'b00:   cd = rotate_left_2(state_q[s].cd);
          2'b01:   cd = rotate_left_1(state_q[s].cd);
          2'b10:   cd = rotate_right_2(state_q[s].cd);
          default: cd = turn(rotate_left_1(turn(state_q[s].cd)));
        endcase
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) state_q[s+1] <= '0;
      else if (Ends) state_q[s+1] <= '{l: r, r: state_q[s].r, cd: cd};
      else state_q[s+1] <= '{l: state_q[s].r, r: r, cd: cd};
    end
  end

  logic unused;
  assign unused = ^stage;

endmodule

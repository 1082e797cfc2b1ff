// SPDX-License-Identifier: Apache-2.0
//
// MARS as two rings, one of five stages for the mixing rounds and one of nine for the keyed rounds, with 14
// blocks inside, each under a key of its own and in its own direction. A block goes 8 times round the first,
// 16 times round the second, and 8 times round the first again. Both lengths are odd: if a block enters every
// 16 clocks, no two of them ever want the same stage, and both rings are always full. So all that happens is
// settled by a clock that counts to 16, and there is no state but what goes along with a block.
//
// The words K[0] to K[3] are added on the way in, one a clock, K[36] to K[39] taken off on the way out. A block
// to be decrypted goes through with its words in opposite order; then both kinds of mixing are as in encryption.
//
// Cycles: a block every 16 clocks; 239 from the block to its result, in both directions and for every key
// length. Key set-up: see mars_ring_keys.
module mars_ring
  import mars_pkg::*;
#(
  // Key places.
  parameter int unsigned Keys = 16,

  localparam int unsigned KeyBits  = $clog2(Keys),
  // Numbers are given in turn, one every 16 clocks.
  localparam int unsigned SlotBits = 4
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

  if (Keys < 2 || Keys > 16 || 2 ** KeyBits != Keys) begin : gen_illegal
    $error("mars_ring: Keys must be a power of two from 2 to 16");
  end

  typedef struct packed {
    logic               valid;
    logic               decrypt;
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the clock, and the rounds that the stages work on ----------------------------------------------------

  // When it is 7 a block is taken, in 15 it is in stage 0 for its first round; it leaves the other end in 14.
  // Seen from a stage a round later is 5 clocks later, or 9: so it is 13, or 9, rounds more every clock.
  logic [3:0] time_q;
  logic [4:0][3:0] mix_q;  // by stage of the mixing ring
  logic [7:0][3:0] round_q;  // by stage of the other, as far as it matters
  logic [3:0] round_next;
  logic half, whole;  // a block leaves the mixing ring, for the other one or for good

  assign round_next = round_q[0] + 4'd9;
  assign half       = mix_q[4] == 4'd7;
  assign whole      = mix_q[4] == 4'd15;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q  <= '0;
      mix_q   <= {16'h0, 4'd13};
      round_q <= {28'h0, 4'd1};
    end else begin
      time_q  <= time_q + 4'd1;
      mix_q   <= {mix_q[3:0], mix_q[0] + 4'd13};
      round_q <= {round_q[6:0], round_next};
    end
  end

  // -- what goes along with the blocks ----------------------------------------------------------------------

  slot_t [4:0] mixing_q;
  slot_t [8:0] keyed_q;
  slot_t entering_q, leaving_q, keyed_next;
  logic [SlotBits-1:0] number_q;
  logic take;

  assign take          = time_q == 4'd7;
  assign block_ready_o = take;
  assign block_slot_o  = number_q;
  assign keyed_next    = half ? mixing_q[4] : keyed_q[8];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mixing_q       <= '0;
      keyed_q        <= '0;
      entering_q     <= '0;
      leaving_q      <= '0;
      number_q       <= '0;
      result_valid_o <= 1'b0;
      result_slot_o  <= '0;
    end else begin
      mixing_q <= {mixing_q[3:0], whole ? entering_q : half ? keyed_q[8] : mixing_q[4]};
      keyed_q  <= {keyed_q[7:0], keyed_next};
      if (take) begin
        entering_q <= '{valid: block_valid_i, decrypt: decrypt_i, place: block_place_i};
        number_q   <= number_q + 4'd1;
      end
      if (whole) leaving_q <= mixing_q[4];
      if (wipe_i) begin
        for (int unsigned s = 0; s < 5; s++) mixing_q[s].valid <= 1'b0;
        for (int unsigned s = 0; s < 9; s++) keyed_q[s].valid <= 1'b0;
        entering_q.valid <= 1'b0;
        leaving_q.valid  <= 1'b0;
      end
      result_valid_o <= leaving_q.valid && time_q == 4'd5 && !wipe_i;
      // 15 numbers have been given since.
      result_slot_o  <= number_q + 4'd1;
    end
  end

  // -- keys -----------------------------------------------------------------------------------------------

  logic [9:0] lookup_address;
  word_t lookup, add_key, multiply_key, white_key;
  slot_t white_slot;
  logic white_upper, erase;
  logic [1:0] white, enter_order, leave_order;

  // From 8 to 11 for the block that enters, from 0 to 3 for the one that leaves.
  assign white_slot  = time_q[3] ? entering_q : leaving_q;
  assign white_upper = white_slot.decrypt == time_q[3];
  assign white       = time_q[1:0] ^ {2{time_q[3] && entering_q.decrypt}};

  mars_ring_keys #(
    .Keys(Keys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i,
    .key_last_i,
    .key_words_i     (key_len_i[5:2]),
    .key_place_i,
    .busy_o          (key_busy_o),
    .erase_o         (erase),
    .lookup_address_o(lookup_address),
    .lookup_i        (lookup),
    .place_i         (keyed_next.place),
    .index_i         (round_next ^ {4{keyed_next.decrypt}}),
    .add_key_o       (add_key),
    .multiply_key_o  (multiply_key),
    .white_place_i   (white_slot.place),
    .white_upper_i   (white_upper),
    .white_i         (white),
    .white_key_o     (white_key)
  );

  logic unused;
  assign unused = ^{key_len_i[1:0], white_slot.valid};

  // -- data -----------------------------------------------------------------------------------------------

  // All data is forgotten for as long as there may be keys to make new data with, and for the clocks that it
  // takes through a block memory.
  logic [2:0] purge_q;
  logic purge;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q <= '1;
      purge   <= 1'b1;
    end else begin
      purge_q <= {purge_q[1:0], wipe_i || erase};
      purge   <= purge_q != '0 || wipe_i || erase;
    end
  end

  block_t in_q, fresh_q, out_q, mixed, back;
  logic enter_q;  // a word of the block that enters has its key

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enter_q <= 1'b0;
    else enter_q <= entering_q.valid && time_q inside {[4'd9 : 4'd12]};
  end

  always_ff @(posedge clk_i) begin
    enter_order <= (time_q[1:0] - 2'd1) ^ {2{entering_q.decrypt}};
    leave_order <= (time_q[1:0] - 2'd1) ^ {2{leaving_q.decrypt}};
    if (purge) in_q <= '0;
    else if (take && block_valid_i) in_q <= block_i;
    // Zero but for the block that enters, as is what comes back from the other ring.
    if (purge || !enter_q) fresh_q <= '0;
    else fresh_q <= {in_q[enter_order] + white_key, fresh_q[3:1]};
    if (purge) out_q <= '0;
    else if (whole) out_q <= mixed;
    if (purge) result_o <= '0;
    else result_o <= {out_q[leave_order] - white_key, result_o[3:1]};
  end

  mars_ring_mixing u_mixing (
    .clk_i,
    .purge_i(purge),
    .backward0_i(mix_q[0][3]),
    .backward2_i(mix_q[2][3]),
    .round3_i(mix_q[3]),
    .leave_i(half || whole),
    .fresh_i(fresh_q),
    .back_i(back),
    .words_o(mixed)
  );

  mars_ring_rounds u_rounds (
    .clk_i,
    .purge_i         (purge),
    .decrypt0_i      (keyed_q[0].decrypt),
    .decrypt5_i      (keyed_q[5].decrypt),
    .decrypt6_i      (keyed_q[6].decrypt),
    .backward6_i     (round_q[6][3]),
    .last7_i         (round_q[7] == 4'd15),
    .add_key_i       (add_key),
    .multiply_key_i  (multiply_key),
    .enter_i         (half),
    .words_i         (mixed),
    .words_o         (back),
    .lookup_address_i(lookup_address),
    .lookup_o        (lookup)
  );

endmodule

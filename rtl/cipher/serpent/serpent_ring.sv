// SPDX-License-Identifier: Apache-2.0
//
// Serpent as a ring of nine stages: eight rounds, each with the S-box that is its own, and the door. Nine blocks
// are in it, each under a key of its own, and pass it four times. A block comes past the door every nine clocks;
// after the fourth time it leaves and another may take its slot.
//
// Cycles: a block every 4 clocks at full load, for every key size; 39 clocks from the block to its result.
// Key set-up: key_busy_o is high for 36 clocks behind the last key beat. After a wipe or a reset each key place
// is overwritten in 38 clocks, but not before keys that come meanwhile.
module serpent_ring
  import serpent_pkg::*;
#(
  // 0: encryption only, which is all that CTR needs.
  parameter bit Decrypt = 1'b1,
  // Key places.
  parameter int unsigned Keys = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  // Blocks leave as they entered and are numbered one after the other; no more than eleven are on their way.
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

  // The step in which the last round key is about to be written.
  localparam logic [5:0] LastStep = 6'd35;

  typedef struct packed {
    logic [KeyBits-1:0] place;
    logic               decrypt;
    logic [1:0]         pass;
  } way_t;

  logic purge_q;  // the first clock after a reset
  logic wipe;

  assign wipe = wipe_i || purge_q;

  // -- slots ------------------------------------------------------------------------------------------------

  // What is to be done with the block in stage i, the round of that number or, 8, the door. A block is accepted
  // for the slot in stage 5, in which the last block may still be: it needs two clocks for its keys, and a third
  // to be registered.
  logic [8:0] valid_q;
  way_t [8:0] way_q;
  way_t accepted, next;
  logic accept;
  logic ready_q;
  logic [2:1] leave_q, leave_decrypt_q;  // of the block in stage 6 and 7 this is the last pass
  logic enter_q;  // the block in stage 8 comes in

  assign block_ready_o = ready_q;
  assign accept        = block_valid_i && ready_q;
  assign accepted      = '{place: block_place_i, decrypt: Decrypt && decrypt_i, pass: 2'd0};
  assign next          = '{place: way_q[5].place, decrypt: way_q[5].decrypt, pass: way_q[5].pass + 2'd1};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q         <= 1'b1;
      valid_q         <= '0;
      way_q           <= '0;
      ready_q         <= 1'b0;
      enter_q         <= 1'b0;
      leave_q         <= '0;
      leave_decrypt_q <= '0;
      result_valid_o  <= 1'b0;
    end else begin
      purge_q <= 1'b0;
      valid_q <= {valid_q[7:6], accept || (valid_q[5] && way_q[5].pass != 2'd3), valid_q[4:0], valid_q[8]};
      way_q <= {way_q[7:6], accept ? accepted : next, way_q[4:0], way_q[8]};
      enter_q <= way_q[7].pass == '0;
      ready_q <= !valid_q[4] || way_q[4].pass == 2'd3;
      leave_q <= {leave_q[1], valid_q[5] && way_q[5].pass == 2'd3};
      leave_decrypt_q <= {leave_decrypt_q[1], way_q[5].decrypt};
      result_valid_o <= leave_q[2];
      if (wipe) begin
        valid_q        <= '0;
        leave_q        <= '0;
        result_valid_o <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      block_slot_o  <= '0;
      result_slot_o <= '0;
    end else begin
      if (wipe) block_slot_o <= '0;
      else if (accept) block_slot_o <= block_slot_o + 4'd1;
      if (wipe) result_slot_o <= '0;
      else if (result_valid_o) result_slot_o <= result_slot_o + 4'd1;
    end
  end

  // -- keys -------------------------------------------------------------------------------------------------

  // A wipe puts a zero key through the schedule for each place. Fresh keys go first: they are not held up, and
  // their places need no wiping any more. Nobody asks for a place in which there is no key.
  logic [5:0] step;
  logic busy_q;  // a key is on its way
  logic wiping_q;  // there are places to be wiped, target_q and those behind it
  logic run_q;  // it is being wiped
  logic [KeyBits-1:0] target_q, place_q;
  logic [Keys-1:0] fresh_q;  // places that have had a key since
  logic rest, next_target, zero_d, zero_q;
  logic keys_valid;
  logic [5:0] keys_round;
  block_t [0:0] plain, merged;
  way_t   [8:0] address;
  block_t [8:0] keys;

  assign key_busy_o  = busy_q;
  assign rest        = step >= LastStep;
  assign next_target = wiping_q && !busy_q && !zero_q && (run_q ? rest : fresh_q[target_q]);
  assign zero_d      = wiping_q && !busy_q && !zero_q && !run_q && rest && !fresh_q[target_q] && !key_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      wiping_q <= 1'b1;
      zero_q   <= 1'b0;
      run_q    <= 1'b0;
      target_q <= '0;
      place_q  <= '0;
      fresh_q  <= '0;
    end else if (wipe) begin
      busy_q   <= 1'b0;
      wiping_q <= 1'b1;
      zero_q   <= 1'b0;
      run_q    <= 1'b0;
      target_q <= '0;
      fresh_q  <= '0;
    end else begin
      if (next_target) begin
        target_q <= target_q + 1'b1;
        if (target_q == '1) wiping_q <= 1'b0;
      end
      zero_q <= zero_d;
      run_q  <= (zero_q || (run_q && !rest)) && !key_valid_i;
      if (zero_d) place_q <= target_q;
      if (key_valid_i) begin
        busy_q               <= 1'b1;
        place_q              <= key_place_i;
        fresh_q[key_place_i] <= 1'b1;
      end else if (step == LastStep) begin
        busy_q <= 1'b0;
      end
    end
  end

  serpent_key_schedule #(
    .KeysPerClock(1),
    .Registered  (1'b1)
  ) u_key_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i     (wipe || (zero_q && !key_valid_i)),
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .step_o     (step),
    .valid_o    (keys_valid),
    .round_o    (keys_round),
    .plain_o    (plain),
    .merged_o   (merged)
  );

  // A key is wanted two clocks after it has been asked for.
  assign address = {way_q[6], way_q[5:0], way_q[8:7]};

  serpent_key_memory #(
    .KeysPerClock(1),
    .Places      (Keys),
    .Decrypt     (Decrypt)
  ) u_key_memory (
    .clk_i,
    .valid_i  (keys_valid),
    .place_i  (place_q),
    .round_i  (keys_round),
    .plain_i  (plain),
    .merged_i (merged),
    .read_i   ('1),
    .address_i(address),
    .key_o    (keys)
  );

  logic unused;
  assign unused = key_index_i[2];

  // -- data -------------------------------------------------------------------------------------------------

  block_t [2:0] block_q;
  block_t enc_sub, dec_sub, result_q;

  serpent_rounds #(
    .Pipelined(1'b1)
  ) u_encrypt (
    .clk_i,
    .wipe_i  (wipe),
    .enable_i(1'b1),
    .door_i  (keys[8]),
    .keys_i  (keys[7:0]),
    .enter_i (enter_q),
    .block_i (block_q[2]),
    .sub_o   (enc_sub)
  );

  if (Decrypt) begin : gen_decrypt
    serpent_rounds #(
      .Inverse  (1'b1),
      .Pipelined(1'b1)
    ) u_decrypt (
      .clk_i,
      .wipe_i  (wipe),
      .enable_i(1'b1),
      .door_i  (keys[8]),
      .keys_i  (keys[7:0]),
      .enter_i (enter_q),
      .block_i (block_q[2]),
      .sub_o   (dec_sub)
    );
  end else begin : gen_no_decrypt
    assign dec_sub = '0;
  end

  always_ff @(posedge clk_i) begin
    if (wipe) begin
      block_q  <= '0;
      result_q <= '0;
    end else begin
      block_q  <= {block_q[1:0], block_i};
      result_q <= (Decrypt && leave_decrypt_q[2] ? dec_sub : enc_sub) ^ keys[7];
    end
  end

  assign result_o = result_q;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// MD5 compression, one step a clock. The core holds no chaining state of its own: it reads and writes the
// words of the state in the memory of the front, one a clock. A step's constant, message word and a are
// added ahead; mix, addition, rotation and addition to b make the loop. The state after a block leaves as
// the words become final (a is known three steps before b) and starts the next block on the way.
//
// Cycles per block: 66, with the next block's words at hand.
module md5_core
  import core_pkg::*;
  import md5_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  hash_req_t req_i,
  output hash_rsp_t rsp_o
);

  // A block's words come at counts 0 to 15; the state's words are read from count 63 on, added from 64 on,
  // and written from 65 on, while the steps before are still under way.
  localparam logic [6:0] ReadCount = 7'd63;

  logic running, advance, stop, need, after_block, read_now;
  logic [6:0] count;
  logic [4:0] at_q;  // counts 64, 65, 0, 1, 2

  assign read_now = running && count == ReadCount;

  hash_control #(
    .IdleCount(ReadCount)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .wrap_i       (at_q[1]),
    .first_i      (at_q[2]),
    .end_i        (at_q[3]),
    .running_o    (running),
    .advance_o    (advance),
    .stop_o       (stop),
    .need_o       (need),
    .after_block_o(after_block),
    .count_o      (count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) at_q <= '0;
    else if (stop) at_q <= '0;
    else if (advance) at_q <= {at_q[3:0], read_now};
  end

  // -- the state's words ----------------------------------------------------------------------------------

  word_t state_q, sum_q, sum2_q;
  word_t b_q;

  // The word that is read: A, D, C, B, and A again; the one that is added, and the one that is written.
  logic [1:0] read_q, sum_index_q, index_q;

  // -- the message ----------------------------------------------------------------------------------------

  // Word 0 of a block comes when the last word of the block before has been read.
  word_t message;
  logic [3:0] word_index_q;

  ram_logic #(
    .Width(32),
    .Depth(16),
    .Quiet(1'b1)
  ) u_message (
    .clk_i,
    .clear_i,
    .write_i     (need && req_i.word_valid),
    .write_at_i  (count[3:0]),
    .write_data_i(req_i.word),
    .read_at_i   (word_index_q),
    .read_data_o (message)
  );

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  word_t sine[64];
  word_t sine_q;

  initial begin
    for (int unsigned i = 0; i < 64; i++) sine[i] = Sine[i];
  end

  always_ff @(posedge clk_i) begin
    if (advance || clear_i.active) sine_q <= sine[count[5:0]];
  end

  // -- the steps ------------------------------------------------------------------------------------------

  // A step's constant is read at count step, its word at step + 1; it is computed at step + 3. What it mixes is
  // b & p ^ q, and p and q are made a clock ahead, so that no gate but an adder's own stands behind b. In the clock in
  // which the new state's b is due, all of that is zero, and b comes from the register of the sum (count 2).
  logic [3:0] step1_q, step2_q;  // round and place among four
  logic [1:0] fine_q, coarse_q;
  logic b_counts_q;
  word_t c_d, c_q, d_q, p_q, q_q, mk_q, mka_q, sum_b_q, next;

  assign next = ((b_q & {32{b_counts_q}}) ^ sum_b_q) + rotate_coarse(
    rotate_fine(mka_q + ((b_q & p_q) ^ q_q), fine_q), coarse_q
  );

  // The new state: a and d pass through c on their way to d, where they are added.
  assign c_d = at_q[2] || at_q[3] || at_q[4] ? sum2_q : b_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      {state_q, sum_q, sum2_q, c_q, d_q, mk_q} <= '0;
    end else if (advance) begin
      sum_q <= state_q + b_q;
      sum2_q <= sum_q;

      // To load an initial state is to read the constant.
      state_q <= req_i.initial_state && !after_block ? Initial[read_q] : req_i.state;

      c_q <= c_d;
      d_q <= c_q;
      mk_q <= message + sine_q;
    end

    if (clear_i.active || (advance && at_q[3])) {p_q, q_q, mka_q} <= '0;
    else if (advance) begin
      p_q   <= mix_and(step2_q[3:2], c_d, c_q);
      q_q   <= mix_xor(step2_q[3:2], c_d, c_q);
      mka_q <= d_q + mk_q;
    end

    if (clear_i.active || (advance && !at_q[3])) sum_b_q <= '0;
    else if (advance) sum_b_q <= state_q + b_q;

    if (clear_i.active) b_counts_q <= 1'b1;
    else if (advance) b_counts_q <= !at_q[3];

    // Nothing is added to a state that is loaded: a synchronous reset, and no gate per bit.
    if (clear_i.active || (advance && !after_block)) b_q <= '0;
    else if (advance) b_q <= next;
  end

  // -- what goes with a step, and with a word of the state ------------------------------------------------

  logic state_valid_q, state_final_q, state_last_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      {step1_q, step2_q, fine_q, coarse_q, word_index_q} <= '0;
      {sum_index_q, index_q, state_final_q} <= '0;
    end else if (advance) begin
      step1_q       <= {count[5:4], count[1:0]};
      step2_q       <= step1_q;
      fine_q        <= fine_rotation(step2_q[3:2], step2_q[1:0]);
      coarse_q      <= step2_q[1:0];
      word_index_q  <= word_index(count[5:0]);
      sum_index_q   <= read_q;
      index_q       <= sum_index_q;
      state_final_q <= after_block;
    end

    if (clear_i.active || !running) read_q <= '0;
    else if (advance && (read_now || at_q[2:0] != '0)) read_q <= read_q - 2'd1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {state_valid_q, state_last_q} <= '0;
    else if (stop || !running) {state_valid_q, state_last_q} <= '0;
    else if (advance) begin
      state_valid_q <= at_q[3:0] != '0 && (after_block || req_i.initial_state);
      state_last_q  <= at_q[3] && after_block;
    end
  end

  assign rsp_o = '{
      turn: 1'b0,
      idle: {1'b0, !running},
      word_ready: {1'b0, need},
      state_read: {1'b0, read_q},
      state_valid: state_valid_q,
      state_final: state_final_q,
      state_last: state_last_q,
      state_index: {1'b0, index_q},
      state: sum_q
    };

endmodule

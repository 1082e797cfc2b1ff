// SPDX-License-Identifier: Apache-2.0
//
// MD5 compression, one step a clock. The core holds no chaining state of its own: it reads and writes the
// words of the state in the memory of hash_modes, one a clock. A step's constant, message word and a are
// added ahead; mix, addition, rotation and addition to b make the loop. The state after a block leaves as
// the words become final (a is known three steps before b) and starts the next block on the way.
//
// Cycles per block: 66, with the next block's words at hand.
module md5_core
  import md5_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Stop, and forget all data, a message word per clock: it is high for 16 clocks, with word_i zero, after
  // a reset, which data registers do not have, and for a wipe. One clock is enough to stop.
  input logic clear_i,

  input  logic start_i,
  input  logic initial_i,
  output logic idle_o,

  input  logic  word_valid_i,
  output logic  word_ready_o,
  input  word_t word_i,

  output logic  [2:0] state_read_o,
  input  word_t       state_i,
  output logic        state_valid_o,
  output logic        state_final_o,
  output logic        state_last_o,
  output logic  [2:0] state_index_o,
  output word_t       state_o
);

  typedef logic [6:0] count_t;

  // A block's words come at counts 0 to 15; the state's words are read from count 63 on, added from 64 on,
  // and written from 65 on, while the steps before are still under way.
  localparam count_t ReadCount = count_t'(63);

  logic running_d, running_q;
  logic drain_d, drain_q;  // no next block: stop when the state is out
  logic final_d, final_q;  // the state's words are sums after a block, not loaded ones
  count_t count_d, count_q;
  logic [4:0] at_q;  // counts 64, 65, 0, 1, 2
  logic need_d, need_q;  // the word of this count comes from the message
  logic read_now, advance;

  assign read_now     = running_q && count_q == ReadCount;
  assign advance      = running_q && (!need_q || word_valid_i || at_q[2]);
  assign word_ready_o = need_q;
  assign idle_o       = !running_q;

  always_comb begin
    running_d = running_q;
    drain_d   = drain_q;
    final_d   = final_q;
    count_d   = count_q;
    need_d    = need_q;

    if (!running_q) begin
      running_d = start_i;
      need_d    = 1'b0;
      final_d   = 1'b0;
      drain_d   = 1'b0;
      count_d   = ReadCount;
    end else if (advance) begin
      count_d = at_q[1] ? '0 : count_q + count_t'(1);
      if (at_q[1]) need_d = 1'b1;
      if (count_q[3:0] == '1) need_d = 1'b0;
      if (at_q[2]) begin
        drain_d = !word_valid_i;
        need_d  = word_valid_i;
      end
      if (at_q[3]) begin
        final_d = 1'b1;
        if (drain_q) running_d = 1'b0;
      end
    end
    if (clear_i) begin
      running_d = 1'b0;
      need_d    = 1'b0;
      count_d   = count_q + count_t'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      need_q    <= 1'b0;
      drain_q   <= 1'b0;
      final_q   <= 1'b0;
      count_q   <= ReadCount;
      at_q      <= '0;
    end else begin
      running_q <= running_d;
      need_q    <= need_d;
      drain_q   <= drain_d;
      final_q   <= final_d;
      count_q   <= count_d;
      if (clear_i) at_q <= '0;
      else if (advance) at_q <= {at_q[3:0], read_now};
    end
  end

  // -- the state's words ----------------------------------------------------------------------------------

  logic [2:0] sum_index_q;
  word_t state_q, sum_q, sum2_q;
  word_t b_q;

  // The word that is read: A, D, C, B, and A again.
  logic [1:0] read_index_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_index_q <= '0;
    else if (!running_q) read_index_q <= '0;
    else if (advance && (read_now || at_q[2:0] != '0)) read_index_q <= read_index_q - 2'd1;
  end

  assign state_read_o = {1'b0, read_index_q};

  // -- the message ----------------------------------------------------------------------------------------

  // Word 0 of a block comes when the last word of the block before has been read.
  word_t message[16];
  logic [3:0] word_index_q;

  always_ff @(posedge clk_i) begin
    if (clear_i || (need_q && word_valid_i)) message[count_q[3:0]] <= word_i;
  end

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  word_t sine[64];
  word_t sine_q;

  initial begin
    for (int unsigned i = 0; i < 64; i++) sine[i] = Sine[i];
  end

  always_ff @(posedge clk_i) begin
    if (advance) sine_q <= sine[count_q[5:0]];
  end

  // -- the steps ------------------------------------------------------------------------------------------

  // A step's constant is read at count step, its word at step + 1; it is computed at step + 3.
  logic [3:0] step1_q, step2_q;  // round and place among four
  logic [1:0] round_q, fine_q, coarse_q;
  word_t c_q, d_q, mk_q, mka_q, next;

  assign next = b_q + rotate_coarse(rotate_fine(mka_q + mix(round_q, b_q, c_q, d_q), fine_q), coarse_q);

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      {state_q, sum_q, sum2_q, c_q, d_q, mk_q, mka_q} <= '0;
    end else if (advance) begin
      sum_q <= state_q + b_q;
      sum2_q <= sum_q;

      // To load an initial state is to read the constant.
      state_q <= initial_i && !final_q ? Initial[read_index_q] : state_i;

      // The new state: a and d pass through c on their way to d, where they are added.
      c_q <= at_q[2] || at_q[3] || at_q[4] ? sum2_q : b_q;
      d_q <= c_q;

      mka_q <= d_q + mk_q;
      mk_q <= message[word_index_q] + sine_q;
    end

    // Nothing is added to a state that is loaded: a synchronous reset, and no gate per bit.
    if (clear_i || (advance && !final_q)) b_q <= '0;
    else if (advance) b_q <= at_q[4] ? sum_q : next;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step1_q       <= '0;
      step2_q       <= '0;
      round_q       <= '0;
      fine_q        <= '0;
      coarse_q      <= '0;
      word_index_q  <= '0;
      sum_index_q   <= '0;
      state_index_o <= '0;
      state_valid_o <= 1'b0;
      state_final_o <= 1'b0;
      state_last_o  <= 1'b0;
    end else if (advance) begin
      step1_q       <= {count_q[5:4], count_q[1:0]};
      step2_q       <= step1_q;
      round_q       <= step2_q[3:2];
      fine_q        <= fine_rotation(step2_q[3:2], step2_q[1:0]);
      coarse_q      <= step2_q[1:0];
      word_index_q  <= word_index(count_q[5:0]);
      sum_index_q   <= state_read_o;
      state_index_o <= sum_index_q;
      state_valid_o <= at_q[3:0] != '0 && (final_q || initial_i);
      state_final_o <= final_q;
      state_last_o  <= at_q[3] && final_q;
    end else if (!running_q) begin
      state_valid_o <= 1'b0;
      state_last_o  <= 1'b0;
    end
  end

  assign state_o = sum_q;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 compression, one step a clock. The core holds no chaining state of its own: it reads and writes the
// words of the state in the memory of hash_modes, one a clock. Of a step's five summands four are added
// ahead, one a clock: w + k, then + e, then + f, so that only rotl5(a) is left to the step itself. The state
// after a block leaves as the words become final (e is known four steps before a) and starts the next block
// on the way.
//
// Cycles per block: 82, with the next block's words at hand.
module sha1_core
  import sha1_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Stop, and forget all data. It is high after a reset, which data registers do not have, and for a wipe.
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

  // A block's words come at counts 0 to 15; the state's words are read from count 79 on, added from 80 on,
  // and written from 81 on, while the steps before are still under way.
  localparam count_t ReadCount = count_t'(79);

  logic running_d, running_q;
  logic drain_d, drain_q;  // no next block: stop when the state is out
  logic final_d, final_q;  // the state's words are sums after a block, not loaded ones
  count_t count_d, count_q;
  logic [5:0] at_q;  // counts 80, 81, 0, 1, 2, 3
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
      if (at_q[4]) begin
        final_d = 1'b1;
        if (drain_q) running_d = 1'b0;
      end
    end
    if (clear_i) begin
      running_d = 1'b0;
      need_d    = 1'b0;
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
      else if (advance) at_q <= {at_q[4:0], read_now};
    end
  end

  // -- the state's words ----------------------------------------------------------------------------------

  // What is added to a word of the state: after a block the working variable, to load an initial state the
  // constant, and nothing to load another one. Bit i of low_q is the constant's, or says that the working
  // variable is to be rotated: c, d and e are older a's, rotated by 30.
  logic [2:0] sum_index_q;
  word_t low_d, low_q, state_q, last_q, addend, sum, sum_q, sum2_q;

  // The word that is read: 4 at first, then down to 0.
  logic [2:0] read_index_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_index_q <= 3'd4;
    else if (!running_q) read_index_q <= 3'd4;
    else if (advance) read_index_q <= read_now || at_q[2:0] != '0 ? read_index_q - 3'd1 : 3'd4;
  end

  assign state_read_o = read_index_q;

  always_comb begin
    if (final_q) low_d = {32{read_now || at_q[0] || at_q[1]}};
    else low_d = initial_i ? Initial[state_read_o] : '0;
    for (int unsigned i = 0; i < 32; i++) begin
      addend[i] = final_q ? (low_q[i] ? last_q[(i+2)%32] : last_q[i]) : low_q[i];
    end
  end

  assign sum = state_q + addend;

  // -- the steps ------------------------------------------------------------------------------------------

  // Round of the word that gets its constant, and what the step two clocks before mixes.
  logic [1:0] round_d, round_q, round1_q;
  logic parity_q, majority_q;

  always_comb begin
    unique case (count_q)
      count_t'(0):  round_d = 2'd0;
      count_t'(20): round_d = 2'd1;
      count_t'(40): round_d = 2'd2;
      count_t'(60): round_d = 2'd3;
      default:      round_d = round_q;
    endcase
  end

  // a, b and c of the step under way; d and e are in what was added ahead. b is rotated when it becomes c.
  word_t a_q, b_q, c_q, next;
  word_t w_q[16];
  word_t expanded_q, wk_q, wke_q, wkef_q;

  assign next = rotl(a_q, 5) + wkef_q;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      {state_q, last_q, sum_q, sum2_q, a_q, b_q, c_q, expanded_q, wk_q, wke_q, wkef_q} <= '0;
      for (int unsigned i = 0; i < 16; i++) w_q[i] <= '0;
    end else if (advance) begin
      state_q    <= initial_i && !final_q ? '0 : state_i;
      sum_q      <= sum;
      sum2_q     <= sum_q;
      last_q     <= next;

      // The new state: e and d pass through b on their way to c, where they are added.
      a_q        <= at_q[4] || at_q[5] ? sum_q : next;
      b_q        <= at_q[2] || at_q[3] || at_q[4] ? rotl(sum2_q, 2) : a_q;
      c_q        <= rotl(b_q, 30);

      wkef_q     <= mix(parity_q, majority_q, a_q, rotl(b_q, 30), c_q) + wke_q;
      wke_q      <= c_q + wk_q;
      wk_q       <= w_q[0] + RoundConstant[round_q];

      expanded_q <= rotl(w_q[1] ^ w_q[6] ^ w_q[12] ^ w_q[14], 1);
      w_q[0]     <= need_q ? word_i : expanded_q;
      for (int unsigned i = 1; i < 16; i++) w_q[i] <= w_q[i-1];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      low_q         <= '0;
      round_q       <= '0;
      round1_q      <= '0;
      parity_q      <= 1'b0;
      majority_q    <= 1'b0;
      sum_index_q   <= '0;
      state_index_o <= '0;
      state_valid_o <= 1'b0;
      state_final_o <= 1'b0;
      state_last_o  <= 1'b0;
    end else if (advance) begin
      low_q         <= low_d;
      round_q       <= round_d;
      round1_q      <= round_q;
      parity_q      <= round1_q[0];
      majority_q    <= round1_q == 2'd2;
      sum_index_q   <= state_read_o;
      state_index_o <= sum_index_q;
      state_valid_o <= at_q[4:0] != '0 && (final_q || initial_i);
      state_final_o <= final_q;
      state_last_o  <= at_q[4] && final_q;
    end else if (!running_q) begin
      state_valid_o <= 1'b0;
      state_last_o  <= 1'b0;
    end
  end

  assign state_o = sum_q;

endmodule

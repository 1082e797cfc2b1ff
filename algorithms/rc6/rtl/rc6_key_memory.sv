// SPDX-License-Identifier: Apache-2.0
//
// The expanded key of rc6_core and the sequence that fills it: three passes over the 44 words S of the expanded
// key and over the words L of the user's key, in turn
//   A = S[i] = (S[i] + A + B) <<< 3,   B = L[j] = (L[j] + A + B) <<< (A + B).
// The sums and rotations are the core's; here are the memory, the order in which it is read and written, and the
// table that the first pass starts from, as constants behind the words. One of S and one of L take two clocks.
//
// A word is added by the core two clocks after its address was presented, and comes back to be written two
// clocks later. Clocks from the last key beat to `done_o`: 268, whatever the key's length.
module rc6_key_memory
  import core_pkg::*;
  import rc6_pkg::*;
(
  input logic clk_i,

  input clear_t    clear_i,
  input core_req_t req_i,    // its key is zero unless valid

  // A pair of words to be read; they come in the next clock.
  input  logic  [4:0] pair_i,
  output word_t       even_o,
  output word_t       odd_o,

  // For the core: even_o was registered and is to be added now, as a word of L or else of S; and what the core
  // found for the word before is to be written.
  output logic  add_o,
  output logic  of_l_o,
  output logic  found_o,
  input  word_t mixed_i,

  // The key can be used from the next clock on.
  output logic done_o
);

  typedef logic [6:0] address_t;

  // Words 0 to 43 are S, 48 to 55 L, and 64 to 107 the constants.
  function automatic address_t place_of_l(input logic [2:0] j);
    return {4'b0110, j};
  endfunction

  logic [3:0] run_q;  // the schedule runs; the same 1, 2, 3 clocks later
  logic [3:0] run_d;
  logic first_q;  // in the first pass
  logic last_q;  // in the last pass
  logic [5:0] i_q;
  logic [2:0] j_q, j_last_q;
  logic of_l_q;  // of L, not of S
  logic [1:0] of_l_delay_q;
  address_t read, write;
  address_t [3:0] write_q;
  logic write_valid_q;
  logic i_end;

  assign i_end = i_q == 6'(Words - 1);
  assign run_d = {
    run_q[2:0], (req_i.key_valid && req_i.key_last) || (run_q[0] && !(of_l_q && i_end && last_q))
  };
  assign add_o = run_q[2];
  assign found_o = run_q[3];
  assign of_l_o = of_l_delay_q[1];
  assign done_o = !req_i.key_valid && write_valid_q && !run_q[3];

  assign read = of_l_q ? place_of_l(j_q) : {first_q, i_q};
  assign write = {1'b0, read[5:0]};

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      run_q         <= '0;
      write_valid_q <= 1'b0;
      first_q       <= 1'b1;
      last_q        <= 1'b0;
      i_q           <= '0;
      j_q           <= '0;
      j_last_q      <= '0;
      of_l_q        <= 1'b0;
      of_l_delay_q  <= '0;
    end else begin
      run_q         <= req_i.key_valid && !req_i.key_last ? '0 : run_d;
      write_valid_q <= run_q[3] && !req_i.key_valid;
      of_l_delay_q  <= {of_l_delay_q[0], of_l_q};
      if (req_i.key_valid) begin
        first_q  <= 1'b1;
        last_q   <= 1'b0;
        i_q      <= '0;
        j_q      <= '0;
        of_l_q   <= 1'b0;
        j_last_q <= 3'(req_i.key_len[5:2] - 4'd1);
      end else begin
        of_l_q <= run_q[0] && !of_l_q;
        if (of_l_q) j_q <= j_q == j_last_q ? '0 : j_q + 3'd1;
        if (of_l_q) i_q <= i_end ? '0 : i_q + 6'd1;
        if (of_l_q && i_end) begin
          first_q <= 1'b0;
          last_q  <= !first_q;
        end
      end
    end
  end

  always_ff @(posedge clk_i) write_q <= {write_q[2:0], write};

  // -- the memory -----------------------------------------------------------------------------------------

  // Both ports read a pair, and write a beat of the key. The schedule reads by the one and writes by the other.
  // A clear writes the upper and the lower half of the words at once, the first
  // eight pairs again when nothing comes any more, and then leaves the ports to be read.
  address_t a_address, b_address;
  logic a_write, b_write;
  logic erase;
  logic lead;  // the first pair is read crosswise
  word_t a_data, b_data;

  assign lead    = pair_i == '0;
  assign erase   = clear_i.active && !(clear_i.index[5] && clear_i.index[3]);
  assign a_write = req_i.key_valid || erase;
  assign b_write = req_i.key_valid || erase || write_valid_q;
  assign a_data  = req_i.key[31:0];
  // A key may come while the schedule of another one runs: the words of that one stay out of it.
  assign b_data  = req_i.key[63:32] | (mixed_i & ~{32{req_i.key_valid}});

  always_comb begin
    if (req_i.key_valid) a_address = place_of_l({req_i.key_index[1:0], 1'b0});
    else if (clear_i.active) a_address = {2'b01, clear_i.index[4:0]};
    else if (run_q[0]) a_address = read;
    else a_address = {1'b0, pair_i, lead};

    if (req_i.key_valid) b_address = place_of_l({req_i.key_index[1:0], 1'b1});
    else if (clear_i.active) b_address = {2'b00, clear_i.index[4:0]};
    else if (write_valid_q) b_address = write_q[3];
    else b_address = {1'b0, pair_i, !lead};
  end

  // The ports never meet at one word.
  (* ram_style = "block", no_rw_check *)
  word_t memory[128];

  initial begin
    for (int unsigned k = 0; k < 128; k++) memory[k] = '0;
    for (int unsigned k = 0; k < Words; k++) memory[64+k] = P + 32'(k) * Q;
  end

  always_ff @(posedge clk_i) begin
    if (a_write) memory[a_address] <= a_data;
    else even_o <= memory[a_address];
    if (b_write) memory[b_address] <= b_data;
    else odd_o <= memory[b_address];
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The key schedule for every key size: a window of eight words runs through the recurrence by itself as soon
// as the key is there, KeysPerClock round keys per clock, and their S-boxes are looked up in block memory.
//
// Step 0 is under way in the clock after the last key beat; the round keys of a step come 1 clock after it, or
// 4 with Registered.
module serpent_key_schedule
  import core_pkg::*;
  import serpent_pkg::*;
#(
  // Round keys in a clock: 1 or 2.
  parameter int unsigned KeysPerClock = 2,
  // For a fast clock: registers in front of the S-boxes (the window has them), behind these and behind the merging.
  parameter bit Registered = 1'b0,

  // Steps of a key.
  localparam int unsigned Steps = (33 + KeysPerClock - 1) / KeysPerClock
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input key_beat_t key_i,

  // The step under way; Steps and more: at rest.
  output logic [5:0] step_o,

  // Round keys round_o and, if there are two in a clock, round_o + 1. None is there before it is valid.
  output logic                      valid_o,
  output logic   [             5:0] round_o,
  output block_t [KeysPerClock-1:0] plain_o,
  output block_t [KeysPerClock-1:0] merged_o
);

  if (!(KeysPerClock inside {1, 2})) begin : gen_illegal
    $error("serpent_key_schedule: KeysPerClock must be 1 or 2");
  end

  localparam int unsigned NewWords = 4 * KeysPerClock;

  logic running_q;
  logic [5:0] step_q;
  logic [5:0] round;  // the first of this step
  word_t [7:0] window_d, window_q;
  word_t [7+NewWords:0] words;  // the window and what follows it

  assign round  = step_q << (KeysPerClock - 1);
  assign step_o = step_q;

  // The recurrence, for four words: each goes into the next, but sums of sums are not deeper than two of four.
  // The number of a word goes into it.
  function automatic block_t follow(input word_t [7:0] w, input logic [5:0] number);
    word_t first, second, third, fourth, both;
    first  = w[0] ^ w[3] ^ w[5] ^ w[7] ^ Phi ^ {24'h0, number, 2'd0};
    second = w[1] ^ w[4] ^ w[6] ^ Phi ^ {24'h0, number, 2'd1};
    third  = w[2] ^ w[5] ^ w[7] ^ Phi ^ {24'h0, number, 2'd2};
    fourth = w[3] ^ w[6] ^ Phi ^ {24'h0, number, 2'd3};
    both   = w[0] ^ w[2] ^ w[3] ^ 32'd2;  // first and third
    return {
      rol(fourth, 11) ^ rol(both, 22) ^ rol(second, 1) ^ rol(first, 12),
      rol(third, 11) ^ rol(second, 22) ^ rol(first, 1),
      rol(second, 11) ^ rol(first, 22),
      rol(first, 11)
    };
  endfunction

  assign words[7:0] = window_q;

  for (genvar k = 0; k < KeysPerClock; k++) begin : gen_follow
    assign words[8+4*k+:4] = follow(words[4*k+:8], round + 6'(k));
  end

  // The first beat finds the words behind a short key: a one bit and zeros.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      window_d[i] = words[NewWords+i];
      if (key_i.valid) begin
        window_d[i] = key_i.index[1:0] == 2'(i / 2) ? key_i.data[32*(i%2)+:32] : {31'h0, 32'(key_i.len) == 4 * i};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 8; i++) begin
      if (clear_i.active) window_q[i] <= '0;
      else if (key_i.valid ? key_i.index[1:0] == 2'(i / 2) || key_i.index[1:0] == '0 : running_q)
        window_q[i] <= window_d[i];
    end
  end

  // The steps go on until the last key has been seen at the outputs, which costs nothing.
  localparam logic [5:0] Rest = 6'(Steps + 5);

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      running_q <= 1'b0;
      step_q    <= Rest;
    end else begin
      if (key_i.valid) begin
        running_q <= key_i.last;
        step_q    <= '0;
      end else if (running_q) begin
        running_q <= step_q != Rest - 6'd1;
        step_q    <= step_q + 6'd1;
      end
    end
  end

  // -- S-boxes: round r takes number 3 - r ----------------------------------------------------------------

  logic valid, valid_q;
  logic [5:0] sub_round, round_q;
  block_t [KeysPerClock-1:0] sub;

  if (Registered) begin : gen_late
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid     <= 1'b0;
        sub_round <= '0;
      end else begin
        valid     <= running_q && step_q < 6'(Steps) && !clear_i.active && !key_i.valid;
        sub_round <= round;
      end
    end
  end else begin : gen_at_once
    assign valid     = running_q && step_q < 6'(Steps);
    assign sub_round = round;
  end

  for (genvar k = 0; k < KeysPerClock; k++) begin : gen_key
    logic [2:0] index;
    assign index = 3'd3 - 3'(k) - sub_round[2:0];

    for (genvar i = 0; i < 8; i++) begin : gen_sbox
      logic [3:0][3:0] x, y;

      serpent_key_sbox u_sbox (
        .clk_i,
        .index_i(index),
        .x_i    (x),
        .y_o    (y)
      );

      for (genvar s = 0; s < 4; s++) begin : gen_slice
        for (genvar b = 0; b < 4; b++) begin : gen_bit
          // With a shift the new words are in the window.
          assign x[s][b] = words[(Registered?8-NewWords : 8)+4*k+b][4*i+s];
          assign sub[k][b][4*i+s] = y[s][b];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      round_q <= '0;
    end else begin
      valid_q <= valid && !clear_i.active && !key_i.valid;
      round_q <= sub_round;
    end
  end

  // -- merging ------------------------------------------------------------------------------------------------

  if (Registered) begin : gen_registered
    logic [1:0] valids_q;
    logic [5:0] round_1_q, round_2_q;
    block_t [KeysPerClock-1:0] sub_q, plain_q, merged_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valids_q <= '0;
      else valids_q <= {valids_q[0], valid_q} & {2{!clear_i.active}};
    end

    always_ff @(posedge clk_i) begin
      round_1_q <= round_q;
      round_2_q <= round_1_q;
      sub_q     <= sub;
      // Zero, so that the memories behind need no gates to be cleared.
      if (clear_i.active) begin
        plain_q  <= '0;
        merged_q <= '0;
      end else begin
        plain_q <= sub_q;
        for (int unsigned k = 0; k < KeysPerClock; k++) merged_q[k] <= merge_key(sub_q[k]);
      end
    end

    assign valid_o  = valids_q[1];
    assign round_o  = round_2_q;
    assign plain_o  = plain_q;
    assign merged_o = merged_q;
  end else begin : gen_direct
    assign valid_o = valid_q;
    assign round_o = round_q;
    assign plain_o = sub;
    always_comb for (int unsigned k = 0; k < KeysPerClock; k++) merged_o[k] = merge_key(sub[k]);
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// @NAME@, one round per clock.
//
// The key schedule runs once per key; the round keys stay in a memory that either direction reads. docs/slot-inside.md,
// "Front to cipher core", is the contract.
//
// Cycles per block: @BLOCK_CYCLES@, feedback included: the next block enters in the clock in which the result leaves.
// Key set-up: a block can be taken @BLOCK_CYCLES@ clocks after the last key beat, in either direction.
module @ID@_core
  import core_pkg::*;
  import @ID@_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  logic expand_q;  // round keys are made
  logic keyed_q;  // all round keys are there
  logic busy_q, valid_q;
  logic   decrypt_q;  // direction of the block inside
  count_t count_q;  // round, of the block or of the schedule
  logic accept, last;

  assign last               = count_q == count_t'(Rounds - 1);
  assign rsp_o.block_ready  = keyed_q && !busy_q && (!valid_q || req_i.result_ready);
  assign rsp_o.result_valid = valid_q;
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {expand_q, keyed_q, busy_q, valid_q} <= '0;
    else if (clear_i.active) {expand_q, keyed_q, busy_q, valid_q} <= '0;
    else begin
      expand_q <= (req_i.key_valid && req_i.key_last) || (expand_q && !last && !req_i.key_valid);
      keyed_q  <= ((expand_q && last) || keyed_q) && !req_i.key_valid;
      busy_q   <= accept || (busy_q && !last);
      valid_q  <= (busy_q && last) || (valid_q && !req_i.result_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) decrypt_q <= 1'b0;
    else if (accept) decrypt_q <= req_i.decrypt;
    if (clear_i.active || req_i.key_valid || accept) count_q <= '0;
    else if (expand_q || busy_q) count_q <= count_q + count_t'(1);
  end

  // -- keys -----------------------------------------------------------------------------------------------

  localparam int unsigned KeyBeats = $bits(key_t) / 64;

  key_t key_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_q <= '0;
    else if (req_i.key_valid) begin
      for (int unsigned beat = 0; beat < KeyBeats; beat++) begin
        if (req_i.key_index == $bits(req_i.key_index)'(beat)) key_q[64*beat+:64] <= req_i.key;
      end
    end else if (expand_q) key_q <= next_key(key_q, count_q);
    // Of a key that is expanded nothing is left but the round keys.
    else if (keyed_q) key_q <= '0;
  end

  (* ram_style = "distributed" *)
  block_t round_keys[Rounds];
  block_t round_key_q;
  count_t next;  // the round that comes: the first one unless a block is inside

  assign next = busy_q ? count_q + count_t'(1) : '0;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) round_keys[clear_i.index[$bits(count_t)-1:0]] <= '0;
    else if (expand_q) round_keys[count_q] <= round_key(key_q);
    if (clear_i.active) round_key_q <= '0;
    else round_key_q <= round_keys[(busy_q?decrypt_q : req_i.decrypt)?count_t'(Rounds-1)-next : next];
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  block_t x_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) x_q <= '0;
    else if (accept) x_q <= req_i.block[$bits(block_t)-1:0];
    else if (busy_q) x_q <= decrypt_q ? decrypt_round(x_q, round_key_q) : encrypt_round(x_q, round_key_q);
  end

  assign rsp_o.result = 128'(x_q);

endmodule

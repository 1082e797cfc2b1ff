// SPDX-License-Identifier: Apache-2.0
//
// SM4 (GB/T 32907-2016), one round per clock. The key schedule is the cipher itself with another linear map, so
// it runs on the same registers and S-boxes, once per key; the 32 round keys stay in a memory that either
// direction reads.
//
// Cycles per block: 33, feedback included: the next block enters in the clock in which the result leaves. Key
// set-up: a block can be taken 33 clocks after the last key beat, in either direction.
module sm4_core
  import core_pkg::*;
  import sm4_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  typedef logic [4:0] count_t;

  // -- control --------------------------------------------------------------------------------------------

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

  // -- round keys -----------------------------------------------------------------------------------------

  (* ram_style = "distributed" *)
  word_t round_keys[Rounds];
  word_t round_key_q, constant_q;
  count_t next;  // the round that comes: the first one unless a block is inside
  word_t x_d[4], x_q[4];

  assign next = busy_q ? count_q + count_t'(1) : '0;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) round_keys[clear_i.index[4:0]] <= '0;
    else if (expand_q) round_keys[count_q] <= x_d[3];
    if (clear_i.active) round_key_q <= '0;
    else round_key_q <= round_keys[(busy_q?decrypt_q : req_i.decrypt)?~next : next];
    constant_q <= expand_q ? next_constant(constant_q) : FirstConstant;
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  word_t substituted;

  assign substituted = substitute(x_q[1] ^ x_q[2] ^ x_q[3] ^ (expand_q ? constant_q : round_key_q));

  always_comb begin
    x_d[0] = x_q[1];
    x_d[1] = x_q[2];
    x_d[2] = x_q[3];
    x_d[3] = x_q[0] ^ (expand_q ? mix_key(substituted) : mix(substituted));
  end

  // A block keeps its place when it is done: its words leave in reverse order.
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (clear_i.active) x_q[i] <= '0;
      else if (req_i.key_valid) begin
        if (32'(req_i.key_index) == i / 2) x_q[i] <= swap(req_i.key[32*(i%2)+:32]) ^ SystemParameter[i];
      end else if (accept) x_q[i] <= swap(req_i.block[32*i+:32]);
      else if (expand_q || busy_q) x_q[i] <= x_d[i];
      // The schedule's last words are round keys.
      else if (!valid_q && keyed_q) x_q[i] <= '0;
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_out
    assign rsp_o.result[32*i+:32] = swap(x_q[3-i]);
  end

endmodule

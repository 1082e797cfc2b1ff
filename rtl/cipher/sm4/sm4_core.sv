// SPDX-License-Identifier: Apache-2.0
//
// SM4 (GB/T 32907-2016), one round per clock. The key schedule is the cipher itself with another linear map, so
// it runs on the same registers and S-boxes, once per key; the 32 round keys stay in a memory that either
// direction reads.
//
// Cycles per block: 33, feedback included: the next block enters in the clock in which the result leaves. Key
// set-up: a block can be taken 33 clocks after the last key beat, in either direction.
module sm4_core
  import sm4_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,

  input  logic   block_valid_i,
  output logic   block_ready_o,
  input  block_t block_i,
  input  logic   decrypt_i,

  output logic   block_valid_o,
  input  logic   block_ready_i,
  output block_t block_o
);

  typedef logic [4:0] count_t;

  // -- control --------------------------------------------------------------------------------------------

  logic purge_q;  // the first clock after a reset, which data registers do not have
  logic clear;
  logic expand_q;  // round keys are made
  logic scrub_q;  // round keys are overwritten; a fresh key does that too
  logic keyed_q;  // all round keys are there
  logic busy_q, valid_q;
  logic   decrypt_q;  // direction of the block inside
  count_t count_q;  // round, of the block or of the schedule
  logic accept, last;

  assign clear         = wipe_i || purge_q;
  assign last          = count_q == count_t'(Rounds - 1);
  assign block_ready_o = keyed_q && !busy_q && (!valid_q || block_ready_i);
  assign block_valid_o = valid_q;
  assign accept        = block_valid_i && block_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q   <= 1'b1;
      expand_q  <= 1'b0;
      scrub_q   <= 1'b0;
      keyed_q   <= 1'b0;
      busy_q    <= 1'b0;
      valid_q   <= 1'b0;
      decrypt_q <= 1'b0;
      count_q   <= '0;
    end else begin
      purge_q  <= 1'b0;
      expand_q <= ((key_valid_i && key_last_i) || (expand_q && !last && !key_valid_i)) && !clear;
      scrub_q  <= clear || (scrub_q && !last && !key_valid_i);
      keyed_q  <= ((expand_q && last) || keyed_q) && !clear && !key_valid_i;
      busy_q   <= (accept || (busy_q && !last)) && !clear;
      valid_q  <= ((busy_q && last) || (valid_q && !block_ready_i)) && !clear;
      if (accept) decrypt_q <= decrypt_i;
      if (clear || key_valid_i || accept) count_q <= '0;
      else if (expand_q || busy_q || scrub_q) count_q <= count_q + count_t'(1);
    end
  end

  // -- round keys -----------------------------------------------------------------------------------------

  (* ram_style = "distributed" *)
  word_t round_keys[Rounds];
  word_t round_key_q, constant_q;
  count_t next;  // the round that comes: the first one unless a block is inside
  word_t x_d[4], x_q[4];

  assign next = busy_q ? count_q + count_t'(1) : '0;

  always_ff @(posedge clk_i) begin
    if (expand_q || scrub_q) round_keys[count_q] <= expand_q ? x_d[3] : '0;
    if (clear) round_key_q <= '0;
    else round_key_q <= round_keys[(busy_q?decrypt_q : decrypt_i)?~next : next];
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
      if (clear) x_q[i] <= '0;
      else if (key_valid_i) begin
        if (32'(key_index_i) == i / 2) x_q[i] <= swap(key_i[32*(i%2)+:32]) ^ SystemParameter[i];
      end else if (accept) x_q[i] <= swap(block_i[32*i+:32]);
      else if (expand_q || busy_q) x_q[i] <= x_d[i];
      // The schedule's last words are round keys.
      else if (!valid_q && keyed_q) x_q[i] <= '0;
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_out
    assign block_o[32*i+:32] = swap(x_q[3-i]);
  end

endmodule

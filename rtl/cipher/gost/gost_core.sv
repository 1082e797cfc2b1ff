// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89, both directions, one round per clock. The S-boxes are 32 LUTs of which nothing but the contents
// depends on Set (init_lut), so that one placed and routed design serves every set.
//
// Cycles per block: 33, feedback included: the next block enters in the clock in which the result leaves. There is
// no key schedule: the first round is ready 2 clocks after the last key beat. Constant in time.
module gost_core
  import gost_pkg::*;
#(
  // The set of S-boxes: index into gost_pkg::SBox.
  parameter int unsigned Set = 0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,

  input  logic   block_valid_i,
  output logic   block_ready_o,
  input  block_t block_i,
  input  logic   decrypt_i,

  output logic   block_valid_o,
  input  logic   block_ready_i,
  output block_t block_o
);

  if (Set >= Sets) begin : gen_illegal
    $error("gost_core: there is no such set of S-boxes");
  end
  if (!sets_are_sound()) begin : gen_wrong
    $error("gost_pkg: an S-box is not a permutation");
  end

  // -- control --------------------------------------------------------------------------------------------

  logic purge_q;  // the first clock after a reset, which data registers do not have
  logic clear;
  logic scrub_q;  // the key is overwritten; a fresh key does that too
  logic fetch_q;  // the first word of a key that has just come is on its way
  logic busy_q, valid_q;
  logic   decrypt_q;  // direction of the block inside
  round_t round_q;
  logic accept, last;

  assign clear         = wipe_i || purge_q;
  assign last          = round_q == round_t'(Rounds - 1);
  assign block_ready_o = !scrub_q && !fetch_q && !key_valid_i && !busy_q && (!valid_q || block_ready_i);
  assign block_valid_o = valid_q;
  assign accept        = block_valid_i && block_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q   <= 1'b1;
      scrub_q   <= 1'b1;
      fetch_q   <= 1'b0;
      busy_q    <= 1'b0;
      valid_q   <= 1'b0;
      decrypt_q <= 1'b0;
      round_q   <= '0;
    end else begin
      purge_q <= 1'b0;
      scrub_q <= clear || (scrub_q && round_q[1:0] != '1 && !key_valid_i);
      fetch_q <= key_valid_i || scrub_q;
      busy_q  <= (accept || (busy_q && !last)) && !clear;
      valid_q <= ((busy_q && last) || (valid_q && !block_ready_i)) && !clear;
      if (accept) decrypt_q <= decrypt_i;
      if (clear || key_valid_i || accept) round_q <= '0;
      else if (busy_q || scrub_q) round_q <= round_q + round_t'(1);
      else round_q <= '0;
    end
  end

  // -- the key --------------------------------------------------------------------------------------------

  // Two words come in a beat.
  (* ram_style = "distributed" *)
  word_t       even                                                                     [4];
  (* ram_style = "distributed" *)
  word_t       odd                                                                      [4];
  logic  [2:0] word;  // of the round that comes: the first one unless a block is inside
  word_t       round_key_q;

  assign word = busy_q ? key_word(round_q + round_t'(1), decrypt_q) : '0;

  always_ff @(posedge clk_i) begin
    if (key_valid_i || scrub_q) begin
      even[key_valid_i?key_index_i[1:0] : round_q[1:0]] <= key_valid_i ? swap(key_i[31:0]) : '0;
      odd[key_valid_i?key_index_i[1:0] : round_q[1:0]]  <= key_valid_i ? swap(key_i[63:32]) : '0;
    end
    if (clear) round_key_q <= '0;
    else round_key_q <= word[0] ? odd[word[2:1]] : even[word[2:1]];
  end

  // Keys have four beats.
  logic unused_index;
  assign unused_index = key_index_i[2];

  // -- rounds ---------------------------------------------------------------------------------------------

  word_t high_q, low_q;
  word_t sum, substituted;

  assign sum = low_q + round_key_q;

  for (genvar i = 0; i < 8; i++) begin : gen_nibble
    for (genvar b = 0; b < 4; b++) begin : gen_bit
      (* keep *)
      init_lut #(
        .Init(lut(3'(Set), 3'(i), 2'(b)))
      ) u_sbox (
        .in_i (sum[4*i+:4]),
        .out_o(substituted[4*i+b])
      );
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear) begin
      high_q <= '0;
      low_q  <= '0;
    end else if (accept) begin
      high_q <= swap(block_i[31:0]);
      low_q  <= swap(block_i[63:32]);
    end else if (busy_q) begin
      high_q <= low_q;
      low_q  <= high_q ^ rotate_left_11(substituted);
    end else if (!valid_q) begin
      high_q <= '0;
      low_q  <= '0;
    end
  end

  // The last round does not exchange the halves.
  assign block_o = {swap(high_q), swap(low_q)};

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of mars_core: the expansion, and the memories of the expanded key. While it runs it has the
// S-box's ports to itself.
//
// Cycles: all keys can be read 317 clocks after the last key beat, whatever the key's length
// (mars_key_expand). No run leaves an old word in any memory, so a wipe erases the key by running once.
module mars_key_schedule
  import mars_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Forgets the key. Expected in the first clock after a reset, which leaves the ring as it is.
  input logic wipe_i,

  // The key, two words a beat, the first beat with index 0.
  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,

  // The S-box is needed; all keys can be read.
  output logic busy_o,
  output logic ready_o,

  // A lookup to stir with, and one for the repair, as addresses of mars_sbox.
  output logic  [9:0] stir_address_o,
  input  word_t       stir_i,
  output logic  [9:0] repair_address_o,
  input  word_t       repair_i,

  // K[4 + 2 index] and K[5 + 2 index]; and K[0] to K[3], or, with upper, K[36] to K[39].
  input  logic   [3:0] index_i,
  output word_t        add_key_o,
  output word_t        multiply_key_o,
  input  logic         upper_i,
  output block_t       white_key_o
);

  logic fill, write, odd, unused;
  logic [3:0] fill_index;
  logic [4:0] pair;
  word_t add_key, multiply_key, word, repaired;

  assign unused = ^key_len_i[1:0];

  mars_key_expand #(
    .Ring(1'b0)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_last_i,
    .key_words_i (key_len_i[5:2]),
    .busy_o,
    .ready_o,
    .fill_o      (fill),
    .fill_index_o(fill_index),
    .fill_i      (fill_index[0] ? multiply_key : add_key),
    .stir_address_o,
    .stir_i,
    .repair_address_o,
    .repair_i,
    .write_o     (write),
    .pair_o      (pair),
    .odd_o       (odd),
    .word_o      (word),
    .repaired_o  (repaired)
  );

  // Until the ring is full the two memories hold the key as it came.
  logic outer, lower;
  logic [3:0] index, write_index;
  logic write_add, write_multiply;

  assign lower = pair < 5'd2;
  assign outer = lower || pair >= 5'd18;
  assign index = fill ? {1'b0, fill_index[3:1]} : index_i;
  assign write_index = key_valid_i ? {1'b0, key_index_i} : 4'(pair - 5'd2);
  assign write_add = key_valid_i || (write && !odd && !outer);
  assign write_multiply = key_valid_i || (write && odd && !outer);

  (* ram_style = "distributed" *)
  word_t add_keys[16];
  (* ram_style = "distributed" *)
  word_t multiply_keys[16];

  always_ff @(posedge clk_i) begin
    if (write_add) add_keys[write_index] <= key_valid_i ? key_i[31:0] : word;
    if (write_multiply) multiply_keys[write_index] <= key_valid_i ? key_i[63:32] : repaired;
  end

  assign add_key        = add_keys[index];
  assign multiply_key   = multiply_keys[index];
  assign add_key_o      = add_key;
  assign multiply_key_o = multiply_key;

  for (genvar k = 0; k < 4; k++) begin : gen_white
    (* ram_style = "distributed" *)
    word_t keys[2];

    always_ff @(posedge clk_i) begin
      if (write && outer && {pair[0], odd} == 2'(k)) keys[!lower] <= word;
    end

    assign white_key_o[k] = keys[upper_i];
  end

endmodule

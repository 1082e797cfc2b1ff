// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of mars_core: the expansion, and the memories of the expanded key. While it runs it has the
// S-box's ports to itself.
//
// Cycles: all keys can be read 317 clocks after the last key beat, whatever the key's length
// (mars_key_expand).
module mars_key_schedule
  import core_pkg::*;
  import mars_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t    clear_i,
  input core_req_t req_i,

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

  logic fill, write, odd;
  logic [3:0] fill_index;
  logic [4:0] pair;
  word_t add_key, multiply_key, word, repaired;

  mars_key_expand #(
    .Ring(1'b0)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_valid_i (req_i.key_valid),
    .key_last_i  (req_i.key_last),
    .key_words_i (req_i.key_len[5:2]),
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
  assign write_index = req_i.key_valid ? {1'b0, req_i.key_index} : 4'(pair - 5'd2);
  assign write_add = req_i.key_valid || (write && !odd && !outer);
  assign write_multiply = req_i.key_valid || (write && odd && !outer);

  ram_logic #(
    .Width(32),
    .Depth(16),
    .Quiet(1'b1)
  ) u_add_keys (
    .clk_i,
    .clear_i,
    .write_i     (write_add),
    .write_at_i  (write_index),
    .write_data_i(req_i.key_valid ? req_i.key[31:0] : word),
    .read_at_i   (index),
    .read_data_o (add_key)
  );

  ram_logic #(
    .Width(32),
    .Depth(16),
    .Quiet(1'b1)
  ) u_multiply_keys (
    .clk_i,
    .clear_i,
    .write_i     (write_multiply),
    .write_at_i  (write_index),
    .write_data_i(req_i.key_valid ? req_i.key[63:32] : repaired),
    .read_at_i   (index),
    .read_data_o (multiply_key)
  );

  assign add_key_o      = add_key;
  assign multiply_key_o = multiply_key;

  for (genvar k = 0; k < 4; k++) begin : gen_white
    ram_logic #(
      .Width(32),
      .Depth(2),
      .Quiet(1'b1)
    ) u_keys (
      .clk_i,
      .clear_i,
      .write_i     (write && outer && {pair[0], odd} == 2'(k)),
      .write_at_i  (!lower),
      .write_data_i(word),
      .read_at_i   (upper_i),
      .read_data_o (white_key_o[k])
    );
  end

endmodule

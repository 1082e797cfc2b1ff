// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of mars_core: the expansion, and the memories of the expanded key.
//
// Of the S-box it needs one port to stir, but for the 14 clocks of linear steps behind each ten words, and another one
// in the last clocks before them, to repair words. In the first 4 of the linear steps a block may enter: its mixing
// rounds, 9 clocks with the one in front of them, end with the linear steps, and the core rounds for which there
// are keys behind the next one.
//
// Cycles: all keys can be read 317 clocks after the last key beat, whatever the key's length
// (mars_key_expand); the first ten words 92 clocks after it, ten more each 75 clocks.
module mars_key_schedule
  import core_pkg::*;
  import mars_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t    clear_i,
  input core_req_t req_i,

  // The S-box is needed; all keys can be read; not all, but a block to be encrypted may enter.
  output logic    busy_o,
  output logic    ready_o,
  output logic    open_o,
  output search_t search_o,
  input  found_t  found_i,

  // Which keys, for a round and, upper or lower, beside the rounds. Those of the round can be read.
  input  logic  [3:0] index_i,
  output logic        near_o,
  input  logic        upper_i,
  output keys_t       keys_o
);

  expansion_t expansion;

  mars_key_expand #(
    .Ring(1'b0)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .clear_i,
    .beat_i     ('{valid: req_i.key_valid, last: req_i.key_last, words: req_i.key_len[5:2]}),
    .fill_i     (expansion.index[0] ? keys_o.multiply : keys_o.add),
    .search_o,
    .found_i,
    .expansion_o(expansion)
  );

  assign busy_o  = expansion.busy;
  assign ready_o = expansion.ready;

  // -- how far it is --------------------------------------------------------------------------------------

  logic tens_end;  // the last of ten words is written
  logic [1:0] tens_q;  // ten words each
  logic [3:0] open_q;

  assign tens_end = expansion.write && expansion.odd && expansion.pair inside {5'd3, 5'd8, 5'd13};
  assign open_o   = open_q != '0;

  // K[4] to K[9] are for rounds 0 to 2, and the next tens for 3 to 7, 8 to 12 and 13 to 15.
  always_comb begin
    if (index_i < 4'd3) near_o = 1'b1;
    else if (index_i < 4'd8) near_o = tens_q >= 2'd2;
    else near_o = index_i < 4'd13 && tens_q == 2'd3;
    near_o |= expansion.ready;
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active || req_i.key_valid) begin
      tens_q <= '0;
      open_q <= '0;
    end else begin
      if (tens_end) tens_q <= tens_q + 2'd1;
      open_q <= {open_q[2:0], tens_end};
    end
  end

  // -- memories -------------------------------------------------------------------------------------------

  // Until the ring is full the two memories hold the key as it came.
  logic outer, lower;
  logic [3:0] index, write_index;
  word_t [1:0] added, read;

  assign lower       = expansion.pair < 5'd2;
  assign outer       = lower || expansion.pair >= 5'd18;
  assign index       = expansion.fill ? {1'b0, expansion.index[3:1]} : index_i;
  assign write_index = req_i.key_valid ? {1'b0, req_i.key_index} : 4'(expansion.pair - 5'd2);
  assign added       = req_i.key_valid ? req_i.key : {expansion.repaired, expansion.word};

  for (genvar k = 0; k < 2; k++) begin : gen_round
    ram_logic #(
      .Width(32),
      .Depth(16),
      .Quiet(1'b1)
    ) u_keys (
      .clk_i,
      .clear_i,
      .write_i     (req_i.key_valid || (expansion.write && expansion.odd == 1'(k) && !outer)),
      .write_at_i  (write_index),
      .write_data_i(added[k]),
      .read_at_i   (index),
      .read_data_o (read[k])
    );
  end

  assign keys_o.add      = read[0];
  assign keys_o.multiply = read[1];

  for (genvar k = 0; k < 4; k++) begin : gen_white
    ram_logic #(
      .Width(32),
      .Depth(2),
      .Quiet(1'b1)
    ) u_keys (
      .clk_i,
      .clear_i,
      .write_i     (expansion.write && outer && {expansion.pair[0], expansion.odd} == 2'(k)),
      .write_at_i  (!lower),
      .write_data_i(expansion.word),
      .read_at_i   (upper_i),
      .read_data_o (keys_o.white[k])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The keys of mars_ring: one expansion, beside the blocks under other keys, and the memories of the expanded
// keys of all contexts.
//
// Clocks from the last key beat until the key can be used: 634, whatever its length.
module mars_ring_keys
  import core_pkg::*;
  import mars_pkg::*;
#(
  parameter int unsigned Contexts = 16,

  localparam int unsigned KeyBits = $clog2(Contexts)
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output logic      busy_o,

  // A lookup, as an address of mars_sbox; the word two clocks later.
  output logic  [9:0] lookup_address_o,
  input  word_t       lookup_i,

  // K[4 + 2 index] and K[5 + 2 index]; and K[white], or, with upper, K[36 + white]. Two clocks later.
  input  logic  [KeyBits-1:0] key_i,
  input  logic  [        3:0] index_i,
  output word_t               add_key_o,
  output word_t               multiply_key_o,
  input  logic  [KeyBits-1:0] white_key_i,
  input  logic                white_upper_i,
  input  logic  [        1:0] white_i,
  output word_t               white_key_o
);

  localparam int unsigned AddressBits = KeyBits + 4;

  // -- control --------------------------------------------------------------------------------------------

  logic started_q;  // not in the middle of a key's beats
  logic [KeyBits-1:0] context_q;
  logic expanding;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_o <= 1'b0;
    end else begin
      busy_o <= (req_i.key_valid || (busy_o && (expanding || !started_q))) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      started_q <= 1'b1;
      context_q <= '0;
    end else begin
      if (req_i.key_valid) started_q <= req_i.key_last;
      if (req_i.key_valid) context_q <= KeyBits'(req_i.key_context);
    end
  end

  // -- the expansion --------------------------------------------------------------------------------------

  logic  [3:0] fill_index;
  word_t [1:0] fill;
  logic write, odd, outer, fill_now, ready, unused;
  logic [9:0] repair_address;
  logic [4:0] pair;
  word_t word, repaired;

  for (genvar n = 0; n < 2; n++) begin : gen_fill
    ram_logic #(
      .Width(32),
      .Depth(8),
      .Quiet(1'b1)
    ) u_words (
      .clk_i,
      .clear_i,
      .write_i     (req_i.key_valid),
      .write_at_i  (req_i.key_index),
      .write_data_i(req_i.key[32*n+:32]),
      .read_at_i   (fill_index[3:1]),
      .read_data_o (fill[n])
    );
  end

  mars_key_expand #(
    .Ring(1'b1)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_valid_i     (req_i.key_valid),
    .key_last_i      (req_i.key_last),
    .key_words_i     (req_i.key_len[5:2]),
    .busy_o          (expanding),
    .ready_o         (ready),
    .fill_o          (fill_now),
    .fill_index_o    (fill_index),
    .fill_i          (fill[fill_index[0]]),
    .stir_address_o  (lookup_address_o),
    .stir_i          (lookup_i),
    .repair_address_o(repair_address),
    .repair_i        (lookup_i),
    .write_o         (write),
    .pair_o          (pair),
    .odd_o           (odd),
    .word_o          (word),
    .repaired_o      (repaired)
  );

  assign unused = ^{fill_now, ready, repair_address};
  assign outer  = pair < 5'd2 || pair >= 5'd18;

  // -- the memories, written a clock later ----------------------------------------------------------------

  logic write_add_q, write_multiply_q, write_white_q;
  logic [AddressBits-1:0] at_q;
  logic [KeyBits+2:0] white_at_q;
  word_t word_q, repaired_q;

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      write_add_q      <= 1'b0;
      write_multiply_q <= 1'b0;
      write_white_q    <= 1'b0;
    end else begin
      write_add_q      <= write && !odd && !outer;
      write_multiply_q <= write && odd && !outer;
      write_white_q    <= write && outer;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      at_q       <= '0;
      white_at_q <= '0;
      word_q     <= '0;
      repaired_q <= '0;
    end else begin
      at_q       <= {context_q, 4'(pair - 5'd2)};
      white_at_q <= {context_q, pair[4], pair[0], odd};
      word_q     <= word;
      repaired_q <= repaired;
    end
  end

  ram_block #(
    .Width(32),
    .Depth(2 ** AddressBits),
    .Quiet(1'b1)
  ) u_add (
    .clk_i,
    .clear_i,
    .write_i     (write_add_q),
    .write_at_i  (at_q),
    .write_data_i(word_q),
    .read_i      (1'b1),
    .read_at_i   ({key_i, index_i}),
    .read_data_o (add_key_o)
  );

  ram_block #(
    .Width(32),
    .Depth(2 ** AddressBits),
    .Quiet(1'b1)
  ) u_multiply (
    .clk_i,
    .clear_i,
    .write_i     (write_multiply_q),
    .write_at_i  (at_q),
    .write_data_i(repaired_q),
    .read_i      (1'b1),
    .read_at_i   ({key_i, index_i}),
    .read_data_o (multiply_key_o)
  );

  ram_block #(
    .Width(32),
    .Depth(2 ** (KeyBits + 3)),
    .Quiet(1'b1)
  ) u_white (
    .clk_i,
    .clear_i,
    .write_i     (write_white_q),
    .write_at_i  (white_at_q),
    .write_data_i(word_q),
    .read_i      (1'b1),
    .read_at_i   ({white_key_i, white_upper_i, white_i}),
    .read_data_o (white_key_o)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The keys of mars_ring: one expansion, beside the blocks under other keys, and the memories of the expanded
// keys of all places.
//
// Clocks from the last key beat until the key can be used: 634, whatever its length. A wipe overwrites all
// memories, in 16 x Keys clocks and 2, and is as good as a key until then: busy_o.
module mars_ring_keys
  import mars_pkg::*;
#(
  parameter int unsigned Keys = 16,

  localparam int unsigned KeyBits = $clog2(Keys)
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input  logic               key_valid_i,
  input  logic [       63:0] key_i,
  input  logic [        2:0] key_index_i,
  input  logic               key_last_i,
  input  logic [        3:0] key_words_i,
  input  logic [KeyBits-1:0] key_place_i,
  output logic               busy_o,
  // Memories are being overwritten.
  output logic               erase_o,

  // A lookup, as an address of mars_sbox; the word two clocks later.
  output logic  [9:0] lookup_address_o,
  input  word_t       lookup_i,

  // K[4 + 2 index] and K[5 + 2 index]; and K[white], or, with upper, K[36 + white]. Two clocks later.
  input  logic  [KeyBits-1:0] place_i,
  input  logic  [        3:0] index_i,
  output word_t               add_key_o,
  output word_t               multiply_key_o,
  input  logic  [KeyBits-1:0] white_place_i,
  input  logic                white_upper_i,
  input  logic  [        1:0] white_i,
  output word_t               white_key_o
);

  localparam int unsigned AddressBits = KeyBits + 4;

  // -- control --------------------------------------------------------------------------------------------

  logic started_q;  // not in the middle of a key's beats
  logic erase_q;
  logic [AddressBits-1:0] erase_at_q;
  logic [KeyBits-1:0] place_q;
  logic expanding;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q  <= 1'b1;
      erase_q    <= 1'b1;
      erase_at_q <= '0;
      place_q    <= '0;
      busy_o     <= 1'b1;
    end else begin
      started_q  <= wipe_i || (key_valid_i ? key_last_i : started_q);
      erase_q    <= wipe_i || (erase_q && erase_at_q != '1);
      erase_at_q <= erase_q && !wipe_i ? erase_at_q + AddressBits'(1) : '0;
      busy_o     <= wipe_i || key_valid_i || (busy_o && (expanding || erase_q || !started_q));
      if (key_valid_i) place_q <= key_place_i;
    end
  end

  assign erase_o = erase_q;

  // -- the expansion --------------------------------------------------------------------------------------

  logic  [3:0] fill_index;
  word_t [1:0] fill;
  logic write, odd, outer, fill_now, ready, unused;
  logic [9:0] repair_address;
  logic [4:0] pair;
  word_t word, repaired;

  for (genvar n = 0; n < 2; n++) begin : gen_fill
    (* ram_style = "distributed" *)
    word_t words[8];

    always_ff @(posedge clk_i) begin
      if (key_valid_i || erase_q) begin
        words[key_valid_i?key_index_i : erase_at_q[2:0]] <= key_valid_i ? key_i[32*n+:32] : '0;
      end
    end

    assign fill[n] = words[fill_index[3:1]];
  end

  mars_key_expand #(
    .Ring(1'b1)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_last_i,
    .key_words_i,
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_add_q      <= 1'b0;
      write_multiply_q <= 1'b0;
      write_white_q    <= 1'b0;
    end else begin
      write_add_q      <= erase_q || (write && !odd && !outer);
      write_multiply_q <= erase_q || (write && odd && !outer);
      write_white_q    <= erase_q || (write && outer);
    end
  end

  always_ff @(posedge clk_i) begin
    at_q       <= erase_q ? erase_at_q : {place_q, 4'(pair - 5'd2)};
    white_at_q <= erase_q ? erase_at_q[KeyBits+2:0] : {place_q, pair[4], pair[0], odd};
    if (erase_q) begin
      word_q     <= '0;
      repaired_q <= '0;
    end else begin
      word_q     <= word;
      repaired_q <= repaired;
    end
  end

  mars_ring_memory #(
    .Depth(2 ** AddressBits)
  ) u_add (
    .clk_i,
    .write_i     (write_add_q),
    .write_at_i  (at_q),
    .write_data_i(word_q),
    .read_at_i   ({place_i, index_i}),
    .read_data_o (add_key_o)
  );

  mars_ring_memory #(
    .Depth(2 ** AddressBits)
  ) u_multiply (
    .clk_i,
    .write_i     (write_multiply_q),
    .write_at_i  (at_q),
    .write_data_i(repaired_q),
    .read_at_i   ({place_i, index_i}),
    .read_data_o (multiply_key_o)
  );

  mars_ring_memory #(
    .Depth(2 ** (KeyBits + 3))
  ) u_white (
    .clk_i,
    .write_i     (write_white_q),
    .write_at_i  (white_at_q),
    .write_data_i(word_q),
    .read_at_i   ({white_place_i, white_upper_i, white_i}),
    .read_data_o (white_key_o)
  );

endmodule

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
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output logic      busy_o,

  // A lookup, as an address of mars_sbox; the word two clocks later.
  output logic  [9:0] lookup_address_o,
  input  word_t       lookup_i,

  // Two clocks later.
  input  ring_at_t   at_i,
  output ring_keys_t keys_o
);

  localparam int unsigned KeyBits = $clog2(Contexts);

  // -- control --------------------------------------------------------------------------------------------

  logic started_q;  // not in the middle of a key's beats
  logic [KeyBits-1:0] context_q;
  expansion_t expansion;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_o <= 1'b0;
    end else begin
      busy_o <= (req_i.key_valid || (busy_o && (expansion.busy || !started_q))) && !clear_i.active;
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

  word_t [1:0] fill;
  search_t search;
  logic outer, unused;

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
      .read_at_i   (expansion.index[3:1]),
      .read_data_o (fill[n])
    );
  end

  mars_key_expand #(
    .Ring(1'b1)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .clear_i,
    .beat_i     ('{valid: req_i.key_valid, last: req_i.key_last, words: req_i.key_len[5:2]}),
    .fill_i     (fill[expansion.index[0]]),
    .search_o   (search),
    .found_i    ('{stir: lookup_i, repair: lookup_i}),
    .expansion_o(expansion)
  );

  assign lookup_address_o = search.stir;
  assign unused           = ^{expansion, search};
  assign outer            = expansion.pair < 5'd2 || expansion.pair >= 5'd18;

  // -- the memories, written a clock later ----------------------------------------------------------------

  logic [1:0] write_q;  // a key to add, a key to multiply with
  logic write_white_q;
  logic [KeyBits+3:0] at_q;
  logic [KeyBits+2:0] white_at_q;
  word_t [1:0] word_q, read;  // as it is, repaired

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      write_q       <= '0;
      write_white_q <= 1'b0;
      at_q          <= '0;
      white_at_q    <= '0;
      word_q        <= '0;
    end else begin
      write_q       <= {expansion.odd, !expansion.odd} & {2{expansion.write && !outer}};
      write_white_q <= expansion.write && outer;
      at_q          <= {context_q, 4'(expansion.pair - 5'd2)};
      white_at_q    <= {context_q, expansion.pair[4], expansion.pair[0], expansion.odd};
      word_q        <= {expansion.repaired, expansion.word};
    end
  end

  for (genvar n = 0; n < 2; n++) begin : gen_round
    ram_block #(
      .Width(32),
      .Depth(2 ** (KeyBits + 4)),
      .Quiet(1'b1)
    ) u_keys (
      .clk_i,
      .clear_i,
      .write_i     (write_q[n]),
      .write_at_i  (at_q),
      .write_data_i(word_q[n]),
      .read_i      (1'b1),
      .read_at_i   ({at_i.key[KeyBits-1:0], at_i.index}),
      .read_data_o (read[n])
    );
  end

  assign keys_o.add      = read[0];
  assign keys_o.multiply = read[1];

  ram_block #(
    .Width(32),
    .Depth(2 ** (KeyBits + 3)),
    .Quiet(1'b1)
  ) u_white (
    .clk_i,
    .clear_i,
    .write_i     (write_white_q),
    .write_at_i  (white_at_q),
    .write_data_i(word_q[0]),
    .read_i      (1'b1),
    .read_at_i   ({at_i.white_key[KeyBits-1:0], at_i.upper, at_i.white}),
    .read_data_o (keys_o.white)
  );

endmodule

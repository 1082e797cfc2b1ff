// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89, both directions, one round per clock. The S-boxes are 32 LUTs of which nothing but the contents
// depends on Set (init_lut), so that one placed and routed design serves every set.
//
// Cycles per block: 33, feedback included: the next block enters in the clock in which the result leaves. There is
// no key schedule: the first round is ready 2 clocks after the last key beat. Constant in time.
module gost_core
  import core_pkg::*;
  import gost_pkg::*;
#(
  // The set of S-boxes: index into gost_pkg::SBox.
  parameter int unsigned Set = 0
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  if (Set >= Sets) begin : gen_illegal
    $error("gost_core: there is no such set of S-boxes");
  end
  if (!sets_are_sound()) begin : gen_wrong
    $error("gost_pkg: an S-box is not a permutation");
  end

  // -- control --------------------------------------------------------------------------------------------

  logic fetch_q;  // the first word of a key that has just come is on its way
  logic busy_q, valid_q;
  logic   decrypt_q;  // direction of the block inside
  round_t round_q;
  logic accept, last;

  assign last               = round_q == round_t'(Rounds - 1);
  assign rsp_o.block_ready  = !fetch_q && !req_i.key_valid && !busy_q && (!valid_q || req_i.result_ready);
  assign rsp_o.result_valid = valid_q;
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {fetch_q, busy_q, valid_q} <= '0;
    else if (clear_i.active) {fetch_q, busy_q, valid_q} <= '0;
    else begin
      fetch_q <= req_i.key_valid;
      busy_q  <= accept || (busy_q && !last);
      valid_q <= (busy_q && last) || (valid_q && !req_i.result_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) decrypt_q <= 1'b0;
    else if (accept) decrypt_q <= req_i.decrypt;
    if (clear_i.active || !busy_q) round_q <= '0;
    else round_q <= round_q + round_t'(1);
  end

  // -- the key --------------------------------------------------------------------------------------------

  // Two words come in a beat.
  word_t [1:0] pair;
  logic  [2:0] word;  // of the round that comes: the first one unless a block is inside
  word_t       round_key_q;

  assign word = busy_q ? key_word(round_q + round_t'(1), decrypt_q) : '0;

  ram_logic #(
    .Width(64),
    .Depth(4)
  ) u_key (
    .clk_i,
    .clear_i,
    .write_i     (req_i.key_valid),
    .write_at_i  (req_i.key_index[1:0]),
    .write_data_i({swap(req_i.key[63:32]), swap(req_i.key[31:0])}),
    .read_at_i   (word[2:1]),
    .read_data_o (pair)
  );

  always_ff @(posedge clk_i) begin
    if (clear_i.active) round_key_q <= '0;
    else round_key_q <= pair[word[0]];
  end

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
    if (clear_i.active) {high_q, low_q} <= '0;
    else if (accept) {high_q, low_q} <= {swap(req_i.block[31:0]), swap(req_i.block[63:32])};
    else if (busy_q) {high_q, low_q} <= {low_q, high_q ^ rotate_left_11(substituted)};
    else if (!valid_q) {high_q, low_q} <= '0;
  end

  // The last round does not exchange the halves.
  assign rsp_o.result = 128'({swap(high_q), swap(low_q)});

endmodule

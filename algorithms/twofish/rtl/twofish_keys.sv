// SPDX-License-Identifier: Apache-2.0
//
// The keys of twofish_core: the S-vector from the RS code, in block memory, three clocks after each key beat, and
// the subkeys on the fly, one pair in two clocks and in the order in which the direction wants them. The four
// pairs for whitening are kept; those of the 16 rounds come over and over, in step with the rounds. Nothing is
// stored of them but what is in the pipeline.
//
// From the last key beat to ready_o, for a block whose rounds take five clocks or more: 11 clocks; from turn_i 11,
// or 15 if the rounds take two. The same for all key lengths.
module twofish_keys
  import core_pkg::*;
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t    clear_i,
  input core_req_t req_i,

  // Starts over, for the direction of decrypt_i from the next clock on.
  input logic turn_i,
  input logic decrypt_i,

  // No round key in the next clock; the clock in front of the one that uses a round key, and that one.
  input logic drop_i,
  input logic fetch_i,
  input logic use_i,

  // A block may enter, if the first round key is wanted two clocks after it, or, with slow_i, five.
  input  logic slow_i,
  output logic ready_o,

  // The key is of two words, of four; and the S-vector, word i for the key of layer D, C, B, A.
  output logic        short_o,
  output logic        long_o,
  output word_t [3:0] s_o,

  output pair_t in_0_o,
  output pair_t in_1_o,
  output pair_t out_0_o,
  output pair_t out_1_o,
  output pair_t round_key_o
);

  // -- the key --------------------------------------------------------------------------------------------

  pair_t [3:0] m_q;
  logic short_q, long_q;
  logic fresh;

  assign fresh = req_i.key_valid && req_i.key_index[1:0] == '0;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (clear_i.active || (fresh && i != 0)) m_q[i] <= '0;
      else if (req_i.key_valid && 32'(req_i.key_index[1:0]) == i) m_q[i] <= req_i.key;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {long_q, short_q} <= '0;
    else if (clear_i.active) {long_q, short_q} <= '0;
    else if (req_i.key_valid) {long_q, short_q} <= {req_i.key_len[5:3] == 3'd4, req_i.key_len[5:3] == 3'd2};
  end

  assign short_o = short_q;
  assign long_o  = long_q;

  // -- the S-vector ---------------------------------------------------------------------------------------

  // Between key beats key_i is zero, and so is what the memories then hold.
  word_t [7:0] share, share_q;
  word_t       code;
  word_t [3:0] s_q;
  logic  [2:1] coded_q;

  twofish_code u_code (
    .clk_i,
    .key_i  (req_i.key),
    .share_o(share)
  );

  always_comb begin
    code = '0;
    for (int unsigned j = 0; j < 8; j++) code ^= share_q[j];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) coded_q <= '0;
    else coded_q <= {coded_q[1] && !clear_i.active, req_i.key_valid};
  end

  // The newest word is for layer D.
  always_ff @(posedge clk_i) begin
    share_q <= share;
    if (clear_i.active || fresh) s_q <= '0;
    else if (coded_q[2]) s_q <= {s_q[2:0], code};
  end

  assign s_o = s_q;

  // -- control --------------------------------------------------------------------------------------------

  logic start;
  logic whole_q;  // the key is
  logic [3:0] done_q;  // advances since the start
  logic settling;
  logic advance;
  logic rounds_q, odd_q;  // what is looked up next: A or B of a pair, for whitening or for a round
  logic [3:0] index_q;

  assign start    = turn_i || req_i.key_valid;
  assign settling = done_q != 4'd15;
  assign advance  = settling || fetch_i || use_i;
  // The first round key is there when 15 are done, what whitens the input when 10 are.
  assign ready_o  = whole_q && (done_q >= 4'd14 || (slow_i && done_q >= 4'd10));

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      whole_q  <= 1'b0;
      done_q   <= '0;
      rounds_q <= 1'b0;
      index_q  <= '0;
      odd_q    <= 1'b0;
    end else begin
      if (req_i.key_valid) whole_q <= req_i.key_last;
      if (start) done_q <= '0;
      else if (settling) done_q <= done_q + 4'd1;
      if (start) begin
        rounds_q <= 1'b0;
        index_q  <= '0;
        odd_q    <= 1'b0;
      end else if (advance) begin
        odd_q <= !odd_q;
        if (odd_q) begin
          rounds_q <= rounds_q || index_q == 4'd3;
          index_q  <= !rounds_q && index_q == 4'd3 ? '0 : index_q + 4'd1;
        end
      end
    end
  end

  // -- h --------------------------------------------------------------------------------------------------

  // Pairs 0 to 3 are for whitening, 4 + r for round r. Decryption has it the other way round.
  logic [4:0] pair;
  assign pair = rounds_q ? 5'd4 + {1'b0, index_q ^ {4{decrypt_i}}} : {3'd0, index_q[1] ^ decrypt_i, index_q[0]};

  // A is made from the even key words, B from the odd ones; they take turns in every layer.
  word_t     [3:0] key;
  products_t [3:0] e;

  for (genvar i = 0; i < 4; i++) begin : gen_key
    assign key[i] = (odd_q ^ (i % 2 != 0)) ? m_q[i][63:32] : m_q[i][31:0];
  end

  twofish_layers u_layers (
    .clk_i,
    .enable_i(advance),
    .short_i (short_q),
    .long_i  (long_q),
    .x_i     ({2'b00, pair, odd_q}),
    .key_i   (key),
    .y_o     (e)
  );

  // -- subkeys --------------------------------------------------------------------------------------------

  word_t a_q, h_q, b_rotated;
  pair_t subkeys, round_key_q;
  pair_t in_0_q, in_1_q, out_0_q, out_1_q;

  assign b_rotated = rol8(h_q);
  assign subkeys   = {rol9(a_q + {b_rotated[30:0], 1'b0}), a_q + b_rotated};

  always_ff @(posedge clk_i) begin
    if (use_i || (settling && !done_q[0])) a_q <= h_q;
    if (advance) h_q <= mds(e);
    if (clear_i.active) begin
      in_0_q  <= '0;
      in_1_q  <= '0;
      out_0_q <= '0;
      out_1_q <= '0;
    end else begin
      if (done_q == 4'd7) in_0_q <= subkeys;
      if (done_q == 4'd9) in_1_q <= subkeys;
      if (done_q == 4'd11) out_0_q <= subkeys;
      if (done_q == 4'd13) out_1_q <= subkeys;
    end
    if (clear_i.active || drop_i) round_key_q <= '0;
    else if (fetch_i) round_key_q <= subkeys;
  end

  assign in_0_o      = in_0_q;
  assign in_1_o      = in_1_q;
  assign out_0_o     = out_0_q;
  assign out_1_o     = out_1_q;
  assign round_key_o = round_key_q;

endmodule

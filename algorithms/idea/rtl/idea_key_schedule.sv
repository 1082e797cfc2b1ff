// SPDX-License-Identifier: Apache-2.0
//
// The subkeys of the ring, written one by one into a memory that belongs to it, in passes over the 52 words
// of the encryption key. Each eight of them are the eight before, rotated by 25 bits: word j is made of the
// words j + 1 and j + 2, so that a window of sixteen words is all the state there is.
//   the first pass writes the encryption subkeys;
//   the second the decryption subkeys: the same words to the round that undoes theirs, the additive ones
//   negated; all but the 18 that are to be inverted modulo 2^16 + 1.
// Those are inverted together, with the core's multiplier: the first pass multiplies them up, one by one; the
// product is inverted, as x^(2^16 - 1), in 19 multiplications; and then, in reverse order, the inverse of the
// product of the first n, times the product of the first n - 1, is the inverse of the n-th, and times the n-th
// it is the inverse for the next.
//
// As a clear begins, which writes zero to that memory, a pass with a key of zeros sees to the rest.
//
// Clocks from the last key beat until a block may enter: 171. A product takes three.
module idea_key_schedule
  import core_pkg::*;
  import idea_pkg::*;
(
  input logic clk_i,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output logic      idle_o,
  output subkey_t   subkey_o,

  // The multiplier's operands.
  output word_t mul_x_o,
  output word_t mul_k_o,
  input  word_t mul_y_i
);

  // -- which pass -----------------------------------------------------------------------------------------

  logic encrypt_q;  // the set is whole
  logic stale_q;  // the decryption set is that of an older key
  logic want_q;
  logic fetching_q;  // words are made
  logic set_q;  // this is the second pass
  logic invert_q;  // with inverses
  context_t context_q;
  logic valid_q, done;  // a word is on its way to the memory; it gets there
  logic forget;  // a clear begins
  logic halt;  // what is under way is void
  logic resting, start, begins, complete;
  logic collect_q, chain_q, back_q, inverse_q;  // the inverses: see below

  assign forget   = clear_i.active && clear_i.index == '0;
  assign halt     = forget || req_i.key_valid;
  assign resting  = !fetching_q && !valid_q;
  assign start    = resting && (invert_q ? !set_q : want_q || !encrypt_q || stale_q);
  assign begins   = start && want_q && !invert_q;
  assign complete = resting && invert_q && set_q && !collect_q && !chain_q && !back_q && !inverse_q;

  // The first clock of a clear, and so the one behind a reset, halts all of this.
  always_ff @(posedge clk_i) begin
    if (halt) begin
      encrypt_q <= 1'b0;
      stale_q   <= req_i.key_valid;
      want_q    <= req_i.key_valid && req_i.key_last;
      set_q     <= 1'b0;
      invert_q  <= 1'b0;
      context_q <= req_i.key_valid ? req_i.key_context : '0;
    end else begin
      want_q   <= want_q && !begins;
      invert_q <= (invert_q || begins) && !complete;
      if (start) set_q <= invert_q || (!want_q && encrypt_q);
      if (done && !fetching_q) begin
        if (set_q) stale_q <= 1'b0;
        else encrypt_q <= 1'b1;
      end
    end
  end

  // -- the words of the encryption key --------------------------------------------------------------------

  key_t key_q;
  logic [5:0] index_q;  // of the word that is made
  round_t from_round_q;
  role_t from_role_q;
  logic fetch;
  word_t word;

  assign fetch = fetching_q && (!valid_q || done);

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_q <= '0;
    else if (req_i.key_valid) key_q <= with_beat(key_q, req_i.key_index[0], req_i.key);
  end

  // The window, once for each of the two words that meet in one.
  (* ram_style = "distributed" *)logic [6:0] upper_q[16];
  (* ram_style = "distributed" *)logic [8:0] lower_q[16];

  always_comb begin
    word = {upper_q[{!index_q[3], index_q[2:0]+3'd1}], lower_q[{!index_q[3], index_q[2:0]+3'd2}]};
    if (index_q[5:3] == 3'd0) word = key_q[index_q[2:0]];
  end

  always_ff @(posedge clk_i) begin
    if (fetch) upper_q[index_q[3:0]] <= word[6:0];
    if (fetch) lower_q[index_q[3:0]] <= word[15:7];
  end

  always_ff @(posedge clk_i) begin
    if (halt) fetching_q <= 1'b0;
    else if (start) fetching_q <= 1'b1;
    else if (fetch && index_q == 6'd51) fetching_q <= 1'b0;
    if (!fetching_q) begin
      index_q      <= '0;
      from_round_q <= '0;
      from_role_q  <= '0;
    end else if (fetch) begin
      index_q     <= index_q + 6'd1;
      from_role_q <= from_role_q == 3'd5 ? 3'd0 : from_role_q + 3'd1;
      if (from_role_q == 3'd5) from_round_q <= from_round_q + 4'd1;
    end
  end

  // -- where a word goes, and as what ---------------------------------------------------------------------

  word_t word_q;
  round_t round_d, round_q;
  role_t role_d, role_q;
  logic exchange;

  // The additive subkeys change places between rounds in decryption, and where there is no exchange of words
  // behind them, in row 8.
  always_comb begin
    round_d = from_round_q;
    if (set_q && from_role_q[2]) round_d = 4'd7 - from_round_q;
    else if (set_q) round_d = 4'd8 - from_round_q;
    exchange = additive(from_role_q) && (set_q ^ (from_round_q == 4'd8));
    role_d   = from_role_q ^ (exchange ? 3'd3 : 3'd0);
  end

  always_ff @(posedge clk_i) begin
    valid_q <= (fetch || (valid_q && !done)) && !halt;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) word_q <= '0;
    else if (fetch) word_q <= word;
    if (forget) begin
      round_q <= '0;
      role_q  <= '0;
    end else if (fetch) begin
      round_q <= round_d;
      role_q  <= role_d;
    end
  end

  // -- inverses -------------------------------------------------------------------------------------------

  // One multiplication after the other, of what is in mul_x_o and of what comes to mul_k_o.
  logic flying_q;  // there is one under way
  logic [1:0] clock_q;
  logic [4:0] step_q;  // in the chain: of t = x^(2^n - 1), n squarings and one product with t itself double n
  logic [4:0] row_q, pair_row_q, inverse_row_q;  // read, under way, back
  logic take;  // its product is there
  logic take_d;
  logic inverted_role, collects, launch, chain_starts, multiplies, multiply_next;
  logic use_product;  // for a subkey or the multiplier; a word of the second pass gives way
  logic pairs;  // a product now starts two multiplications
  logic second_q;  // the second multiplication of two with the same inverse
  word_t operand, made, base_q, row_word;
  logic negate;

  assign inverted_role = role_q == 3'd0 || role_q == 3'd3;
  assign collects      = valid_q && !set_q && inverted_role;
  assign launch        = collects && collect_q;
  assign take_d        = flying_q && clock_q == 2'd1 && !halt;
  assign chain_starts  = take && collect_q && set_q;
  assign pairs         = back_q || (chain_q && step_q == 5'd18);
  assign multiplies    = step_q inside {5'd1, 5'd4, 5'd9, 5'd18};
  assign multiply_next = chain_q && step_q inside {5'd0, 5'd3, 5'd8, 5'd17};

  assign done          = valid_q && !use_product;

  assign negate        = set_q && additive(role_q) && !use_product;
  assign operand       = use_product ? mul_y_i : word_q ^ {16{negate}};
  assign made          = operand + {16{!additive(role_q) || use_product}} + 16'(negate);

  always_ff @(posedge clk_i) begin
    clock_q <= launch || take || forget ? 2'd0 : clock_q + 2'd1;
    take <= take_d;
    use_product <= (take_d && (chain_q || back_q || (collect_q && (set_q || start))))
      || (take && back_q && !halt);
    inverse_q <= take && back_q && !halt;
    second_q <= take && pairs;
    if (halt) begin
      collect_q <= 1'b0;
      chain_q   <= 1'b0;
      back_q    <= 1'b0;
      flying_q  <= 1'b0;
    end else begin
      collect_q <= (collect_q || begins) && !chain_starts;
      chain_q <= chain_starts || (chain_q && !(take && step_q == 5'd18));
      back_q <= (take && chain_q && step_q == 5'd18) || (back_q && !(take && pair_row_q == '0));
      flying_q  <= launch || (flying_q && !(take && collect_q && !set_q) && !(take && back_q && pair_row_q == '0));
    end
    if (!chain_q) step_q <= '0;
    else if (take) step_q <= step_q + 5'd1;
    if (take && pairs) row_q <= row_q - 5'd1;
    else if (!pairs && !back_q) row_q <= 5'd17;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      pair_row_q    <= '0;
      inverse_row_q <= '0;
    end else if (take) begin
      pair_row_q    <= row_q;
      inverse_row_q <= pair_row_q;
    end
    if (!invert_q) mul_x_o <= begins ? 16'd1 : 16'd0;
    else if (take || second_q) begin
      mul_x_o <= pairs || second_q ? row_word : mul_y_i;
    end
    if (!invert_q) base_q <= '0;
    else if (take && (!chain_q || multiplies)) base_q <= made;
  end

  always_ff @(posedge clk_i) mul_k_o <= multiply_next || second_q ? base_q : made;

  // Two words for each one that is inverted: itself, and the product of those before it.
  // They are read long after they are written.
  (* ram_style = "block", no_rw_check *) word_t rows[64];
  word_t row_read_q;
  logic before_q;
  logic [4:0] before_row_q;

  always_ff @(posedge clk_i) begin
    before_q     <= collects && done;
    before_row_q <= {round_q, role_q[0]};
    if (before_q || (collects && done)) begin
      rows[before_q?{before_row_q, 1'b1} : {round_q, role_q[0], 1'b0}] <= before_q ? mul_x_o : word_q;
    end
    row_read_q <= rows[{row_q, clock_q==2'd1}];
  end

  always_ff @(posedge clk_i) row_word <= row_read_q;

  // -- to the memory --------------------------------------------------------------------------------------

  always_comb begin
    subkey_o = '{
      valid: inverse_q || (done && !(invert_q && set_q && inverted_role)),
      number: context_q,
      decrypt: set_q,
      round: round_q,
      role: role_q,
      word: made
    };
    if (inverse_q) begin
      subkey_o.round = 4'd8 - inverse_row_q[4:1];
      subkey_o.role  = {1'b0, {2{inverse_row_q[0]}}};
    end
  end

  assign idle_o = encrypt_q && !stale_q && !want_q && !invert_q && resting;

endmodule

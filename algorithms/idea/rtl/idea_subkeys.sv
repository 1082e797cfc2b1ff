// SPDX-License-Identifier: Apache-2.0
//
// The subkeys of the iterative core: made, kept, and handed to the rounds.
//
// A pass over the key writes the encryption subkeys two at a time, as fast as rounds take them, so that the
// first block follows closely behind. Each eight words are the eight before, rotated by 25 bits: words 2p and
// 2p + 1 are made of the words 2p + 1 to 2p + 3 of these. The same pass overwrites all else that an older key
// left in the memories; as a clear begins it does so with a key of zeros, in less than 32 clocks.
//
// Decryption reads the same memories from behind: what is added is negated and exchanged on the way out; but 18
// subkeys are to be inverted modulo 2^16 + 1. This is done together, when decryption is asked for, with the
// core's fourth multiplier, two clocks a product:
//   collect  the products P of the first n words; 18 multiplications
//   chain    the inverse of the last one, as x^(2^16 - 1): of t = x^(2^n - 1), n squarings and one product with
//            t itself double n; 19 multiplications
//   back     in reverse order, the inverse of the product of the first n, times the product of the first n - 1,
//            is the inverse of the n-th, and times the n-th it is the inverse for the next; one after the
//            other, 36
//
// Clocks from the last key beat until a block may enter: 5 to encrypt, 144 to decrypt.
module idea_subkeys
  import core_pkg::*;
  import idea_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  // A block is inside: decryption, which is asked for by the last beat of a key or by a block, is not made ready.
  input  logic      busy_i,
  // Blocks may enter, if the round and direction below are theirs since the clock before.
  output logic      encrypt_ready_o,
  output logic      decrypt_ready_o,

  // The subkeys of a round in a direction, two clocks later where next_i is high. In decryption those that are
  // added, roles 1 and 2, want one more to be added.
  input  round_t             round_i,
  input  logic               direction_i,
  input  logic               next_i,
  output word_t  [Roles-1:0] z_o,

  // The multiplier is taken, and its factor from here; the other is the subkey of role 3.
  output logic  mul_taken_o,
  output word_t mul_x_o,
  input  word_t mul_y_i
);

  // -- the words of the encryption key ----------------------------------------------------------------------

  logic forget;  // a clear begins
  logic halt;  // what is under way is void
  logic pass_q;  // words are made
  logic pass_end;
  logic [4:0] pair_q;  // which two
  logic [2:0] phase_q;  // where they go: roles 0 and 1, 2 and 3, 4 and 5
  round_t row_q;
  logic first;  // the words of the key itself
  logic [1:0] here, ahead;
  key_t key_q;
  word_t even, odd;

  assign forget   = clear_i.active && clear_i.index == '0;
  assign halt     = forget || req_i.key_valid;
  assign pass_end = phase_q[2] && row_q == 4'(Rounds);
  assign first    = pair_q[4:2] == '0;
  assign here     = pair_q[1:0];
  assign ahead    = here + 2'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pass_q  <= 1'b0;
      pair_q  <= '0;
      phase_q <= 3'b001;
      row_q   <= '0;
    end else begin
      pass_q <= forget || (req_i.key_valid ? req_i.key_last : pass_q && !pass_end);
      if (forget || !pass_q) begin
        pair_q  <= '0;
        phase_q <= 3'b001;
        row_q   <= '0;
      end else begin
        pair_q  <= pair_q + 5'd1;
        phase_q <= {phase_q[1:0], phase_q[2]};
        if (phase_q[2]) row_q <= row_q + 4'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_q <= '0;
    else if (req_i.key_valid) key_q <= with_beat(key_q, req_i.key_index[0], req_i.key);
  end

  // Two times eight words.
  (* ram_style = "distributed" *) word_t even_q[8];
  (* ram_style = "distributed" *) logic [6:0] odd_here_q[8];
  (* ram_style = "distributed" *) logic [8:0] odd_ahead_q[8];
  word_t even_ahead;

  assign even_ahead = even_q[{!pair_q[2], ahead}];
  assign even       = first ? key_q[{here, 1'b0}] : {odd_here_q[{!pair_q[2], here}], even_ahead[15:7]};
  assign odd        = first ? key_q[{here, 1'b1}] : {even_ahead[6:0], odd_ahead_q[{!pair_q[2], ahead}]};

  always_ff @(posedge clk_i) begin
    if (pass_q) begin
      even_q[pair_q[2:0]]      <= even;
      odd_here_q[pair_q[2:0]]  <= odd[6:0];
      odd_ahead_q[pair_q[2:0]] <= odd[15:7];
    end
  end

  // Less one where they multiply, and so are products of the multiplier.
  word_t even_less, odd_less;

  assign even_less = (pass_q ? even : mul_y_i) + {16{!(pass_q && phase_q[1])}};
  assign odd_less  = odd + {16{!phase_q[0]}};

  // -- inverses ---------------------------------------------------------------------------------------------

  logic encrypt_q, decrypt_q;  // the subkeys are there
  logic want, want_q;
  logic begins, complete;
  logic invert_q;  // the multiplier is taken; in the first clock, for one times one
  logic collect_q, chain_q, back_q, follow_q;  // follow: there is a product of back
  logic take_q;  // a product is there, and the next multiplication starts
  logic inverse_q;  // the other one of back: an inverse
  logic multiply, base;  // of the chain: t is multiplied with; this is a new t
  logic [4:0] step_q;  // of the chain
  logic [4:0] word_q;  // the word that is multiplied with next: its round, and whether its role is 3

  assign want     = req_i.key_valid ? req_i.key_decrypt : req_i.block_valid && req_i.decrypt;
  assign begins   = want_q && encrypt_q && !busy_i;
  assign complete = inverse_q && word_q[4] && !word_q[0];
  assign multiply = step_q inside {5'd1, 5'd4, 5'd9, 5'd18};
  assign base     = step_q inside {5'd0, 5'd2, 5'd5, 5'd10};

  // The first clock of a clear, and so the one behind a reset, halts all of this.
  always_ff @(posedge clk_i) begin
    if (halt) begin
      encrypt_q <= 1'b0;
      decrypt_q <= 1'b0;
      want_q    <= req_i.key_valid && req_i.key_last && want;
      invert_q  <= 1'b0;
    end else begin
      encrypt_q <= encrypt_q || (pass_q && pass_end);
      decrypt_q <= decrypt_q || complete;
      want_q    <= (want_q || (want && !decrypt_q && !invert_q)) && !begins;
      invert_q  <= (invert_q || begins) && !complete;
    end
    if (halt || !invert_q || complete) begin
      collect_q <= 1'b0;
      chain_q   <= 1'b0;
      back_q    <= 1'b0;
      follow_q  <= 1'b0;
      take_q    <= 1'b0;
      inverse_q <= 1'b0;
      step_q    <= '0;
      word_q    <= '0;
    end else begin
      take_q    <= (collect_q || chain_q || back_q) && !take_q;
      inverse_q <= take_q && follow_q;
      if (!(collect_q || chain_q || back_q)) collect_q <= 1'b1;
      if (take_q && collect_q) begin
        word_q <= word_q + 5'd1;
        if (word_q == 5'd17) begin
          collect_q <= 1'b0;
          chain_q   <= 1'b1;
          word_q    <= '0;  // the first row has t
        end
      end
      if (take_q && chain_q) begin
        step_q <= step_q + 5'd1;
        if (step_q == 5'd18) begin
          chain_q <= 1'b0;
          back_q  <= 1'b1;
          word_q  <= 5'd17;
        end
      end
      if (take_q && back_q) begin
        follow_q <= 1'b1;
        word_q   <= word_q - 5'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!invert_q) mul_x_o <= 16'd1;
    else if (take_q) mul_x_o <= mul_y_i;
  end

  assign mul_taken_o     = invert_q;

  // A block follows so closely that its rounds find what was written in the clock before they read it.
  assign encrypt_ready_o = (encrypt_q || (pass_q && row_q != '0)) && !want_q && !invert_q;
  assign decrypt_ready_o = decrypt_q;

  // -- the memories -----------------------------------------------------------------------------------------

  // An inverse goes to the round that undoes the word's. It comes two words behind.
  round_t read_at, write_at, back_at;
  logic  [Roles-1:0] write;
  word_t [Roles-1:0] fetched_q;

  assign read_at  = invert_q ? word_q[4:1] : round_i;
  assign write_at = pass_q ? row_q : {word_q[4], ~word_q[3:1]};
  assign back_at  = direction_i ? 4'(Rounds) - round_i : round_i;

  always_comb begin
    for (int unsigned r = 0; r < Roles; r++) write[r] = pass_q && phase_q[r/2];
  end

  // Role 0 has its inverses besides.
  (* ram_style = "block", no_rw_check *) word_t memory0_q[32];

  always_ff @(posedge clk_i) begin
    if (pass_q || (inverse_q && !word_q[0])) memory0_q[{!write[0], write_at}] <= even_less;
  end
  always_ff @(posedge clk_i) fetched_q[0] <= memory0_q[{direction_i&&!invert_q, read_at}];

  for (genvar r = 1; r < Roles; r++) begin : gen_role
    (* ram_style = "block", no_rw_check *)word_t  memory_q[16];
    round_t at;

    if (r == 3) begin : gen_word
      assign at = read_at;
    end else if (r < 3) begin : gen_back
      assign at = back_at;
    end else begin : gen_same  // of a round and the one that undoes it
      assign at = {1'b0, round_i[2:0] ^ {3{direction_i}}};
    end

    always_ff @(posedge clk_i) begin
      if (write[r]) memory_q[row_q] <= r % 2 == 0 ? even_less : odd_less;
    end
    always_ff @(posedge clk_i) fetched_q[r] <= memory_q[at];
  end

  // The products: in the row of each word that of all before it. And the inverses of role 3.
  (* ram_style = "block", no_rw_check *) word_t rows[64];
  word_t row_word_q;
  logic row_write;

  assign row_write = pass_q || (inverse_q && word_q[0]) || (take_q && (collect_q || (chain_q && base)));

  always_ff @(posedge clk_i) begin
    if (row_write) begin
      if (pass_q || inverse_q) rows[{!pass_q||phase_q[2], write_at, !write[0]}] <= even_less;
      else rows[{1'b0, word_q}] <= even_less;
    end
    row_word_q <= rows[{!invert_q, read_at, !invert_q||word_q[0]}];
  end

  // -- to the rounds ----------------------------------------------------------------------------------------

  logic exchange, words;
  logic use_word0, use_word3, use_row, use_product;
  word_t z3;

  // The additive subkeys change places between rounds in decryption, and where there is no exchange of words
  // behind them.
  assign exchange = direction_i ? round_i != '0 : round_i[3];

  // Behind an inverse of the first word there is no product: it is multiplied by one.
  assign words = collect_q || (back_q && take_q);
  assign use_word0 = words && !word_q[0];
  assign use_word3 = invert_q ? words && word_q[0] : !direction_i;
  assign use_product = chain_q && !multiply;
  assign use_row = invert_q ? (chain_q && multiply) || (back_q && !take_q && !(word_q[4] && word_q[0])) :
    direction_i;
  assign z3 = (fetched_q[0] & {16{use_word0}}) | (fetched_q[3] & {16{use_word3}}) |
    (row_word_q & {16{use_row}}) | (even_less & {16{use_product}});

  always_ff @(posedge clk_i) begin
    if (clear_i.active) z_o <= '0;
    else begin
      if (next_i) begin
        z_o    <= fetched_q;
        z_o[1] <= (exchange ? fetched_q[2] : fetched_q[1]) ^ {16{direction_i}};
        z_o[2] <= (exchange ? fetched_q[1] : fetched_q[2]) ^ {16{direction_i}};
      end
      if (next_i || invert_q) z_o[3] <= z3;
    end
  end

endmodule

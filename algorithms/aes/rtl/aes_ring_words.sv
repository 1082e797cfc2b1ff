// SPDX-License-Identifier: Apache-2.0
//
// The key schedule (FIPS 197, 5.2) for aes_ring, word by word, for every key size.
//
// Cycles: one for each of 44, 52 or 60 words for 128, 192 or 256 key bits, two with Decrypt, but three for a
// word made with SubWord.
module aes_ring_words
  import core_pkg::*;
  import aes_pkg::*;
#(
  // Two clocks for each word.
  parameter bit          Decrypt    = 1'b1,
  parameter int unsigned MaxKeyBits = 256
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input key_beat_t key_i,

  output logic running_o,
  // A word of a round key, for one clock; its column.
  output logic valid_o,
  output logic [1:0] column_o,
  output word_t word_o
);

  logic running_q;
  logic [1:0] wait_q;  // clocks before the word can be made
  logic [5:0] word_q;  // the word to be made
  logic [5:0] final_q;  // the last but one
  logic ending_q;  // it is the last
  logic is256_q;
  logic [2:0] since_q, period_q;  // words since the last multiple of the key's words; how many are the most
  logic from_key_q;  // it is a word of the key itself
  logic sub_q, rotate_q;  // it is made with SubWord; with RotWord and Rcon, too
  logic [2:0] old_at_q;  // the word that it is made from, besides the one before
  byte_t rcon_q;
  logic step, wrap;

  assign step = running_q && wait_q == '0;
  assign wrap = since_q == period_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) running_q <= 1'b0;
    else if (clear_i.active) running_q <= 1'b0;
    else if (key_i.valid) running_q <= key_i.last;
    else if (step) running_q <= !ending_q;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      wait_q     <= '0;
      word_q     <= '0;
      final_q    <= '0;
      ending_q   <= 1'b0;
      is256_q    <= 1'b0;
      since_q    <= '0;
      period_q   <= '0;
      from_key_q <= 1'b0;
      sub_q      <= 1'b0;
      rotate_q   <= 1'b0;
      old_at_q   <= '0;
      rcon_q     <= 8'h01;
    end else if (key_i.valid) begin
      wait_q     <= '0;
      word_q     <= '0;
      final_q    <= {key_i.len[5:2] + 4'd6, 2'b10};
      ending_q   <= 1'b0;
      is256_q    <= MaxKeyBits == 256 && key_i.len[5];
      since_q    <= '0;
      period_q   <= key_i.len[4:2] - 3'd1;
      from_key_q <= 1'b1;
      sub_q      <= 1'b0;
      rotate_q   <= 1'b0;
      old_at_q   <= '0;
      rcon_q     <= 8'h01;
    end else if (step) begin
      word_q     <= word_q + 6'd1;
      ending_q   <= word_q == final_q;
      since_q    <= wrap ? '0 : since_q + 3'd1;
      from_key_q <= from_key_q && !wrap;
      rotate_q   <= wrap;
      sub_q      <= wrap || (is256_q && !from_key_q && since_q == 3'd3);
      wait_q     <= wrap || (is256_q && !from_key_q && since_q == 3'd3) ? 2'd2 : 2'(Decrypt);
      old_at_q   <= from_key_q && wrap ? '0 : old_at_q + 3'd1;
      if (rotate_q) rcon_q <= xtime(rcon_q);
    end else if (running_q) begin
      wait_q <= wait_q - 2'd1;
    end
  end

  // The newest eight words, in two memories so that a key beat goes in at once.
  word_t [1:0] old;
  word_t old_word, word_d, newest_q, substituted_q;
  word_t sub_in, sub_x, sub_y;

  for (genvar i = 0; i < 2; i++) begin : gen_old
    ram_logic #(
      .Width(32),
      .Depth(4)
    ) u_old (
      .clk_i,
      .clear_i,
      .write_i     (key_i.valid || (step && word_q[0] == 1'(i))),
      .write_at_i  (key_i.valid ? key_i.index[1:0] : word_q[2:1]),
      .write_data_i(key_i.valid ? key_i.data[32*i+:32] : word_d),
      .read_at_i   (old_at_q[2:1]),
      .read_data_o (old[i])
    );
  end

  assign old_word = old[old_at_q[0]];

  always_comb begin
    word_d = old_word;
    if (sub_q) word_d ^= substituted_q ^ {24'h0, rotate_q ? rcon_q : 8'h00};
    else if (!from_key_q) word_d ^= newest_q;
  end

  assign sub_in = rotate_q ? ror8(newest_q) : newest_q;

  aes_sbox #(
    .SBox   (SBoxEbr),
    .Decrypt(1'b0)
  ) u_sbox (
    .clk_i,
    .look_i('{rest: clear_i.active, decrypt: 1'b0, last: 1'b0, a: sub_in}),
    .sub_o ({sub_x, sub_y})
  );

  logic unused;
  assign unused = ^{sub_x, key_i.len[1:0]};

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      valid_o  <= 1'b0;
      column_o <= '0;
      newest_q <= '0;
    end else begin
      valid_o  <= step;
      column_o <= word_q[1:0];
      if (step) newest_q <= word_d;
    end
    // In the memory's output register, which has no reset: empty when the lookup has rested.
    substituted_q <= sub_y;
  end

  assign word_o    = newest_q;
  assign running_o = running_q;

endmodule

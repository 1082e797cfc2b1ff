// SPDX-License-Identifier: Apache-2.0
//
// The key schedule (FIPS 197, 5.2) for aes_ring: word by word into memories that hold the round keys of every
// key place, one memory for each of the unrolled rounds and one for the keys that whiten entering blocks. With
// decryption the keys are there twice, the second time in the order and form of the equivalent inverse cipher
// (5.3.5): all but the first and the last through InvMixColumns.
//
// Cycles from the last key beat until the key can be used: encryption only, 66; both directions, 110, 127 or
// 138 for 128, 192 or 256 key bits. A wipe overwrites all memories, one word a clock, and is as good as a key
// until then: busy_o.
module aes_ring_keys
  import aes_pkg::*;
#(
  // As in aes_ring.
  parameter int unsigned Unrolled   = 1,
  parameter bit          Decrypt    = 1'b1,
  parameter int unsigned MaxKeyBits = 256,
  parameter int unsigned Keys       = 8,

  localparam int unsigned KeyBits = $clog2(Keys)
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input  logic               key_valid_i,
  input  logic [       63:0] key_i,
  input  logic [        1:0] key_index_i,
  input  logic               key_last_i,
  input  logic [        5:0] key_len_i,
  input  logic [KeyBits-1:0] key_place_i,
  output logic               busy_o,

  // Turns of a block under this key, less one; in the same clock.
  input  logic [KeyBits-1:0] turns_place_i,
  output logic [        3:0] turns_o,

  // What is added to a block as it enters; two clocks later.
  input  logic   [KeyBits-1:0] white_place_i,
  input  logic                 white_decrypt_i,
  output block_t               white_o,

  // For each of the unrolled rounds, the key of a block that has so many turns left; two clocks later.
  input  logic   [Unrolled-1:0][        3:0] left_i,
  input  logic   [Unrolled-1:0]              decrypt_i,
  input  logic   [Unrolled-1:0][KeyBits-1:0] place_i,
  output block_t [Unrolled-1:0]              round_key_o
);

  // Keys of a place in one memory, for one direction.
  localparam int unsigned Turns = (MaxKeyBits / 32 + 6) / Unrolled;
  localparam int unsigned LeftBits = Turns > 1 ? $clog2(Turns) : 1;
  localparam int unsigned WhiteBits = KeyBits + (Decrypt ? 1 : 0);
  localparam int unsigned RoundBits = WhiteBits + LeftBits;

  // -- control --------------------------------------------------------------------------------------------

  logic running_q;  // words are being made
  logic started_q;  // not in the middle of a key's beats
  logic erase_q;  // the memories are being overwritten
  logic [RoundBits-1:0] erase_at_q;
  logic [KeyBits-1:0] place_q;
  logic [3:0] words_q;  // of the key
  logic [3:0] rounds_q;
  logic [5:0] word_q;  // the word to be made
  logic [1:0] phase_q;  // clocks that it has had
  logic [3:0] since_q;  // words since the last multiple of words_q
  logic [7:0] rcon_q;
  logic from_key;  // it is a word of the key itself
  logic sub, rotate;  // it is made with SubWord; with RotWord and Rcon, too
  logic [1:0] phases;  // how many clocks it takes, less one
  logic step, final_word;

  assign from_key   = word_q < 6'(words_q);
  assign rotate     = !from_key && since_q == '0;
  assign sub        = rotate || (MaxKeyBits == 256 && words_q == 4'd8 && !from_key && since_q == 4'd4);
  assign phases     = sub ? 2'd2 : Decrypt ? 2'd1 : 2'd0;
  assign step       = running_q && phase_q == phases;
  assign final_word = word_q == {rounds_q, 2'b11};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q  <= 1'b0;
      started_q  <= 1'b1;
      erase_q    <= 1'b1;
      erase_at_q <= '0;
      place_q    <= '0;
      words_q    <= 4'd4;
      rounds_q   <= 4'd10;
      word_q     <= '0;
      phase_q    <= '0;
      since_q    <= '0;
      rcon_q     <= 8'h01;
      busy_o     <= 1'b1;
    end else begin
      running_q  <= ((key_valid_i && key_last_i) || (running_q && !(step && final_word))) && !wipe_i;
      erase_q    <= wipe_i || (erase_q && erase_at_q != '1);
      erase_at_q <= erase_q && !wipe_i ? erase_at_q + RoundBits'(1) : '0;
      // What was made last is written within two clocks, before a block can ask for it.
      started_q  <= wipe_i || (key_valid_i ? key_last_i : started_q);
      busy_o     <= wipe_i || key_valid_i || (busy_o && (running_q || erase_q || !started_q));
      if (key_valid_i) begin
        place_q  <= key_place_i;
        words_q  <= key_len_i[5:2];
        rounds_q <= key_len_i[5:2] + 4'd6;
      end
      if (key_valid_i) begin
        word_q  <= '0;
        phase_q <= '0;
        since_q <= '0;
        rcon_q  <= 8'h01;
      end else if (running_q) begin
        phase_q <= step ? 2'd0 : phase_q + 2'd1;
        if (step) begin
          word_q  <= word_q + 6'd1;
          since_q <= since_q == words_q - 4'd1 ? 4'd0 : since_q + 4'd1;
          if (rotate) rcon_q <= xtime(rcon_q);
        end
      end
    end
  end

  // -- words ----------------------------------------------------------------------------------------------

  // The newest eight words, in two memories so that a key beat goes in at once.
  logic [1:0] old_at;
  word_t [1:0] old;
  logic [1:0][1:0] write_at;
  logic [1:0] write;
  word_t [1:0] write_data;
  word_t old_word, word_d, newest_q, substituted_q;
  word_t sub_in, sub_x, sub_y;
  logic purge;
  assign purge  = erase_q;

  assign old_at = word_q[2:1] - (from_key ? 2'd0 : words_q[2:1]);

  for (genvar i = 0; i < 2; i++) begin : gen_old
    (* ram_style = "distributed" *)
    word_t ram[4];

    assign write[i] = key_valid_i || (step && word_q[0] == 1'(i)) || purge;
    assign write_at[i] = purge ? erase_at_q[1:0] : key_valid_i ? key_index_i : word_q[2:1];
    assign write_data[i] = (key_valid_i ? key_i[32*i+:32] : word_d) & {32{!purge}};
    assign old[i] = ram[old_at];

    always_ff @(posedge clk_i) begin
      if (write[i]) ram[write_at[i]] <= write_data[i];
    end
  end

  assign old_word = old[word_q[0]];

  always_comb begin
    word_d = old_word;
    if (sub) word_d ^= substituted_q ^ {24'h0, rotate ? rcon_q : 8'h00};
    else if (!from_key) word_d ^= newest_q;
  end

  assign sub_in = rotate ? ror8(newest_q) : newest_q;

  for (genvar i = 0; i < 2; i++) begin : gen_sub
    aes_sbox #(
      .SBox   (SBoxEbr),
      .Decrypt(1'b0)
    ) u_sbox (
      .clk_i,
      .decrypt_i(1'b0),
      .last_i   (1'b0),
      .rest_i   (purge),
      .a_i      (sub_in[16*i+:16]),
      .x_o      (sub_x[16*i+:16]),
      .y_o      (sub_y[16*i+:16])
    );
  end

  logic unused;
  assign unused = ^{sub_x, key_len_i[1:0]};

  always_ff @(posedge clk_i) begin
    if (purge) begin
      newest_q      <= '0;
      substituted_q <= '0;
    end else begin
      if (step) newest_q <= word_d;
      substituted_q <= sub_y;
    end
  end

  // -- round keys into the memories -------------------------------------------------------------------------

  // A word goes to the place of its round, and with decryption, a clock later, to that of the round that uses
  // it in the other direction. Both places are counted, one downwards and one upwards.
  localparam int unsigned UnitBits = Unrolled > 1 ? $clog2(Unrolled) : 1;

  typedef logic [LeftBits-1:0] left_t;
  typedef logic [UnitBits-1:0] unit_t;

  left_t enc_left_q, dec_left_q;
  unit_t enc_unit_q, dec_unit_q;
  logic enc_white_q, dec_white;  // it is the first, or last, round key
  logic write_enc_q, write_dec_q;
  left_t write_left_q, again_left_q;
  unit_t write_unit_q, again_unit_q;
  logic write_white_q, again_white_q, again_plain_q;
  logic [1:0] write_column_q;
  word_t write_word_q, write_word;
  logic [3:0] turns;

  logic unused_turns;
  assign unused_turns = ^turns;

  always_comb begin
    unique case (Unrolled)
      1:       turns = key_len_i[5:2] + 4'd5;
      2:       turns = {1'b0, key_len_i[5:3]} + 4'd2;
      default: turns = 4'(Turns - 1);
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      enc_left_q     <= '0;
      dec_left_q     <= '0;
      enc_unit_q     <= '0;
      dec_unit_q     <= '0;
      enc_white_q    <= 1'b0;
      write_enc_q    <= 1'b0;
      write_dec_q    <= 1'b0;
      write_left_q   <= '0;
      write_unit_q   <= '0;
      write_white_q  <= 1'b0;
      again_left_q   <= '0;
      again_unit_q   <= '0;
      again_white_q  <= 1'b0;
      again_plain_q  <= 1'b0;
      write_column_q <= '0;
    end else begin
      if (key_valid_i) begin
        enc_white_q <= 1'b1;
        enc_left_q  <= left_t'(turns);
        enc_unit_q  <= '0;
        dec_left_q  <= '0;
        dec_unit_q  <= unit_t'(Unrolled - 1);
      end else if (step && word_q[1:0] == 2'd3) begin
        enc_white_q <= 1'b0;
        if (!enc_white_q) begin
          enc_unit_q <= enc_unit_q == unit_t'(Unrolled - 1) ? '0 : enc_unit_q + unit_t'(1);
          if (enc_unit_q == unit_t'(Unrolled - 1)) enc_left_q <= enc_left_q - left_t'(1);
        end
        dec_unit_q <= dec_unit_q == '0 ? unit_t'(Unrolled - 1) : dec_unit_q - unit_t'(1);
        if (dec_unit_q == '0) dec_left_q <= dec_left_q + left_t'(1);
      end
      write_enc_q   <= step;
      write_dec_q   <= write_enc_q && Decrypt;
      write_left_q  <= enc_left_q;
      write_unit_q  <= enc_unit_q;
      write_white_q <= enc_white_q;
      if (Decrypt && write_enc_q) begin
        write_left_q  <= again_left_q;
        write_unit_q  <= again_unit_q;
        write_white_q <= again_white_q;
      end
      if (step) begin
        write_column_q <= word_q[1:0];
        again_left_q   <= dec_left_q;
        again_unit_q   <= dec_unit_q;
        again_white_q  <= dec_white;
        again_plain_q  <= dec_white || enc_white_q;
      end
    end
  end

  assign dec_white = word_q[5:2] == rounds_q;

  always_ff @(posedge clk_i) begin
    if (purge) write_word_q <= '0;
    else if (step) write_word_q <= word_d;
    else if (Decrypt && write_enc_q && !again_plain_q) write_word_q <= inv_mix_word(write_word_q);
  end

  assign write_word = write_word_q;

  logic writing;
  assign writing = write_enc_q || write_dec_q;

  logic [WhiteBits-1:0] base, write_base;
  if (Decrypt) begin : gen_both
    assign base = {place_q, write_dec_q};
  end else begin : gen_one
    assign base = place_q;
  end
  assign write_base = erase_q ? erase_at_q[WhiteBits-1:0] : base;

  logic [RoundBits-1:0] round_at;
  assign round_at = erase_q ? erase_at_q : {base, write_left_q};

  for (genvar c = 0; c < 4; c++) begin : gen_column
    logic column;
    assign column = (writing && write_column_q == 2'(c)) || erase_q;

    aes_ring_memory #(
      .Depth(2 ** WhiteBits)
    ) u_white (
      .clk_i,
      .write_i     (column && (write_white_q || erase_q)),
      .write_at_i  (write_base),
      .write_data_i(write_word),
      .read_at_i   (Decrypt ? WhiteBits'({white_place_i, white_decrypt_i}) : WhiteBits'(white_place_i)),
      .read_data_o (white_o[32*c+:32])
    );

    for (genvar u = 0; u < Unrolled; u++) begin : gen_unit
      logic [WhiteBits-1:0] read_base;
      assign read_base = Decrypt ? WhiteBits'({place_i[u], decrypt_i[u]}) : WhiteBits'(place_i[u]);

      aes_ring_memory #(
        .Depth(2 ** RoundBits)
      ) u_round (
        .clk_i,
        .write_i     (column && ((!write_white_q && write_unit_q == unit_t'(u)) || erase_q)),
        .write_at_i  (round_at),
        .write_data_i(write_word),
        .read_at_i   ({read_base, left_i[u][LeftBits-1:0]}),
        .read_data_o (round_key_o[u][32*c+:32])
      );
    end
  end

  // -- how many turns -------------------------------------------------------------------------------------

  if (MaxKeyBits == 128) begin : gen_one_size
    assign turns_o = 4'(Turns - 1);
    logic unused_place;
    assign unused_place = ^turns_place_i;
  end else begin : gen_sizes
    (* ram_style = "distributed" *)
    logic [3:0] turns_ram[Keys];

    always_ff @(posedge clk_i) begin
      if (key_valid_i) turns_ram[key_place_i] <= turns;
    end
    assign turns_o = turns_ram[turns_place_i];
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The round keys of every context for aes_ring, in one memory for each of the unrolled rounds and one for
// the keys that whiten entering blocks, which aes_ring_columns or aes_ring_words fills. With decryption the
// keys are there twice, the second time in the order and form of the equivalent inverse cipher (5.3.5): all
// but the first and the last through InvMixColumns.
//
// Cycles, measured: a fresh key adds to a frame that is alone 32 for encryption with 128 bits only; for both
// directions 96, 112 or 136 for 128, 192 or 256 key bits; its beats are included.
module aes_ring_keys
  import core_pkg::*;
  import aes_pkg::*;
#(
  // As in aes_ring.
  parameter int unsigned Unrolled   = 1,
  parameter bit          Decrypt    = 1'b1,
  parameter int unsigned MaxKeyBits = 256,
  parameter int unsigned Contexts   = UsualContexts,

  localparam int unsigned KeyBits  = $clog2(Contexts),
  // Keys of a context in one memory, for one direction.
  localparam int unsigned Turns    = (MaxKeyBits / 32 + 6) / Unrolled,
  localparam int unsigned LeftBits = Turns > 1 ? $clog2(Turns) : 1
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input  key_beat_t               key_i,
  input  logic      [KeyBits-1:0] key_context_i,
  output logic                    busy_o,

  // Of a block that enters: its turns, less one, in the same clock; what is added to it, two clocks later.
  input  logic   [ KeyBits-1:0] white_context_i,
  input  logic                  white_decrypt_i,
  output logic   [LeftBits-1:0] turns_o,
  output block_t                white_o,

  // For each of the unrolled rounds, the key of a block that has so many turns left; three clocks later.
  input  logic   [Unrolled-1:0][LeftBits-1:0] left_i,
  input  logic   [Unrolled-1:0]               decrypt_i,
  input  logic   [Unrolled-1:0][ KeyBits-1:0] context_i,
  output block_t [Unrolled-1:0]               round_key_o
);

  localparam int unsigned WhiteBits = KeyBits + (Decrypt ? 1 : 0);
  localparam int unsigned RoundBits = WhiteBits + LeftBits;

  // -- control --------------------------------------------------------------------------------------------

  logic running;  // round keys are being made
  logic started_q;  // not in the middle of a key's beats
  // What was made last is written within two clocks, before a block can ask for it.
  logic busy_q;
  logic [KeyBits-1:0] context_q;
  logic [3:0] rounds_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (clear_i.active) busy_q <= 1'b0;
    else busy_q <= key_i.valid || (busy_q && (running || !started_q));
  end

  assign busy_o = busy_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      started_q <= 1'b1;
      context_q <= '0;
      rounds_q  <= 4'd10;
    end else if (key_i.valid) begin
      started_q <= key_i.last;
      context_q <= key_context_i;
      rounds_q  <= key_i.len[5:2] + 4'd6;
    end
  end

  // -- the schedule ---------------------------------------------------------------------------------------

  logic [3:0] column_valid;
  block_t columns;

  if (MaxKeyBits == 128 && !Decrypt) begin : gen_columns
    logic valid;
    assign column_valid = {4{valid}};

    aes_ring_columns u_columns (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_i,
      .running_o(running),
      .valid_o  (valid),
      .key_o    (columns)
    );
  end else begin : gen_words
    logic valid;
    logic [1:0] column;
    word_t word;
    assign columns = {4{word}};
    for (genvar c = 0; c < 4; c++) begin : gen_valid
      assign column_valid[c] = valid && column == 2'(c);
    end

    aes_ring_words #(
      .Decrypt   (Decrypt),
      .MaxKeyBits(MaxKeyBits)
    ) u_words (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_i,
      .running_o(running),
      .valid_o  (valid),
      .column_o (column),
      .word_o   (word)
    );
  end

  // -- into the memories ------------------------------------------------------------------------------------

  // A word goes to the place of its round, and with decryption, a clock later, to that of the round that uses
  // it in the other direction. Both places are counted, one downwards and one upwards.
  localparam int unsigned UnitBits = Unrolled > 1 ? $clog2(Unrolled) : 1;

  typedef struct packed {
    logic                white;  // not a round's
    logic [UnitBits-1:0] unit;
    logic [LeftBits-1:0] left;
  } spot_t;

  spot_t enc_q, dec_q;  // for the round key that comes
  logic [3:0] round_q;  // which one it is
  logic [3:0] turns;
  logic whole;  // the round key is complete

  logic unused_lengths;
  assign unused_lengths = ^{key_i.len[1:0], turns};
  assign whole          = column_valid[3];

  always_comb begin
    unique case (Unrolled)
      1:       turns = key_i.len[5:2] + 4'd5;
      2:       turns = {1'b0, key_i.len[5:3]} + 4'd2;
      default: turns = 4'(Turns - 1);
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      enc_q   <= '0;
      dec_q   <= '0;
      round_q <= '0;
    end else if (key_i.valid) begin
      enc_q   <= '{white: 1'b1, unit: '0, left: LeftBits'(turns)};
      dec_q   <= '{white: 1'b0, unit: UnitBits'(Unrolled - 1), left: '0};
      round_q <= '0;
    end else if (whole) begin
      round_q     <= round_q + 4'd1;
      enc_q.white <= 1'b0;
      if (!enc_q.white) begin
        enc_q.unit <= enc_q.unit == UnitBits'(Unrolled - 1) ? '0 : enc_q.unit + UnitBits'(1);
        if (enc_q.unit == UnitBits'(Unrolled - 1)) enc_q.left <= enc_q.left - LeftBits'(1);
      end
      dec_q.unit <= dec_q.unit == '0 ? UnitBits'(Unrolled - 1) : dec_q.unit - UnitBits'(1);
      if (dec_q.unit == '0) dec_q.left <= dec_q.left + LeftBits'(1);
      dec_q.white <= round_q == rounds_q - 4'd1;
    end
  end

  // Written in the clock behind, from registers.
  logic [3:0] write_q;
  spot_t write_spot_q;
  block_t write_data_q;
  logic write_decrypt_q;

  if (Decrypt) begin : gen_both
    // All columns are the same word, which stays for two clocks.
    logic [3:0] again_q;
    logic plain_q;
    spot_t again_spot_q;

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        write_q         <= '0;
        write_spot_q    <= '0;
        write_decrypt_q <= 1'b0;
        again_q         <= '0;
        plain_q         <= 1'b0;
        again_spot_q    <= '0;
      end else begin
        write_q         <= column_valid | again_q;
        again_q         <= column_valid;
        write_decrypt_q <= again_q != '0;
        write_spot_q    <= again_q != '0 ? again_spot_q : enc_q;
        again_spot_q    <= dec_q;
        plain_q         <= dec_q.white || enc_q.white;
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) write_data_q <= '0;
      else if (again_q != '0 && !plain_q) write_data_q <= {4{inv_mix_word(write_data_q[31:0])}};
      else if (again_q == '0) write_data_q <= columns;
    end
  end else begin : gen_one
    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        write_q      <= '0;
        write_spot_q <= '0;
      end else begin
        write_q      <= column_valid;
        write_spot_q <= enc_q;
      end
    end

    logic unused;
    assign write_decrypt_q = 1'b0;
    assign unused          = ^{dec_q, round_q};

    always_ff @(posedge clk_i) begin
      if (clear_i.active) write_data_q <= '0;
      else write_data_q <= columns;
    end
  end

  // A clear empties write_data_q, and so the memories.
  logic [WhiteBits-1:0] write_base, white_base;
  assign write_base = Decrypt ? WhiteBits'({context_q, write_decrypt_q}) : WhiteBits'(context_q);
  assign white_base = Decrypt ? WhiteBits'({white_context_i, white_decrypt_i}) : WhiteBits'(white_context_i);

  for (genvar c = 0; c < 4; c++) begin : gen_column
    ram_logic #(
      .Width    (32),
      .Depth    (2 ** WhiteBits),
      .Registers(2),
      .Quiet    (1'b1)
    ) u_white (
      .clk_i,
      .clear_i,
      .write_i     (write_q[c] && write_spot_q.white),
      .write_at_i  (write_base),
      .write_data_i(write_data_q[32*c+:32]),
      .read_at_i   (white_base),
      .read_data_o (white_o[32*c+:32])
    );

    for (genvar u = 0; u < Unrolled; u++) begin : gen_unit
      logic [WhiteBits-1:0] read_base;
      assign read_base = Decrypt ? WhiteBits'({context_i[u], decrypt_i[u]}) : WhiteBits'(context_i[u]);

      ram_block #(
        .Width(32),
        .Depth(2 ** RoundBits),
        .Late (1'b1),
        .Quiet(1'b1)
      ) u_round (
        .clk_i,
        .clear_i,
        .write_i     (write_q[c] && !write_spot_q.white && write_spot_q.unit == UnitBits'(u)),
        .write_at_i  ({write_base, write_spot_q.left}),
        .write_data_i(write_data_q[32*c+:32]),
        .read_i      (1'b1),
        .read_at_i   ({read_base, left_i[u]}),
        .read_data_o (round_key_o[u][32*c+:32])
      );
    end
  end

  // -- how many turns -------------------------------------------------------------------------------------

  if (MaxKeyBits == 128) begin : gen_one_size
    assign turns_o = LeftBits'(Turns - 1);
  end else begin : gen_sizes
    ram_logic #(
      .Width(LeftBits),
      .Depth(Contexts)
    ) u_turns (
      .clk_i,
      .clear_i,
      .write_i     (key_i.valid),
      .write_at_i  (key_context_i),
      .write_data_i(LeftBits'(turns)),
      .read_at_i   (white_context_i),
      .read_data_o (turns_o)
    );
  end

endmodule

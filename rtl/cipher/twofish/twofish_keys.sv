// SPDX-License-Identifier: Apache-2.0
//
// The keys of twofish_core, from one pipeline of lookups in block memory that computes an h a clock. First it
// fills the tables of the S-boxes with every byte's way through the layers under the S-vector. Then come the
// subkeys, on the fly, one pair in two clocks and in the order in which the direction wants them: the four pairs
// for whitening are kept; those of the 16 rounds come over and over, in step with the rounds. Nothing is stored
// of them but what is in the pipeline. The S-vector comes from the RS code, also in block memory, three clocks
// after each key beat.
//
// From the last key beat to ready_o: 288 clocks; from turn_i 20. The same for all key lengths: layers that a key
// has not are lookups of the byte itself.
module twofish_keys
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Forgets the keys: it loads zeros and has the pipeline run over them. Expected in the first clock after a
  // reset.
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 1:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,

  // Starts over, for the direction of decrypt_i from the next clock on.
  input logic turn_i,
  input logic decrypt_i,

  // No round key in the next clock; the clock in front of the one that uses a round key, and that one.
  input logic clear_i,
  input logic fetch_i,
  input logic use_i,

  // A block may enter.
  output logic ready_o,

  output pair_t in_0_o,
  output pair_t in_1_o,
  output pair_t out_0_o,
  output pair_t out_1_o,
  output pair_t round_key_o,

  // The tables: entry write_at_o of each of the four.
  output logic            write_o,
  output byte_t           write_at_o,
  output products_t [3:0] write_data_o
);

  // -- the key --------------------------------------------------------------------------------------------

  pair_t [3:0] m_q;
  logic short_q, long_q;
  logic fresh;

  logic unused;
  assign unused = ^key_len_i[2:0];

  assign fresh  = key_valid_i && key_index_i == '0;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (wipe_i || (fresh && i != 0)) m_q[i] <= '0;
      else if (key_valid_i && 32'(key_index_i) == i) m_q[i] <= key_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      short_q <= 1'b0;
      long_q  <= 1'b0;
    end else if (key_valid_i) begin
      short_q <= key_len_i[5:3] == 3'd2;
      long_q  <= key_len_i[5:3] == 3'd4;
    end
  end

  // -- the S-vector ---------------------------------------------------------------------------------------

  // Between key beats key_i is zero, and so is what the memories then hold.
  word_t [7:0] share, share_q;
  word_t       code;
  word_t [3:0] s_q;
  logic  [2:1] coded_q;

  for (genvar j = 0; j < 8; j += 2) begin : gen_code
    twofish_rom #(
      .Kind  (2),
      .Column(j)
    ) u_rom (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({2'd1, 2'd0}),
      .a_i     (key_i[8*j+:16]),
      .y_o     (share[j+:2])
    );
  end

  always_comb begin
    code = '0;
    for (int unsigned j = 0; j < 8; j++) code ^= share_q[j];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) coded_q <= '0;
    else coded_q <= wipe_i ? '0 : {coded_q[1], key_valid_i};
  end

  // The newest word is for layer D.
  always_ff @(posedge clk_i) begin
    share_q <= share;
    if (wipe_i || fresh) s_q <= '0;
    else if (coded_q[2]) s_q <= {s_q[2:0], code};
  end

  // -- control --------------------------------------------------------------------------------------------

  logic filling_q;  // the tables are being filled
  logic [8:0] fill_q;  // byte number fill_q begins its way; the first ones, too early for the S-vector, do so twice
  logic filled, start;
  logic running_q;  // they are full
  logic [4:0] done_q;  // advances since the start
  logic settling;
  logic advance;
  logic rounds_q, odd_d, odd_q;  // what is looked up next: A or B of a pair, for whitening or for a round
  logic [3:0] index_q;

  assign filled   = filling_q && fill_q == 9'd267;
  assign start    = filled || turn_i;
  assign settling = running_q && done_q != 5'd20;
  assign advance  = filling_q || settling || fetch_i || use_i;
  assign ready_o  = running_q && done_q >= 5'd19;
  assign odd_d    = !start && (odd_q ^ advance);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filling_q <= 1'b0;
      fill_q    <= '0;
      running_q <= 1'b0;
      done_q    <= '0;
      rounds_q  <= 1'b0;
      index_q   <= '0;
      odd_q     <= 1'b0;
    end else begin
      if (wipe_i || key_valid_i) filling_q <= wipe_i || key_last_i;
      else if (filled) filling_q <= 1'b0;
      fill_q <= wipe_i || key_valid_i ? '0 : fill_q + 9'(filling_q);
      if (wipe_i || key_valid_i) running_q <= 1'b0;
      else if (start) running_q <= 1'b1;
      if (start) done_q <= '0;
      else if (settling) done_q <= done_q + 5'd1;
      odd_q <= odd_d;
      if (start) begin
        rounds_q <= 1'b0;
        index_q  <= '0;
      end else if (advance && odd_q) begin
        rounds_q <= rounds_q || index_q == 4'd3;
        index_q  <= !rounds_q && index_q == 4'd3 ? '0 : index_q + 4'd1;
      end
    end
  end

  // -- h --------------------------------------------------------------------------------------------------

  // Pairs 0 to 3 are for whitening, 4 + r for round r. Decryption has it the other way round.
  logic [4:0] pair;
  byte_t x;
  assign pair = rounds_q ? 5'd4 + {1'b0, index_q ^ {4{decrypt_i}}} : {3'd0, index_q[1] ^ decrypt_i, index_q[0]};
  assign x = filling_q ? fill_q[7:0] : {2'b00, pair, odd_q};

  // All bytes of the first layer are the same.
  byte_t [1:0] a, raw_a;
  byte_t [3:0] b, c, d, raw_b, raw_c, raw_d;
  word_t address_b, address_c, address_d, address_e;
  products_t [3:0] e, raw_e;

  twofish_rom #(
    .Kind(0)
  ) u_rom_a (
    .clk_i,
    .enable_i(advance),
    .table_i (long_q ? {2'd1, 2'd0} : {2'd2, 2'd2}),
    .a_i     ({x, x}),
    .y_o     (raw_a)
  );

  // A is made from the even key words, B from the odd ones; they take turns in every layer, two clocks each. The tables take the
  // S-vector. (In the first clock behind a start nothing here has begun yet.)
  word_t [3:0] word_q;

  for (genvar i = 0; i < 4; i++) begin : gen_word
    always_ff @(posedge clk_i) begin
      if (filling_q) word_q[i] <= s_q[i];
      else word_q[i] <= odd_q ^ advance ? m_q[i][63:32] : m_q[i][31:0];
    end
  end

  // The memories have their output registers.
  always_ff @(posedge clk_i) begin
    if (advance) begin
      a <= raw_a;
      b <= raw_b;
      c <= raw_c;
      d <= raw_d;
      e <= raw_e;
    end
  end

  assign address_b = {a[LayerA[3]], a[LayerA[2]], a[LayerA[1]], a[LayerA[0]]} ^ word_q[3];
  assign address_c = b ^ word_q[2];
  assign address_d = c ^ word_q[1];
  assign address_e = d ^ word_q[0];

  for (genvar j = 0; j < 4; j += 2) begin : gen_layers
    twofish_rom #(
      .Kind(0)
    ) u_rom_b (
      .clk_i,
      .enable_i(advance),
      .table_i (short_q ? {2'd2, 2'd2} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
      .a_i     (address_b[8*j+:16]),
      .y_o     (raw_b[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_c (
      .clk_i,
      .enable_i(advance),
      .table_i ({1'b0, LayerC[j+1], 1'b0, LayerC[j]}),
      .a_i     (address_c[8*j+:16]),
      .y_o     (raw_c[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_d (
      .clk_i,
      .enable_i(advance),
      .table_i ({1'b0, LayerD[j+1], 1'b0, LayerD[j]}),
      .a_i     (address_d[8*j+:16]),
      .y_o     (raw_d[j+:2])
    );

    twofish_rom #(
      .Kind(1)
    ) u_rom_e (
      .clk_i,
      .enable_i(advance),
      .table_i ({1'b0, LayerE[j+1], 1'b0, LayerE[j]}),
      .a_i     (address_e[8*j+:16]),
      .y_o     (raw_e[j+:2])
    );
  end

  // A byte is ten clocks on its way.
  assign write_o      = filling_q;
  assign write_at_o   = fill_q[7:0] - 8'd10;
  assign write_data_o = e;

  // -- subkeys --------------------------------------------------------------------------------------------

  word_t a_q, h_q, b_rotated;
  pair_t subkeys, round_key_q;
  pair_t in_0_q, in_1_q, out_0_q, out_1_q;

  assign b_rotated = rol8(h_q);
  assign subkeys   = {rol9(a_q + {b_rotated[30:0], 1'b0}), a_q + b_rotated};

  always_ff @(posedge clk_i) begin
    if (use_i || (settling && done_q[0])) a_q <= h_q;
    if (advance) h_q <= mds(e);
    if (done_q == 5'd12) in_0_q <= subkeys;
    if (done_q == 5'd14) in_1_q <= subkeys;
    if (done_q == 5'd16) out_0_q <= subkeys;
    if (done_q == 5'd18) out_1_q <= subkeys;
    if (wipe_i || clear_i) round_key_q <= '0;
    else if (fetch_i) round_key_q <= subkeys;
  end

  assign in_0_o      = in_0_q;
  assign in_1_o      = in_1_q;
  assign out_0_o     = out_0_q;
  assign out_1_o     = out_1_q;
  assign round_key_o = round_key_q;

endmodule

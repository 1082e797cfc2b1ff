// SPDX-License-Identifier: Apache-2.0
//
// The keys of twofish_ring: one engine that makes the 40 subkeys and the S-vector of a fresh key, and memories
// that hold them for every key place, one for each use. The engine is a pipeline of lookups in block memory,
// one h a clock; the RS code is looked up too.
//
// Clocks from the last key beat until the key can be used: 57, whatever its length. A wipe overwrites all
// memories, one word a clock, and is as good as a key until then: busy_o.
module twofish_ring_keys
  import twofish_pkg::*;
#(
  // Key places.
  parameter int unsigned Keys = 8,

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

  // Length of the key in a place: 16 bytes, 32 bytes; in the same clock.
  input  logic [KeyBits-1:0] length_place_i,
  output logic               short_o,
  output logic               long_o,

  // Subkeys 0 to 3 or, second, 4 to 7, for a block that enters and for one that leaves; two clocks later.
  input  logic   [KeyBits-1:0] in_place_i,
  input  logic                 in_second_i,
  output block_t               in_o,
  input  logic   [KeyBits-1:0] out_place_i,
  input  logic                 out_second_i,
  output block_t               out_o,

  // The pair of a round; two clocks later.
  input  logic  [KeyBits-1:0] round_place_i,
  input  logic  [        3:0] round_i,
  output pair_t               round_key_o,

  // The words of the S-vector for layer D, C, B, A; two clocks later.
  input  logic  [3:0][KeyBits-1:0] s_place_i,
  output word_t [3:0]              s_o
);

  // -- control --------------------------------------------------------------------------------------------

  localparam int unsigned RoundBits = KeyBits + 4;

  logic running_q;  // subkeys are being made
  logic started_q;  // not in the middle of a key's beats
  logic erase_q;  // the memories are being overwritten
  logic [RoundBits-1:0] erase_at_q;
  logic [KeyBits-1:0] place_q;
  logic [5:0] step_q;  // h number step_q is being looked up; and 16 clocks more
  logic final_step;
  logic fresh;

  assign fresh      = key_valid_i && key_index_i == '0;
  assign final_step = step_q == 6'd55;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q  <= 1'b0;
      started_q  <= 1'b1;
      erase_q    <= 1'b1;
      erase_at_q <= '0;
      place_q    <= '0;
      step_q     <= '0;
      busy_o     <= 1'b1;
    end else begin
      running_q  <= ((key_valid_i && key_last_i) || (running_q && !final_step)) && !wipe_i;
      started_q  <= wipe_i || (key_valid_i ? key_last_i : started_q);
      erase_q    <= wipe_i || (erase_q && erase_at_q != '1);
      erase_at_q <= erase_q && !wipe_i ? erase_at_q + RoundBits'(1) : '0;
      if (key_valid_i) place_q <= key_place_i;
      step_q <= running_q ? step_q + 6'd1 : '0;
      busy_o <= wipe_i || key_valid_i || (busy_o && (running_q || erase_q || !started_q));
    end
  end

  // -- the key --------------------------------------------------------------------------------------------

  pair_t [3:0] m_q;
  logic long_q, short_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (erase_q || (fresh && i != 0)) m_q[i] <= '0;
      else if (key_valid_i && 32'(key_index_i) == i) m_q[i] <= key_i;
    end
    if (key_valid_i) begin
      long_q  <= key_len_i[5:3] == 3'd4;
      short_q <= key_len_i[5:3] == 3'd2;
    end
  end

  logic unused;
  assign unused = ^key_len_i[2:0];

  (* ram_style = "distributed" *)
  logic [1:0] lengths[Keys];

  always_ff @(posedge clk_i) begin
    if (running_q) lengths[place_q] <= {long_q, short_q};
  end
  assign {long_o, short_o} = lengths[length_place_i];

  // -- the S-vector ---------------------------------------------------------------------------------------

  // Between key beats key_i is zero.
  word_t [7:0] share, share_q;
  word_t [1:0] part_d, part_q;
  word_t [3:0] s_q;
  logic  [3:1] coded_q;

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

  for (genvar i = 0; i < 2; i++) begin : gen_part
    assign part_d[i] = share_q[4*i] ^ share_q[4*i+1] ^ share_q[4*i+2] ^ share_q[4*i+3];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) coded_q <= '0;
    else coded_q <= {coded_q[2:1], key_valid_i};
  end

  // The newest word is for layer D.
  always_ff @(posedge clk_i) begin
    share_q <= share;
    part_q  <= part_d;
    if (erase_q || fresh) s_q <= '0;
    else if (coded_q[3]) s_q <= {s_q[2:0], part_q[0] ^ part_q[1]};
  end

  // -- h --------------------------------------------------------------------------------------------------

  byte_t [1:0] raw_a, out_a_q;
  byte_t [3:0] raw_b, raw_c, raw_d, out_b_q, out_c_q, out_d_q;
  products_t [3:0] raw_e, out_e_q;
  word_t b_q, c_q, d_q, e_q, h_q, former_q;
  word_t [3:0] m;

  // A is made from the even key words, B from the odd ones; they take turns, and a layer takes three clocks.
  for (genvar i = 0; i < 4; i++) begin : gen_half
    assign m[i] = (step_q[0] ^ (i % 2 == 0)) ? m_q[i][63:32] : m_q[i][31:0];
  end

  // All bytes of the first layer are the same.
  twofish_rom #(
    .Kind(0)
  ) u_rom_a (
    .clk_i,
    .enable_i(1'b1),
    .table_i (long_q ? {2'd1, 2'd0} : {2'd2, 2'd2}),
    .a_i     ({2{2'b00, step_q}}),
    .y_o     (raw_a)
  );

  for (genvar j = 0; j < 4; j += 2) begin : gen_layers
    twofish_rom #(
      .Kind(0)
    ) u_rom_b (
      .clk_i,
      .enable_i(1'b1),
      .table_i (short_q ? {2'd2, 2'd2} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
      .a_i     (b_q[8*j+:16]),
      .y_o     (raw_b[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_c (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerC[j+1], 1'b0, LayerC[j]}),
      .a_i     (c_q[8*j+:16]),
      .y_o     (raw_c[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_d (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerD[j+1], 1'b0, LayerD[j]}),
      .a_i     (d_q[8*j+:16]),
      .y_o     (raw_d[j+:2])
    );

    twofish_rom #(
      .Kind(1)
    ) u_rom_e (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerE[j+1], 1'b0, LayerE[j]}),
      .a_i     (e_q[8*j+:16]),
      .y_o     (raw_e[j+:2])
    );
  end

  word_t b_rotated;
  pair_t subkeys_q;
  assign b_rotated = rol8(h_q);

  // Block memory is slow: what it gives goes into its output register first.
  always_ff @(posedge clk_i) begin
    out_a_q  <= raw_a;
    out_b_q  <= raw_b;
    out_c_q  <= raw_c;
    out_d_q  <= raw_d;
    out_e_q  <= raw_e;
    b_q      <= {out_a_q[LayerA[3]], out_a_q[LayerA[2]], out_a_q[LayerA[1]], out_a_q[LayerA[0]]} ^ m[3];
    c_q      <= out_b_q ^ m[2];
    d_q      <= out_c_q ^ m[1];
    e_q      <= out_d_q ^ m[0];
    h_q      <= mds(out_e_q);
    former_q <= h_q;
    if (erase_q) subkeys_q <= '0;
    else subkeys_q <= {rol9(former_q + {b_rotated[30:0], 1'b0}), former_q + b_rotated};
  end

  // -- memories -------------------------------------------------------------------------------------------

  logic [4:0] pair;  // that subkeys_q is
  logic write;
  logic write_0, write_1, write_round, write_s;
  logic [KeyBits:0] white_at;
  logic [RoundBits-1:0] round_at;

  assign pair        = step_q[5:1] - 5'd8;
  assign write       = running_q && step_q >= 6'd17 && step_q[0];
  assign write_0     = erase_q || (write && pair[4:2] == '0 && !pair[0]);
  assign write_1     = erase_q || (write && pair[4:2] == '0 && pair[0]);
  assign write_round = erase_q || (write && pair[4:2] != '0);
  assign write_s     = erase_q || write;
  assign white_at    = erase_q ? erase_at_q[KeyBits:0] : {place_q, pair[1]};
  assign round_at    = erase_q ? erase_at_q : {place_q, 4'(pair - 5'd4)};

  for (genvar i = 0; i < 2; i++) begin : gen_white
    twofish_ring_memory #(
      .Width(64),
      .Depth(2 * Keys)
    ) u_in (
      .clk_i,
      .write_i     (i == 0 ? write_0 : write_1),
      .write_at_i  (white_at),
      .write_data_i(subkeys_q),
      .read_at_i   ({in_place_i, in_second_i}),
      .read_data_o (in_o[64*i+:64])
    );

    twofish_ring_memory #(
      .Width(64),
      .Depth(2 * Keys)
    ) u_out (
      .clk_i,
      .write_i     (i == 0 ? write_0 : write_1),
      .write_at_i  (white_at),
      .write_data_i(subkeys_q),
      .read_at_i   ({out_place_i, out_second_i}),
      .read_data_o (out_o[64*i+:64])
    );
  end

  twofish_ring_memory #(
    .Width(64),
    .Depth(16 * Keys)
  ) u_round (
    .clk_i,
    .write_i     (write_round),
    .write_at_i  (round_at),
    .write_data_i(subkeys_q),
    .read_at_i   ({round_place_i, round_i}),
    .read_data_o (round_key_o)
  );

  for (genvar i = 0; i < 4; i++) begin : gen_s
    twofish_ring_memory #(
      .Width(32),
      .Depth(Keys)
    ) u_s (
      .clk_i,
      .write_i     (write_s),
      .write_at_i  (erase_q ? erase_at_q[KeyBits-1:0] : place_q),
      .write_data_i(s_q[i]),
      .read_at_i   (s_place_i[i]),
      .read_data_o (s_o[i])
    );
  end

endmodule

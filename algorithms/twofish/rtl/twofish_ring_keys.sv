// SPDX-License-Identifier: Apache-2.0
//
// The keys of twofish_ring: one engine that makes the 40 subkeys and the S-vector of a fresh key, and memories
// that hold them for every context, one for each use. The engine is a pipeline of lookups in block memory,
// one h a clock; the RS code is looked up too.
//
// Clocks from the last key beat until the key can be used: 57, whatever its length.
module twofish_ring_keys
  import core_pkg::*;
  import twofish_pkg::*;
#(
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts,

  localparam int unsigned NumberBits = $clog2(Contexts)
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output logic      busy_o,

  // Subkeys 0 to 3 or, second, 4 to 7, for a block that enters and for one that leaves; two clocks later. Of the
  // one that enters, the length of the key: 16 bytes, 32 bytes; in the same clock.
  input  logic   [NumberBits-1:0] in_key_i,
  input  logic                    in_second_i,
  output block_t                  in_o,
  output logic                    short_o,
  output logic                    long_o,
  input  logic   [NumberBits-1:0] out_key_i,
  input  logic                    out_second_i,
  output block_t                  out_o,

  // The pair of a round; two clocks later.
  input  logic  [NumberBits-1:0] round_key_i,
  input  logic  [           3:0] round_i,
  output pair_t                  round_key_o,

  // The words of the S-vector for layer D, C, B, A; two clocks later.
  input  logic  [3:0][NumberBits-1:0] s_key_i,
  output word_t [3:0]                 s_o
);

  // -- control --------------------------------------------------------------------------------------------

  logic running_q;  // subkeys are being made
  logic started_q;  // not in the middle of a key's beats
  logic [NumberBits-1:0] context_q;
  logic [5:0] step_q;  // h number step_q is being looked up; and 16 clocks more
  logic final_step;
  logic fresh;

  assign fresh      = req_i.key_valid && req_i.key_index == '0;
  assign final_step = step_q == 6'd55;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_o <= 1'b0;
    end else begin
      busy_o <= (req_i.key_valid || (busy_o && (running_q || !started_q))) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      running_q <= 1'b0;
      started_q <= 1'b1;
      context_q <= '0;
      step_q    <= '0;
    end else begin
      running_q <= (req_i.key_valid && req_i.key_last) || (running_q && !final_step);
      if (req_i.key_valid) started_q <= req_i.key_last;
      if (req_i.key_valid) context_q <= NumberBits'(req_i.key_context);
      step_q <= running_q ? step_q + 6'd1 : '0;
    end
  end

  // -- the key --------------------------------------------------------------------------------------------

  pair_t [3:0] m_q;
  logic long_q, short_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (clear_i.active || (fresh && i != 0)) m_q[i] <= '0;
      else if (req_i.key_valid && 32'(req_i.key_index[1:0]) == i) m_q[i] <= req_i.key;
    end
    if (clear_i.active) {long_q, short_q} <= '0;
    else if (req_i.key_valid) {long_q, short_q} <= {req_i.key_len[5:3] == 3'd4, req_i.key_len[5:3] == 3'd2};
  end

  ram_logic #(
    .Width(2),
    .Depth(Contexts),
    .Quiet(1'b1)
  ) u_lengths (
    .clk_i,
    .clear_i,
    .write_i     (running_q),
    .write_at_i  (context_q),
    .write_data_i({long_q, short_q}),
    .read_at_i   (in_key_i),
    .read_data_o ({long_o, short_o})
  );

  // -- the S-vector ---------------------------------------------------------------------------------------

  // Between key beats the key is zero.
  word_t [7:0] share, share_q;
  word_t [1:0] part_d, part_q;
  word_t [3:0] s_q;
  logic  [3:1] coded_q;

  twofish_code u_code (
    .clk_i,
    .key_i  (req_i.key),
    .share_o(share)
  );

  for (genvar i = 0; i < 2; i++) begin : gen_part
    assign part_d[i] = share_q[4*i] ^ share_q[4*i+1] ^ share_q[4*i+2] ^ share_q[4*i+3];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) coded_q <= '0;
    else coded_q <= {coded_q[2:1], req_i.key_valid} & {3{!clear_i.active}};
  end

  // The newest word is for layer D.
  always_ff @(posedge clk_i) begin
    share_q <= share;
    part_q  <= part_d;
    if (clear_i.active || fresh) s_q <= '0;
    else if (coded_q[3]) s_q <= {s_q[2:0], part_q[0] ^ part_q[1]};
  end

  // -- h --------------------------------------------------------------------------------------------------

  byte_t [1:0] raw_a, out_a_q;
  products_t [3:0] e_out;
  word_t b_q, b_out, c_q, c_out, d_q, d_out, e_q, h_q, former_q;
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

  twofish_lookups u_lookups (
    .clk_i,
    .enable_i(1'b1),
    .short_i (short_q),
    .b_i     (b_q),
    .c_i     (c_q),
    .d_i     (d_q),
    .e_i     (e_q),
    .b_o     (b_out),
    .c_o     (c_out),
    .d_o     (d_out),
    .e_o     (e_out)
  );

  word_t b_rotated;
  pair_t subkeys_q;
  assign b_rotated = rol8(h_q);

  // Block memory is slow: what it gives goes into its output register first.
  always_ff @(posedge clk_i) begin
    out_a_q  <= raw_a;
    b_q      <= {out_a_q[LayerA[3]], out_a_q[LayerA[2]], out_a_q[LayerA[1]], out_a_q[LayerA[0]]} ^ m[3];
    c_q      <= b_out ^ m[2];
    d_q      <= c_out ^ m[1];
    e_q      <= d_out ^ m[0];
    h_q      <= mds(e_out);
    former_q <= h_q;
    if (clear_i.active) subkeys_q <= '0;
    else subkeys_q <= {rol9(former_q + {b_rotated[30:0], 1'b0}), former_q + b_rotated};
  end

  // -- memories -------------------------------------------------------------------------------------------

  logic [4:0] pair;  // that subkeys_q is
  logic write;
  logic white, round;
  pair_t [3:0] whitening;

  assign pair  = step_q[5:1] - 5'd8;
  assign write = running_q && step_q >= 6'd17 && step_q[0];
  assign white = write && pair[4:2] == '0;
  assign round = write && pair[4:2] != '0;

  // Two copies, for what enters and what leaves, and two pairs in each.
  for (genvar i = 0; i < 4; i++) begin : gen_white
    ram_block #(
      .Width(64),
      .Depth(2 * Contexts),
      .Quiet(1'b1)
    ) u_white (
      .clk_i,
      .clear_i,
      .write_i     (white && pair[0] == 1'(i)),
      .write_at_i  ({context_q, pair[1]}),
      .write_data_i(subkeys_q),
      .read_i      (1'b1),
      .read_at_i   (i < 2 ? {in_key_i, in_second_i} : {out_key_i, out_second_i}),
      .read_data_o (whitening[i])
    );
  end

  assign {out_o, in_o} = whitening;

  ram_block #(
    .Width(64),
    .Depth(16 * Contexts),
    .Quiet(1'b1)
  ) u_round (
    .clk_i,
    .clear_i,
    .write_i     (round),
    .write_at_i  ({context_q, 4'(pair - 5'd4)}),
    .write_data_i(subkeys_q),
    .read_i      (1'b1),
    .read_at_i   ({round_key_i, round_i}),
    .read_data_o (round_key_o)
  );

  for (genvar i = 0; i < 4; i++) begin : gen_s
    ram_block #(
      .Width(32),
      .Depth(Contexts),
      .Quiet(1'b1)
    ) u_s (
      .clk_i,
      .clear_i,
      .write_i     (write),
      .write_at_i  (context_q),
      .write_data_i(s_q[i]),
      .read_i      (1'b1),
      .read_at_i   (s_key_i[i]),
      .read_data_o (s_o[i])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Twofish as a ring of 16 pipeline stages that make one round, with as many blocks inside, each under a key of
// its own. The layers of q are looked up in block memory, three stages each; layers that a shorter key has not
// are lookups of the byte itself. A block comes past the door every 16 clocks, and leaves there after its last
// round, when another may take its place.
//
// Cycles, for every key length and direction: a block every 16 clocks; from the block to its result 260 clocks.
// Key set-up: see twofish_ring_keys.
//
// A clear takes a clock for each of 16 words for each key, and 8 more.
module twofish_ring
  import core_pkg::*;
  import twofish_pkg::*;
#(
  // Keys that it holds.
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  localparam int unsigned Stages = 16;

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context

  // What goes along with a block: its key is one of 16 bytes, or of 32.
  localparam int unsigned ShortKey = 0;
  localparam int unsigned LongKey = 1;

  // -- the ring, four clocks ahead of the data -----------------------------------------------------------------

  ring_stage_t [Stages:1] stage;
  logic short_key, long_key;  // of the block that enters
  logic busy;
  number_t tail_key_q;  // of what came to the door a clock ago
  logic [2:1] tail_decrypt_q;  // and a clock and two clocks ago
  block_t result_q;

  ring_control #(
    .Stages(Stages),
    .Turns (16),
    .Tail  (4)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  ('{turns: 8'd15, enter: {2'b00, long_key, short_key}, around: stage[Stages].own, default: '0}),
    .stage_o (stage),
    .busy_i  (busy),
    .result_i(result_q),
    .rsp_o
  );

  always_ff @(posedge clk_i) begin
    tail_key_q     <= number_t'(stage[Stages].key);
    tail_decrypt_q <= {tail_decrypt_q[1], stage[Stages].decrypt};
  end

  // -- keys -----------------------------------------------------------------------------------------------

  block_t white_in, white_out;
  pair_t round_key;
  word_t [3:0] s;

  twofish_ring_keys #(
    .Contexts(Contexts)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .busy_o(busy),
    .in_key_i(number_t'(req_i.block_context)),
    .in_second_i(req_i.decrypt),
    .in_o(white_in),
    .short_o(short_key),
    .long_o(long_key),
    .out_key_i(tail_key_q),
    .out_second_i(!tail_decrypt_q[1]),
    .out_o(white_out),
    .round_key_i(number_t'(stage[Stages].key)),
    .round_i(stage[Stages].left[3:0] ^ {4{!stage[Stages].decrypt}}),
    .round_key_o(round_key),
    .s_key_i({
      number_t'(stage[4].key), number_t'(stage[7].key), number_t'(stage[10].key), number_t'(stage[13].key)
    }),
    .s_o(s)
  );

  logic unused;
  assign unused = ^stage;

  // -- the way in -----------------------------------------------------------------------------------------

  block_t block_1_q, block_2_q, entered_q;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      block_1_q <= '0;
      block_2_q <= '0;
      entered_q <= '0;
    end else begin
      block_1_q <= req_i.block;
      block_2_q <= block_1_q;
      entered_q <= block_2_q ^ white_in;
    end
  end

  // -- a round --------------------------------------------------------------------------------------------

  // Clock 0: x_q = (R0, R1), target_q = (R2, R3). They wait in memory while g is made of x_q, 14 clocks with what
  // it takes to write and to read, and the transform.
  pair_t x_d, x_q, target_q, x_mixed;
  pair_t waiting_x, waiting_target, waiting_x_q, waiting_target_q, f_q;
  word_t [1:0] g_in, t_q;
  word_t f0, f1;
  logic [3:0] write_at_q;

  ram_block #(
    .Width(128),
    .Depth(16),
    .Quiet(1'b1)
  ) u_waiting (
    .clk_i,
    .clear_i,
    .write_i     (1'b1),
    .write_at_i  (write_at_q),
    .write_data_i({target_q, x_q}),
    .read_i      (1'b1),
    .read_at_i   (write_at_q - 4'd12),
    .read_data_o ({waiting_target, waiting_x})
  );

  always_ff @(posedge clk_i) begin
    if (clear_i.active) write_at_q <= '0;
    else write_at_q <= write_at_q + 4'd1;
  end

  assign g_in = {rol8(x_q[63:32]), x_q[31:0]};

  for (genvar g = 0; g < 2; g++) begin : gen_g
    twofish_ring_g u_g (
      .clk_i,
      .clear_i,
      .x_i    (g_in[g]),
      .long_i (stage[4].own[LongKey]),
      .short_i(stage[7].own[ShortKey]),
      .s_i    (s),
      .t_o    (t_q[g])
    );
  end

  assign {f1, f0} = transform(t_q[0], t_q[1], round_key);

  assign x_mixed = waiting_target_q ^ f_q;
  assign x_d = stage[3].first ? entered_q[63:0] : x_mixed;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      waiting_x_q      <= '0;
      waiting_target_q <= '0;
      f_q              <= '0;
      x_q              <= '0;
      target_q         <= '0;
      result_q         <= '0;
    end else begin
      // In encryption the first word is rotated right behind the mixing and the second left before it, in
      // decryption the first left before it and the second right behind it.
      waiting_x_q <= waiting_x;
      if (tail_decrypt_q[2]) begin
        waiting_target_q <= {ror1(waiting_target[63:32]), rol1(waiting_target[31:0])};
        f_q              <= {ror1(f1), f0};
      end else begin
        waiting_target_q <= {rol1(waiting_target[63:32]), ror1(waiting_target[31:0])};
        f_q              <= {f1, ror1(f0)};
      end
      x_q      <= x_d;
      target_q <= stage[3].first ? entered_q[127:64] : waiting_x_q;
      result_q <= {x_mixed, waiting_x_q} ^ white_out;
    end
  end

endmodule

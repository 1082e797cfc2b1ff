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
  parameter int unsigned Contexts = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  localparam int unsigned Stages = 16;

  typedef logic [$clog2(Contexts)-1:0] number_t;  // of a context

  typedef struct packed {
    logic    decrypt;
    logic    short_key;  // of 16 bytes
    logic    long_key;   // of 32 bytes
    number_t key;
  } along_t;

  // -- the ring, four clocks ahead of the data -----------------------------------------------------------------

  along_t [Stages:1] along;
  along_t entering;
  logic [Stages:1][3:0] left;
  logic [Stages:1] first;
  number_t tail_key_q;  // of what came to the door a clock ago
  logic [2:1] tail_decrypt_q;  // and a clock and two clocks ago
  logic unused_enter, unused_leave;
  logic [2*Stages-1:0] unused_stages;

  assign entering.decrypt = req_i.decrypt;
  assign entering.key     = number_t'(req_i.block_context);

  ring_control #(
    .Stages(Stages),
    .Turns (16),
    .Tail  (4),
    .Width ($bits(along_t))
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .block_valid_i  (req_i.block_valid),
    .block_ready_o  (rsp_o.block_ready),
    .block_ticket_o (rsp_o.block_ticket),
    .enter_o        (unused_enter),
    .leave_o        (unused_leave),
    .drop_i         (1'b0),
    .turns_i        (4'd15),
    .enter_i        (entering),
    .around_i       (along[Stages]),
    .valid_o        (unused_stages[Stages-1:0]),
    .first_o        (first),
    .last_o         (unused_stages[2*Stages-1:Stages]),
    .left_o         (left),
    .along_o        (along),
    .result_valid_o (rsp_o.result_valid),
    .result_ticket_o(rsp_o.result_ticket)
  );

  always_ff @(posedge clk_i) begin
    tail_key_q     <= along[Stages].key;
    tail_decrypt_q <= {tail_decrypt_q[1], along[Stages].decrypt};
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
    .busy_o      (rsp_o.key_busy),
    .in_key_i    (entering.key),
    .in_second_i (req_i.decrypt),
    .in_o        (white_in),
    .short_o     (entering.short_key),
    .long_o      (entering.long_key),
    .out_key_i   (tail_key_q),
    .out_second_i(!tail_decrypt_q[1]),
    .out_o       (white_out),
    .round_key_i (along[Stages].key),
    .round_i     (left[Stages] ^ {4{!along[Stages].decrypt}}),
    .round_key_o (round_key),
    .s_key_i     ({along[4].key, along[7].key, along[10].key, along[13].key}),
    .s_o         (s)
  );

  logic unused;
  assign unused = ^{first, left, along};

  // -- the way in -----------------------------------------------------------------------------------------

  block_t block_1_q, block_2_q, entered_q, result_q;

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
      .long_i (along[4].long_key),
      .short_i(along[7].short_key),
      .s_i    (s),
      .t_o    (t_q[g])
    );
  end

  // Sums of three: saved carries, then one adder.
  function automatic word_t sum3(input word_t a, input word_t b, input word_t c);
    return (a ^ b ^ c) + (((a & b) | (a & c) | (b & c)) << 1);
  endfunction

  assign f0 = sum3(t_q[0], t_q[1], round_key[31:0]);
  assign f1 = sum3(t_q[0], {t_q[1][30:0], 1'b0}, round_key[63:32]);

  assign x_mixed = waiting_target_q ^ f_q;
  assign x_d = first[3] ? entered_q[63:0] : x_mixed;

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
      target_q <= first[3] ? entered_q[127:64] : waiting_x_q;
      result_q <= {x_mixed, waiting_x_q} ^ white_out;
    end
  end

  assign rsp_o.result = result_q;

endmodule

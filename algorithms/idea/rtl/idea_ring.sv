// SPDX-License-Identifier: Apache-2.0
//
// IDEA as a ring of nine pipeline stages, one round long, with nine blocks inside, each under a key of its own:
//   A1 to A3   y1 = x1 * Z1, y2 = x2 + Z2, y3 = x3 + Z3, y4 = x4 * Z4; p = y1 ^ y3, q = y2 ^ y4
//   B1 to B3   s = p * Z5; w = s + q
//   C1 to C3   t = w * Z6; x1 = y1 ^ t, x2 = y3 ^ t, and with u = s + t x3 = y2 ^ u, x4 = y4 ^ u
// A block goes round eight times and leaves after stage A3 of the ninth turn. Its words enter in stage A1, two clocks
// behind the door.
//
// Cycles: a block every 9 clocks with all slots in use; 78 clocks from the block to its result. Key set-up: 171
// clocks from the last key beat, for both directions, with a multiplier of its own.
module idea_ring
  import core_pkg::*;
  import idea_pkg::*;
#(
  // MulLowHigh or MulBiham.
  parameter int unsigned Multiplier = MulBiham,
  // Keys that it holds.
  parameter int unsigned Contexts   = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o
);

  localparam int unsigned KeyBits = $clog2(Contexts);

  // -- the ring -------------------------------------------------------------------------------------------

  typedef struct packed {
    word_t y1;
    word_t y2;
    word_t y3;
    word_t y4;
  } held_t;

  ring_stage_t [9:1] stage;
  held_t [6:1] held_q;  // from B1 to C3 of the round
  logic busy_q;

  ring_control #(
    .Stages(9),
    .Turns (Rounds + 1),
    .Tail  (6),
    .Early (1'b1)
  ) u_control (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .door_i  ('{turns: 8'(Rounds), default: '0}),
    .stage_o (stage),
    .busy_i  (busy_q),
    .result_i(128'(block_of(held_q[1].y1, held_q[1].y3, held_q[1].y2, held_q[1].y4))),
    .rsp_o
  );

  // -- keys -----------------------------------------------------------------------------------------------

  // The multiplications by Z1, Z4, Z5 and Z6, and that of the key schedule.
  localparam int unsigned Key = 4;

  word_t [Key:0] x, k;
  product_t [Key:0] m;

  for (genvar n = 0; n <= Key; n++) begin : gen_mul
    idea_mul #(
      .Multiplier(Multiplier),
      .ProductReg(1'b1),
      .SumReg    (1'b1)
    ) u_mul (
      .clk_i,
      .product_i(1'b1),
      .x_i      (x[n]),
      .k_i      (k[n]),
      .y_o      (m[n])
    );
  end

  logic idle;
  subkey_t subkey;
  word_t [Roles-1:0] z_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= !idle || req_i.key_valid;
  end

  idea_key_schedule u_key_schedule (
    .clk_i,
    .clear_i,
    .req_i,
    .idle_o  (idle),
    .subkey_o(subkey),
    .mul_x_o (x[Key]),
    .mul_k_o (k[Key]),
    .mul_y_i (m[Key].y)
  );

  // A subkey is written a clock after it was made; the memories are far from where that is. They count the turns
  // that are left.
  logic write_clear_q, write_valid_q;
  logic [KeyBits+4:0] write_at_q;
  role_t write_role_q;
  word_t written_q;

  always_ff @(posedge clk_i) begin
    write_clear_q <= clear_i.active;
    write_valid_q <= subkey.valid;
    write_role_q  <= subkey.role;
    if (clear_i.active) begin
      write_at_q <= clear_i.index[KeyBits+4:0];
      written_q  <= '0;
    end else begin
      write_at_q <= {subkey.number[KeyBits-1:0], subkey.decrypt, round_t'(Rounds) - subkey.round};
      written_q  <= subkey.word;
    end
  end

  for (genvar r = 0; r < Roles; r++) begin : gen_subkey
    // No word is read for a block while it is written: none is inside under a key that is being made.
    (* ram_style = "block", no_rw_check *) word_t memory[Contexts*32];
    word_t fetched_q;

    always_ff @(posedge clk_i) begin
      if (write_clear_q || (write_valid_q && write_role_q == role_t'(r))) memory[write_at_q] <= written_q;
    end
    always_ff @(posedge clk_i) begin
      fetched_q <= memory[{stage[1].key[KeyBits-1:0], stage[1].decrypt, stage[1].left[3:0]}];
      z_q[r]    <= fetched_q;
    end
  end

  // -- the round ------------------------------------------------------------------------------------------

  // What is numbered by clocks: [1] is a clock behind what it is made of.
  block_t block1_q, block2_q;
  word_t x1_q, x2_q, x3_q, x4_q;  // in A1
  word_t x1_d, x2_d, x3_d, x4_d;
  word_t [2:1] y2_q, y3_q;
  word_t [3:1] z5_q;
  word_t [6:1] z6_q;
  word_t y1, y4, p_q, q_q, s, w_q, t, u;
  word_t [3:1] s_q;

  // A clear empties x, and then all stages behind it.
  always_ff @(posedge clk_i) begin
    block1_q <= req_i.block[63:0];
    block2_q <= block1_q;
    if (clear_i.active) begin
      x1_q <= '0;
      x2_q <= '0;
      x3_q <= '0;
      x4_q <= '0;
    end else begin
      x1_q <= stage[2].first ? word_of(block2_q, 0) : x1_d;
      x2_q <= stage[2].first ? word_of(block2_q, 1) : x2_d;
      x3_q <= stage[2].first ? word_of(block2_q, 2) : x3_d;
      x4_q <= stage[2].first ? word_of(block2_q, 3) : x4_d;
    end
  end

  assign x[Key-1:0] = {w_q, p_q, x4_q, x1_q};
  assign k[Key-1:0] = {z6_q[6], z5_q[3], z_q[3], z_q[0]};
  assign y1         = m[0].y;
  assign y4         = m[1].y;
  assign s          = m[2].y;
  assign t          = m[3].y;

  always_ff @(posedge clk_i) begin
    z5_q   <= {z5_q[2:1], z_q[4]};
    z6_q   <= {z6_q[5:1], z_q[5]};
    y2_q   <= {y2_q[1], x2_q + z_q[1]};
    y3_q   <= {y3_q[1], x3_q + z_q[2]};
    p_q    <= y1 ^ y3_q[2];
    held_q <= {held_q[5:1], y1, y2_q[2], y3_q[2], y4};
    q_q    <= held_q[2].y2 ^ held_q[2].y4;
    w_q    <= s + q_q;
    s_q    <= {s_q[2:1], s};
  end

  assign u    = s_q[3] + t;
  assign x1_d = held_q[6].y1 ^ t;
  assign x2_d = held_q[6].y3 ^ t;
  assign x3_d = held_q[6].y2 ^ u;
  assign x4_d = held_q[6].y4 ^ u;

  logic unused;
  assign unused = ^{stage, m};

endmodule

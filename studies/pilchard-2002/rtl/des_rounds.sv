// SPDX-License-Identifier: Apache-2.0
//
// The DES core of Table 2: so many of the sixteen rounds one behind the other between registers, as often around as it
// takes; or, Pipelined, all sixteen with a register behind each, a block a clock. ECB, both directions, raw key. Block
// and key come with byte 0 at bits 7:0.
//
// Cycles: a block every 16 / RoundsPerClock clocks, its result that many clocks behind it and one; Pipelined: a block
// every clock, its result 17 clocks behind it.
module des_rounds
  import des_pkg::*;
#(
  // 1, 2, 4, 8 or 16; Pipelined: 16.
  parameter int unsigned RoundsPerClock = 16,
  parameter bit          Pipelined      = 1'b0
) (
  input  logic   clk_i,
  // A block is taken. Not Pipelined: at the earliest 16 / RoundsPerClock clocks after the one before.
  input  logic   start_i,
  input  logic   decrypt_i,
  input  block_t key_i,
  input  block_t block_i,
  output logic   valid_o,
  output block_t block_o
);

  if (!(RoundsPerClock inside {1, 2, 4, 8, 16}) || (Pipelined && RoundsPerClock != 16)) begin : gen_illegal
    $error("des_rounds: RoundsPerClock must be 1, 2, 4, 8 or 16, and 16 if Pipelined");
  end

  // The block between two rounds, and C and D moved for the next one. Deciphering takes the round keys in reverse,
  // and the shifts read the same from both ends: C and D are turned end to end, and so are the round keys' choices.
  typedef struct packed {
    half_t l;
    half_t r;
    key_t  cd;
    logic  decrypt;
  } state_t;

  localparam int unsigned Clocks = 16 / RoundsPerClock;
  localparam int unsigned CountWidth = Clocks > 1 ? $clog2(Clocks) : 1;

  function automatic state_t entered(input block_t block, input block_t key, input logic decrypt);
    state_t s;
    key_t   cd;
    {s.l, s.r} = initial_permutation(block);
    cd         = permuted_choice_1(key);
    s.cd       = decrypt ? turn(cd) : rotate_left_1(cd);
    s.decrypt  = decrypt;
    return s;
  endfunction

  // For each clock, whether the shift behind round i of that clock is of one place.
  function automatic logic [Clocks-1:0] shifts_once(input int unsigned i);
    logic [Clocks-1:0] once;
    for (int unsigned c = 0; c < Clocks; c++) once[c] = Shifts[(c*RoundsPerClock+i+1)%16] == 1;
    return once;
  endfunction

  // In front of and behind each round: no loop, although one signal.
  /* verilator lint_off UNOPTFLAT */
  state_t [RoundsPerClock-1:0] stage;
  state_t [RoundsPerClock-1:0] behind;
  /* verilator lint_on UNOPTFLAT */
  logic [CountWidth-1:0] count_q;

  for (genvar i = 0; i < RoundsPerClock; i++) begin : gen_round
    localparam logic [Clocks-1:0] Once = shifts_once(i);

    des_round u_round (
      .l_i(stage[i].l),
      .r_i(stage[i].r),
      .k_i(permuted_choice_2(stage[i].decrypt ? turn(stage[i].cd) : stage[i].cd)),
      .r_o(behind[i].r)
    );
    assign behind[i].l       = stage[i].r;
    assign behind[i].cd      = Once[count_q] ? rotate_left_1(stage[i].cd) : rotate_left_2(stage[i].cd);
    assign behind[i].decrypt = stage[i].decrypt;
  end

  if (Pipelined) begin : gen_pipeline
    logic [16:0] valid_q;

    assign count_q = '0;

    always_ff @(posedge clk_i) begin
      stage   <= {behind[14:0], entered(block_i, key_i, decrypt_i)};
      valid_q <= {valid_q[15:0], start_i};
      block_o <= final_permutation({behind[15].r, behind[15].l});
    end

    assign valid_o = valid_q[16];
  end else begin : gen_around
    state_t state_q;
    logic busy_q, last;

    if (RoundsPerClock == 1) begin : gen_one
      assign stage = state_q;
    end else begin : gen_more
      assign stage = {behind[RoundsPerClock-2:0], state_q};
    end
    assign last = count_q == CountWidth'(Clocks - 1);

    always_ff @(posedge clk_i) begin
      valid_o <= busy_q && last;
      if (busy_q && last)
        block_o <= final_permutation({behind[RoundsPerClock-1].r, behind[RoundsPerClock-1].l});
      if (start_i) begin
        state_q <= entered(block_i, key_i, decrypt_i);
        busy_q  <= 1'b1;
        count_q <= '0;
      end else begin
        state_q <= behind[RoundsPerClock-1];
        if (last) busy_q <= 1'b0;
        if (Clocks > 1) count_q <= count_q + CountWidth'(1);
      end
    end
  end

endmodule

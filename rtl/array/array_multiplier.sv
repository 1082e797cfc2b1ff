// SPDX-License-Identifier: Apache-2.0
//
// The low half of a product, or of x(2x + 1), rotated left by five or not; or, of a product without carries, the low
// half, the high half, or the XOR of both, which is the product modulo x^32 + 1.
//
// Either product's registers are zero while the other one is computed, so that one XOR joins them.
//
// Latency: operands are read in clock t + 1 for the context of clock t, the result is there in clock t + 5.
module array_multiplier (
  input  logic        clk_i,
  // b is the key's word; high half and low half without carries; rotate; x(2x + 1).
  input  logic [ 4:0] op_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [31:0] key_i,
  output logic [31:0] result_o
);

  logic [4:0] op1_q;
  logic [3:0] op2_q, op3_q;
  logic [2:0] op4_q;
  logic [31:0] a_q, b_q, b, low_q, product, carryless;
  logic [15:0] a_high_q, a_low_q, b_high_q, b_low_q, cross_q, cross2_q;
  // Of halves without carries: low by low, high by high, and the products of the sums.
  logic [30:0] lows_q, highs_q, sums_q, middle;

  // The product of two halves without carries.
  function automatic logic [30:0] times(logic [15:0] x, logic [15:0] y);
    times = '0;
    for (int i = 0; i < 16; i++) if (y[i]) times ^= 31'(x) << i;
  endfunction

  assign b = op2_q[0] ? {a_q[30:0], 1'b1} : b_q;
  assign product = low_q + {cross_q + cross2_q, 16'd0};
  assign middle = lows_q ^ highs_q ^ sums_q;
  assign carryless = ({middle[15:0], 16'd0} ^ {1'b0, lows_q}) & {32{op4_q[1]}}
      ^ ({17'd0, middle[30:16]} ^ {1'b0, highs_q}) & {32{op4_q[2]}};

  always_ff @(posedge clk_i) begin
    op1_q               <= op_i;
    op2_q               <= op1_q[3:0];
    op3_q               <= op2_q;
    op4_q               <= op3_q[3:1];
    a_q                 <= a_i;
    b_q                 <= op1_q[4] ? key_i : b_i;
    {a_high_q, a_low_q} <= a_q;
    {b_high_q, b_low_q} <= b;
    low_q               <= a_low_q * b_low_q;
    cross_q             <= a_high_q * b_low_q;
    cross2_q            <= a_low_q * b_high_q;
    lows_q              <= times(a_low_q, b_low_q);
    highs_q             <= times(a_high_q, b_high_q);
    sums_q              <= times(a_high_q ^ a_low_q, b_high_q ^ b_low_q);
    if (op3_q[3:2] != 2'd0) begin
      low_q    <= '0;
      cross_q  <= '0;
      cross2_q <= '0;
    end else begin
      lows_q  <= '0;
      highs_q <= '0;
      sums_q  <= '0;
    end
    result_o <= (op4_q[0] ? {product[26:0], product[31:27]} : product) ^ carryless;
  end

endmodule

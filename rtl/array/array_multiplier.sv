// SPDX-License-Identifier: Apache-2.0
//
// The low half of a product, or of x(2x + 1), rotated left by five or not.
//
// Latency: operands are read in clock t + 1 for the context of clock t, the result is there in clock t + 5.
module array_multiplier (
  input  logic        clk_i,
  // Rotate; x(2x + 1).
  input  logic [ 1:0] op_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] result_o
);

  logic [1:0] op1_q, op2_q;
  logic rotate3_q, rotate4_q;
  logic [31:0] a_q, b_q, b, low_q, product;
  logic [15:0] a_high_q, a_low_q, b_high_q, b_low_q, cross_q, cross2_q;

  assign b       = op2_q[0] ? {a_q[30:0], 1'b1} : b_q;
  assign product = low_q + {cross_q + cross2_q, 16'd0};

  always_ff @(posedge clk_i) begin
    op1_q               <= op_i;
    op2_q               <= op1_q;
    rotate3_q           <= op2_q[1];
    rotate4_q           <= rotate3_q;
    a_q                 <= a_i;
    b_q                 <= b_i;
    {a_high_q, a_low_q} <= a_q;
    {b_high_q, b_low_q} <= b;
    low_q               <= a_low_q * b_low_q;
    cross_q             <= a_high_q * b_low_q;
    cross2_q            <= a_low_q * b_high_q;
    result_o            <= rotate4_q ? {product[26:0], product[31:27]} : product;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Rotations and shifts. A constant amount is one of a rotation to the left; what a shift leaves is cut out by a
// mask. An amount that is an operand, or a key's, rotates to either side.
//
// Latency: operands are read in clock t + 1 for the context of clock t, the result is there in clock t + 4.
module array_rotator (
  input  logic        clk_i,
  // Shift, right, constant.
  input  logic [ 2:0] op_i,
  input  logic [ 4:0] constant_i,
  input  logic [31:0] value_i,
  input  logic [ 4:0] amount_i,
  input  logic        key_use_i,
  input  logic [ 4:0] key_i,
  output logic [31:0] result_o
);

  logic [2:0] op1_q;
  logic [4:0] constant_q, amount, amount_q;
  logic [2:0] amount2_q;
  logic right_q;
  logic [31:0] mask, mask_q, mask2_q, value_q, one, coarse, coarse_q, fine;

  function automatic logic [31:0] left(logic [31:0] value, int unsigned by);
    return (value << by) | (value >> ((32 - by) % 32));
  endfunction

  // To the right by n is to the left by the complement of n, and by one more.
  always_comb begin
    if (op1_q[0]) amount = constant_q;
    else amount = (key_use_i ? key_i : amount_i) ^ {5{op1_q[1]}};
    for (int i = 0; i < 32; i++) mask[i] = !op1_q[2] || ((i < 32'(constant_q)) == op1_q[1]);
    one = right_q ? left(value_q, 1) : value_q;
    unique case (amount_q[4:3])
      2'd0: coarse = one;
      2'd1: coarse = left(one, 8);
      2'd2: coarse = left(one, 16);
      default: coarse = left(one, 24);
    endcase
    unique case (amount2_q)
      3'd0: fine = coarse_q;
      3'd1: fine = left(coarse_q, 1);
      3'd2: fine = left(coarse_q, 2);
      3'd3: fine = left(coarse_q, 3);
      3'd4: fine = left(coarse_q, 4);
      3'd5: fine = left(coarse_q, 5);
      3'd6: fine = left(coarse_q, 6);
      default: fine = left(coarse_q, 7);
    endcase
  end

  always_ff @(posedge clk_i) begin
    op1_q      <= op_i;
    constant_q <= constant_i;
    amount_q   <= amount;
    right_q    <= op1_q[1] && !op1_q[0];
    value_q    <= value_i;
    mask_q     <= mask;
    amount2_q  <= amount_q[2:0];
    coarse_q   <= coarse;
    mask2_q    <= mask_q;
    result_o   <= fine & mask2_q;
  end

endmodule

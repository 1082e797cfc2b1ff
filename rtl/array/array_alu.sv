// SPDX-License-Identifier: Apache-2.0
//
// Sums of three operands, each but the first with either sign, and all bit functions of three; or of two.
// The last operand may come from the key memory.
//
// Latency: operands are read in clock t + 1 for the context of clock t, the result is there in clock t + 3.
module array_alu
  import array_pkg::*;
(
  input  logic                         clk_i,
  input  logic [            8:0]       op_i,
  input  logic [AluOperands-1:0][31:0] operands_i,
  input  logic                         key_use_i,
  input  logic [           31:0]       key_i,
  output logic [           31:0]       result_o
);

  localparam int unsigned Last = AluOperands - 1;
  localparam int unsigned Inner = AluOperands - 2;

  logic [8:0] op1_q, op2_q;
  logic minus_inner, minus_last, without_last, without_first;
  logic [AluOperands-1:0][31:0] operand_q;
  logic [31:0] a, b, c, bits, carries, sum;

  assign minus_inner   = op1_q[8] && op1_q[0];
  assign minus_last    = op1_q[8] && op1_q[1];
  assign without_last  = op1_q[8] && op1_q[2];
  assign without_first = op1_q[8] && op1_q[3];

  always_ff @(posedge clk_i) begin
    op1_q <= op_i;
    op2_q <= op1_q;
    for (int i = 0; i < AluOperands; i++) begin
      operand_q[i] <= operands_i[i] ^ {32{(i == Inner) && minus_inner}};
    end
    operand_q[Last] <= (key_use_i ? key_i : operands_i[Last]) ^ {32{minus_last}};
    if (without_last) operand_q[Last] <= '0;
    if (AluOperands > 2 && without_first) operand_q[0] <= '0;
  end

  assign a = operand_q[0];
  assign b = operand_q[1];
  assign c = AluOperands > 2 ? operand_q[Last] : '0;

  for (genvar i = 0; i < 32; i++) begin : gen_bit
    if (AluOperands > 2) begin : gen_three
      array_mux8 u_mux (
        .bits_i(op2_q[7:0]),
        .select_i({c[i], b[i], a[i]}),
        .bit_o(bits[i])
      );
    end else begin : gen_two
      assign bits[i] = op2_q[{1'b0, b[i], a[i]}];
    end
  end

  // Each operand that is subtracted adds one at its own free place: below the carries, and into the adder.
  if (AluOperands > 2) begin : gen_save
    assign carries = {(a[30:0] & b[30:0]) | (c[30:0] & (a[30:0] | b[30:0])), op2_q[1]};
    assign sum = 32'(({a ^ b ^ c, 1'b1} + {carries, op2_q[0]}) >> 1);
  end else begin : gen_add
    assign carries = '0;
    assign sum = 32'(({a, 1'b1} + {b, op2_q[0] || op2_q[1]}) >> 1);
  end

  always_ff @(posedge clk_i) result_o <= op2_q[8] ? sum : bits;

endmodule

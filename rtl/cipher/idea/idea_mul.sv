// SPDX-License-Identifier: Apache-2.0
//
// The multiplication of IDEA: modulo 2^16 + 1, where a word of zero stands for 2^16. Both ways that Granado et
// al. (2004) name are here; they differ in what they do about a data word of zero.
//
// MulLowHigh, Lai's low-high algorithm: the operand becomes 2^16 in front of the multiplier, and with
// product = hi * 2^16 + lo the result is lo - hi, or lo - hi + 2^16 + 1 if that is negative.
// MulBiham, Biham's improvement: the words are multiplied as they are, at once; a product of zero, which shows
// beside the multiplier, is replaced behind it: the result is then 1 - x - k. Faster and larger.
//
// The subkey comes as k - 1, and the multiplier takes it as k - (2^16 + 1), which is the same residue and
// merely a negative number with k - 1 in its lower bits: a subkey of zero is no special case, and
// lo - hi = lo + ~hi + 1 needs no more than to leave out that 1 if lo + ~hi carries.
//
// Clocks: 0, and 1 for each of ProductReg and SumReg.
module idea_mul
  import idea_pkg::*;
#(
  // MulLowHigh or MulBiham.
  parameter int unsigned Multiplier = MulBiham,
  // A register behind the multiplier proper.
  parameter bit          ProductReg = 1'b0,
  // A register behind the two sums, in front of the choice between them.
  parameter bit          SumReg     = 1'b0
) (
  input  logic  clk_i,
  input  word_t x_i,
  input  word_t k_i,    // the subkey less one
  output word_t y_o,    // the product
  // The same as a sum: y = sum + one.
  output word_t sum_o,
  output logic  one_o
);

  if (!(Multiplier inside {MulLowHigh, MulBiham})) begin : gen_illegal
    $error("idea_mul: Multiplier must be MulLowHigh or MulBiham");
  end

  logic zero;
  logic signed [17:0] x, k;
  logic signed [35:0] product_d, product;
  word_t instead_d, instead;  // for Biham: the bits of hi if there were no special case, else zero
  word_t lo, hi;
  word_t sum0_d, sum1_d, sum0, sum1;
  logic carry_d, carry;

  assign zero      = x_i == '0;
  assign x         = {1'b0, Multiplier == MulLowHigh && zero, x_i};
  assign k         = {2'b11, k_i};
  assign product_d = x * k;
  assign instead_d = Multiplier == MulBiham && zero ? k_i : '0;

  if (ProductReg) begin : gen_product
    always_ff @(posedge clk_i) begin
      product <= product_d;
      instead <= instead_d;
    end
  end else begin : gen_no_product
    assign product = product_d;
    assign instead = instead_d;
  end

  assign lo                = product[15:0];
  assign hi                = product[31:16] | instead;

  assign {carry_d, sum0_d} = {1'b0, lo} + {1'b0, ~hi};
  assign sum1_d            = lo + ~hi + 16'd1;

  if (SumReg) begin : gen_sum
    always_ff @(posedge clk_i) begin
      sum0  <= sum0_d;
      sum1  <= sum1_d;
      carry <= carry_d;
    end
  end else begin : gen_no_sum
    assign sum0  = sum0_d;
    assign sum1  = sum1_d;
    assign carry = carry_d;
  end

  assign y_o   = carry ? sum0 : sum1;
  assign sum_o = sum0;
  assign one_o = !carry;

  logic unused;
  assign unused = ^{clk_i, product[35:32]};

endmodule

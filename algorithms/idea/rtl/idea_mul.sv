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
// merely a negative number with k - 1 in its lower bits. So a subkey of zero is no special case, and as hi is
// negative, the result is lo - hi - 1 if that reaches 2^16, and lo - hi if not: two plain differences.
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
  input  logic     clk_i,
  input  logic     product_i,  // ProductReg takes a product
  input  word_t    x_i,
  input  word_t    k_i,        // the subkey less one
  output product_t y_o
);

  if (!(Multiplier inside {MulLowHigh, MulBiham})) begin : gen_illegal
    $error("idea_mul: Multiplier must be MulLowHigh or MulBiham");
  end

  (* keep *) logic zero;  // not to be dissolved in the bits that it patches
  logic signed [17:0] x, k;
  logic signed [35:0] product_d, product;
  word_t patch_d, patch_p, patch;  // for Biham: the result if x is zero, else zero
  word_t sum0_d, sum1_d, sum0, sum1;
  logic one_d, one, below;

  assign zero      = x_i == '0;
  assign x         = {1'b0, Multiplier == MulLowHigh && zero, x_i};
  assign k         = {2'b11, k_i};
  assign product_d = x * k;
  assign patch_d   = Multiplier == MulBiham ? -k_i & {16{zero}} : '0;

  if (ProductReg) begin : gen_product
    always_ff @(posedge clk_i) begin
      if (product_i) begin
        product <= product_d;
        patch_p <= patch_d;
      end
    end
  end else begin : gen_no_product
    assign product = product_d;
    assign patch_p = patch_d;
  end

  // lo - hi - 1, and whether it is negative; lo - hi.
  assign {one_d, sum0_d, below} = {1'b0, product[15:0], 1'b0} - {1'b0, product[31:16], 1'b1};
  assign sum1_d                 = product[15:0] - product[31:16];

  if (SumReg) begin : gen_sum
    always_ff @(posedge clk_i) begin
      sum0  <= sum0_d;
      sum1  <= sum1_d;
      one   <= one_d;
      patch <= patch_p;
    end
  end else begin : gen_no_sum
    assign sum0  = sum0_d;
    assign sum1  = sum1_d;
    assign one   = one_d;
    assign patch = patch_p;
  end

  always_comb begin
    y_o.rest  = one ? sum1 : sum0;
    y_o.y     = y_o.rest ^ patch;
    y_o.part  = sum0;
    y_o.patch = patch;
    y_o.one   = one;
  end

  logic unused;
  assign unused = ^{clk_i, product_i, product[35:32], below};

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// IDEA's multiplication modulo 2^16 + 1, where zero stands for 2^16: the low-high algorithm as Biham improves it. The
// words are multiplied as they are; with product = hi * 2^16 + lo the result is lo - hi, and one more if that is
// negative; a product of zero is replaced by 1 - x - k.
//
// Clocks: none, or with Registers three (behind the multiplier, the difference and the choice).
module idea_multiply #(
  parameter bit Registers = 1'b0
) (
  input  logic        clk_i,
  input  logic [15:0] x_i,
  input  logic [15:0] k_i,
  output logic [15:0] y_o
);

  logic [31:0] product_d, product;
  logic [15:0] patch_d, patch_p, patch, difference_d, difference, y;
  logic zero_d, zero_p, zero, below_d, below;

  assign product_d               = x_i * k_i;
  assign patch_d                 = 16'd1 - x_i - k_i;
  assign zero_d                  = x_i == '0 || k_i == '0;
  assign {below_d, difference_d} = {1'b0, product[15:0]} - {1'b0, product[31:16]};
  assign y                       = zero ? patch : difference + 16'(below);

  if (Registers) begin : gen_registers
    always_ff @(posedge clk_i) begin
      {product, patch_p, zero_p}       <= {product_d, patch_d, zero_d};
      {difference, below, patch, zero} <= {difference_d, below_d, patch_p, zero_p};
      y_o                              <= y;
    end
  end else begin : gen_none
    logic unused;
    assign {product, patch_p, zero_p}       = {product_d, patch_d, zero_d};
    assign {difference, below, patch, zero} = {difference_d, below_d, patch_p, zero_p};
    assign y_o                              = y;
    assign unused                           = clk_i;
  end

endmodule

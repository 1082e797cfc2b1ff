// SPDX-License-Identifier: Apache-2.0
//
// The paper's future work: IDEA under a key that is known when it is configured. The 34 multiplications and 18 sums with
// subkeys are LUTs with other contents for each key; all else is the same. A key that encrypts. Words as in idea_paths.
//
// Cycles: a block every clock, its result 8 * 9 + 3 clocks behind it.
module idea_constant
  import idea_paths_pkg::*;
#(
  // Its first bit in bit 127.
  parameter logic [127:0] Key = '0
) (
  input logic clk_i,

  input  word_t [3:0] block_i,
  output word_t [3:0] block_o
);

  localparam int unsigned Phases = 8;
  localparam int unsigned Subkeys = 6 * Phases + 4;

  // Eight words of the key, which turns left by 25 bits for each eight more.
  function automatic logic [Subkeys-1:0][15:0] subkeys();
    logic [127:0] key;
    logic [Subkeys-1:0][15:0] z;
    key = Key;
    for (int unsigned i = 0; i < Subkeys; i++) begin
      z[i] = key[127-16*(i%8)-:16];
      if (i % 8 == 7) key = {key[102:0], key[127:103]};
    end
    return z;
  endfunction

  localparam logic [Subkeys-1:0][15:0] Z = subkeys();

  word_t [3:0] x[Phases+1];
  word_t b, c;
  word_t [1:0] b_q, c_q;
  word_t [1:0] product;

  assign x[0] = block_i;

  for (genvar p = 0; p < Phases; p++) begin : gen_phase
    idea_constant_phase #(
      .Z(Z[6*p+:6])
    ) u_phase (
      .clk_i,
      .x_i(x[p]),
      .y_o(x[p+1])
    );
  end

  for (genvar m = 0; m < 2; m++) begin : gen_product
    idea_constant_multiply #(
      .K(Z[6*Phases+3*m])
    ) u_product (
      .clk_i,
      .x_i(x[Phases][3*m]),
      .y_o(product[m])
    );
  end

  idea_constant_add #(
    .K(Z[6*Phases+1])
  ) u_b (
    .x_i(x[Phases][2]),
    .y_o(b)
  );
  idea_constant_add #(
    .K(Z[6*Phases+2])
  ) u_c (
    .x_i(x[Phases][1]),
    .y_o(c)
  );

  always_ff @(posedge clk_i) begin
    b_q     <= {b_q[0], b};
    c_q     <= {c_q[0], c};
    block_o <= {product[1], c_q[1], b_q[1], product[0]};
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What the equations add up: one multiplication (Unit 0), one addition (1), one exclusive-or (2) of two words, or with
// Unit 3 a whole phase with replication, combinational, whose longest path is the sum of equation 2. Clocks: none.
module idea_unit
  import idea_paths_pkg::*;
#(
  parameter int unsigned Unit = 0
) (
  input  logic        clk_i,
  input  word_t [3:0] x_i,
  input  word_t [5:0] z_i,
  output word_t [3:0] y_o
);

  logic unused;
  assign unused = ^{clk_i, x_i, z_i};

  if (Unit == 3) begin : gen_phase
    word_t a, b, c, d, s, t;
    idea_multiply u_a (
      .clk_i,
      .x_i(x_i[0]),
      .k_i(z_i[0]),
      .y_o(a)
    );
    idea_multiply u_d (
      .clk_i,
      .x_i(x_i[3]),
      .k_i(z_i[3]),
      .y_o(d)
    );
    assign b = x_i[1] + z_i[1];
    assign c = x_i[2] + z_i[2];
    idea_multiply u_s (
      .clk_i,
      .x_i(a ^ c),
      .k_i(z_i[4]),
      .y_o(s)
    );
    idea_multiply u_t (
      .clk_i,
      .x_i(s + (b ^ d)),
      .k_i(z_i[5]),
      .y_o(t)
    );
    assign y_o = {d ^ (s + t), b ^ (s + t), c ^ t, a ^ t};
  end else begin : gen_one
    word_t y;
    if (Unit == 0) begin : gen_multiply
      idea_multiply u_multiply (
        .clk_i,
        .x_i(x_i[0]),
        .k_i(z_i[0]),
        .y_o(y)
      );
    end else begin : gen_sum
      assign y = Unit == 1 ? x_i[0] + z_i[0] : x_i[0] ^ z_i[0];
    end
    assign y_o = {48'd0, y};
  end

endmodule

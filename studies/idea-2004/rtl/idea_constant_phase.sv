// SPDX-License-Identifier: Apache-2.0
//
// A phase of IDEA under six constants, the first in bits 15:0. Clocks: nine, a block each.
module idea_constant_phase
  import idea_paths_pkg::*;
#(
  parameter logic [5:0][15:0] Z = '0
) (
  input  logic        clk_i,
  input  word_t [3:0] x_i,
  output word_t [3:0] y_o
);

  word_t a, d, s, t, u, b, c;
  word_t e_q, w_q;
  word_t [1:0] b_q, c_q;
  word_t [2:0] f_q, s_q;
  word_t [3:0] keep_q[6];

  idea_constant_multiply #(
    .K(Z[0])
  ) u_a (
    .clk_i,
    .x_i(x_i[0]),
    .y_o(a)
  );
  idea_constant_add #(
    .K(Z[1])
  ) u_b (
    .x_i(x_i[1]),
    .y_o(b)
  );
  idea_constant_add #(
    .K(Z[2])
  ) u_c (
    .x_i(x_i[2]),
    .y_o(c)
  );
  idea_constant_multiply #(
    .K(Z[3])
  ) u_d (
    .clk_i,
    .x_i(x_i[3]),
    .y_o(d)
  );
  idea_constant_multiply #(
    .K(Z[4])
  ) u_s (
    .clk_i,
    .x_i(e_q),
    .y_o(s)
  );
  idea_constant_multiply #(
    .K(Z[5])
  ) u_t (
    .clk_i,
    .x_i(w_q),
    .y_o(t)
  );

  assign u = s_q[2] + t;

  always_ff @(posedge clk_i) begin
    b_q    <= {b_q[0], b};
    c_q    <= {c_q[0], c};
    e_q    <= a ^ c_q[1];
    f_q    <= {f_q[1:0], b_q[1] ^ d};
    keep_q <= '{{d, c_q[1], b_q[1], a}, keep_q[0], keep_q[1], keep_q[2], keep_q[3], keep_q[4]};
    w_q    <= s + f_q[2];
    s_q    <= {s_q[1:0], s};
    y_o    <= {keep_q[5][3] ^ u, keep_q[5][1] ^ u, keep_q[5][2] ^ t, keep_q[5][0] ^ t};
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A phase of IDEA in thirteen stages.
module idea_stages
  import idea_paths_pkg::*;
(
  input  logic        clk_i,
  input  word_t [3:0] x_i,
  input  word_t [5:0] z_i,
  output word_t [3:0] y_o
);

  // Numbered by the stage that they come out of, less the first.
  word_t a, d, s, t, e_q, f_q;
  word_t [2:0] b_q, c_q;
  word_t [8:0] keep_a_q, keep_b_q, keep_c_q, keep_d_q;
  word_t [2:0] keep_f_q;
  word_t [3:0] keep_s_q;
  word_t g_q, t_q, u_q;

  idea_multiply #(
    .Registers(1'b1)
  ) u_a (
    .clk_i,
    .x_i(x_i[0]),
    .k_i(z_i[0]),
    .y_o(a)
  );
  idea_multiply #(
    .Registers(1'b1)
  ) u_d (
    .clk_i,
    .x_i(x_i[3]),
    .k_i(z_i[3]),
    .y_o(d)
  );
  idea_multiply #(
    .Registers(1'b1)
  ) u_s (
    .clk_i,
    .x_i(e_q),
    .k_i(z_i[4]),
    .y_o(s)
  );
  idea_multiply #(
    .Registers(1'b1)
  ) u_t (
    .clk_i,
    .x_i(g_q),
    .k_i(z_i[5]),
    .y_o(t)
  );

  always_ff @(posedge clk_i) begin
    b_q      <= {b_q[1:0], x_i[1] + z_i[1]};
    c_q      <= {c_q[1:0], x_i[2] + z_i[2]};
    e_q      <= a ^ c_q[2];
    f_q      <= b_q[2] ^ d;
    keep_f_q <= {keep_f_q[1:0], f_q};
    g_q      <= s + keep_f_q[2];
    keep_s_q <= {keep_s_q[2:0], s};
    t_q      <= t;
    u_q      <= t + keep_s_q[3];
    keep_a_q <= {keep_a_q[7:0], a};
    keep_b_q <= {keep_b_q[7:0], b_q[2]};
    keep_c_q <= {keep_c_q[7:0], c_q[2]};
    keep_d_q <= {keep_d_q[7:0], d};
    y_o      <= {keep_d_q[8] ^ u_q, keep_b_q[8] ^ u_q, keep_c_q[8] ^ t_q, keep_a_q[8] ^ t_q};
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A phase of IDEA (Figure 1(a)) step by step, as Path says; the words x_i stay while it lasts. What goes on is at y_o
// from the step of its operation, of which write_o tells. Multipliers: two with replication, else one; adders and
// exclusive-ors are what they are. Output: only the operations of the transformation behind the phases (Figure 1(b)).
module idea_phase
  import idea_paths_pkg::*;
#(
  parameter logic [1:0] Path   = PathS,
  parameter bit         Output = 1'b0
) (
  input  logic        clk_i,
  input  step_t       step_i,
  input  word_t [3:0] x_i,
  input  word_t [5:0] z_i,
  output word_t [3:0] y_o,
  output logic  [3:0] write_o,
  // a to d, which are the result behind the phases.
  output word_t [3:0] result_o
);

  function automatic logic now(input step_t step, input op_t op);
    return step == step_of(Path, op);
  endfunction

  word_t a_q, b_q, c_q, d_q, e_q, f_q;
  word_t first_x, first_z, first, second;

  // The first multiplier takes all products but that of the second, which is there with replication only.
  always_comb begin
    {first_x, first_z} = {x_i[0], z_i[0]};
    if (Path != PathSr && now(step_i, OpD)) {first_x, first_z} = {x_i[3], z_i[3]};
    if (!Output && now(step_i, OpE5)) {first_x, first_z} = {e_q, z_i[4]};
    if (!Output && now(step_i, OpF6)) {first_x, first_z} = {f_q, z_i[5]};
  end

  idea_multiply u_first (
    .clk_i,
    .x_i(first_x),
    .k_i(first_z),
    .y_o(first)
  );

  if (Path == PathSr) begin : gen_second
    idea_multiply u_second (
      .clk_i,
      .x_i(x_i[3]),
      .k_i(z_i[3]),
      .y_o(second)
    );
  end else begin : gen_one
    assign second = first;
  end

  always_ff @(posedge clk_i) begin
    if (now(step_i, OpA)) a_q <= first;
    if (now(step_i, OpB)) b_q <= x_i[1] + z_i[1];
    if (now(step_i, OpC)) c_q <= x_i[2] + z_i[2];
    if (now(step_i, OpD)) d_q <= second;
    if (now(step_i, OpE)) e_q <= a_q ^ c_q;
    if (now(step_i, OpF)) f_q <= b_q ^ d_q;
    if (now(step_i, OpE5)) e_q <= first;
    if (now(step_i, OpFe)) f_q <= e_q + f_q;
    if (now(step_i, OpF6)) f_q <= first;
    if (now(step_i, OpEf)) e_q <= e_q + f_q;
  end

  assign y_o      = {d_q ^ e_q, b_q ^ e_q, c_q ^ f_q, a_q ^ f_q};
  assign write_o  = {now(step_i, OpX4), now(step_i, OpX3), now(step_i, OpX2), now(step_i, OpX1)};
  assign result_o = {d_q, c_q, b_q, a_q};

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The three algorithms of the paper as schedules of the same fourteen operations of a phase: in which step each is
// done. A step is a clock.
package idea_paths_pkg;

  // Sequential; sequential with replication; pipelined by phases.
  typedef enum logic [1:0] {
    PathS  = 2'd0,
    PathSr = 2'd1,
    PathP  = 2'd2
  } path_t;

  typedef logic [15:0] word_t;
  typedef logic [3:0] step_t;

  // a = x1 * z1, b = x2 + z2, c = x3 + z3, d = x4 * z4; e = a ^ c, f = b ^ d; e = e * z5; f = e + f; f = f * z6;
  // e = e + f; and the four words that go on, a ^ f, c ^ f, b ^ e, d ^ e.
  typedef enum logic [3:0] {
    OpA  = 4'd0,
    OpB  = 4'd1,
    OpC  = 4'd2,
    OpD  = 4'd3,
    OpE  = 4'd4,
    OpF  = 4'd5,
    OpE5 = 4'd6,
    OpFe = 4'd7,
    OpF6 = 4'd8,
    OpEf = 4'd9,
    OpX1 = 4'd10,
    OpX2 = 4'd11,
    OpX3 = 4'd12,
    OpX4 = 4'd13
  } op_t;

  localparam int unsigned Ops = 14;

  // Figures 5, 6 and 7(a).
  // verilog_format: off
  localparam int unsigned Step[3][Ops] = '{
    '{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
    '{0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 6, 6, 6},
    '{0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7}
  };
  // verilog_format: on

  function automatic step_t step_of(input logic [1:0] path, input op_t op);
    return step_t'(Step[path][op]);
  endfunction

  function automatic step_t last_step(input logic [1:0] path);
    return step_of(path, OpX4);
  endfunction

  // Behind the phases are OpA to OpD alone.
  function automatic step_t last_of_output(input logic [1:0] path);
    return step_of(path, OpD);
  endfunction

endpackage

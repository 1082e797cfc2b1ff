// SPDX-License-Identifier: Apache-2.0
//
// The run of quiet rows: how many rows of it are left.
module config_run (
  input logic clk_i,
  input logic clear_i,

  // A run begins; its code, the exponent in the highest bits.
  input  logic        load_i,
  input  logic [17:0] code_i,
  // So many quiet rows are zero, of those that there are; the value behind the run is taken.
  input  logic [ 1:0] skip_i,
  input  logic        value_i,
  // At a quiet row: a run has to begin; it is zero, and so may be the next one; it is a value.
  output logic        none_o,
  output logic        zero_o,
  output logic        two_o,
  output logic        is_value_o
);

  logic [15:0] left_q, left;  // quiet rows of the run, and one
  logic more_q;  // behind the run is another run
  logic none_q, zero_q, two_q, is_value_q;
  logic [3:0] k;
  logic all, more, one;
  logic [14:0] shifted;

  assign k       = code_i[17:14];
  assign all     = &k;

  assign shifted = {1'b1, code_i[13:0]} >> (4'd14 - k);
  assign left    = !load_i ? left_q - {14'd0, skip_i} : all ? 16'h8000 : {1'b0, shifted};
  assign more    = load_i ? all : more_q;
  assign one     = left == 16'd1;

  always_ff @(posedge clk_i) begin
    left_q <= left;
    more_q <= more;
    if (clear_i || value_i) begin
      none_q <= 1'b1;
      {zero_q, two_q, is_value_q} <= '0;
    end else if (load_i || !none_q) begin
      none_q <= one && more;
      is_value_q <= one && !more;
      zero_q <= !one;
      two_q <= |left[15:2] || (&left[1:0]);
    end
  end

  assign none_o     = none_q;
  assign zero_o     = zero_q;
  assign two_o      = two_q;
  assign is_value_o = is_value_q;

endmodule

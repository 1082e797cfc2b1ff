// SPDX-License-Identifier: Apache-2.0
//
// The machine, and a look into its memory.
module molen_bench
  import molen_pkg::*;
#(
  parameter int unsigned RunClocks = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        load_i,
  input  logic [13:0] load_at_i,
  input  logic [31:0] load_data_i,
  output logic        set_o,
  output logic        set_partial_o,
  output logic [15:0] set_mask_o,
  input  logic        set_done_i,
  input  logic        set_refused_i,
  output logic        halted_o,
  output logic [ 2:0] cause_o,
  output logic        retire_o,
  output logic [31:0] retire_pc_o,
  output logic        retire_write_o,
  output logic [31:0] retire_data_o,
  input  logic [13:0] look_i,
  output logic [31:0] look_o
);

  cause_t cause;

  molen_machine #(
    .RunClocks(RunClocks)
  ) u_machine (
    .clk_i,
    .rst_ni,
    .load_i,
    .load_at_i,
    .load_data_i,
    .set_o,
    .set_partial_o,
    .set_mask_o,
    .set_done_i,
    .set_refused_i,
    .halted_o,
    .cause_o(cause),
    .retire_o,
    .retire_pc_o,
    .retire_write_o,
    .retire_data_o
  );

  assign cause_o = cause;
  assign look_o  = u_machine.memory[look_i];

endmodule

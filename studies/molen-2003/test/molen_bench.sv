// SPDX-License-Identifier: Apache-2.0
//
// The machine, a look into its memory, and the loader of configurations, on a clock of its own.
module molen_bench
  import molen_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        load_i,
  input  logic [13:0] load_at_i,
  input  logic [31:0] load_data_i,
  input  logic [ 4:0] more_clocks_i,
  output logic        set_o,
  output logic        set_partial_o,
  output logic [15:0] set_mask_o,
  output logic [31:0] set_list_o,
  input  logic        set_done_i,
  input  logic        set_refused_i,
  input  logic [15:0] set_can_i,
  output logic        halted_o,
  output logic [ 2:0] cause_o,
  output logic        retire_o,
  output logic [31:0] retire_pc_o,
  output logic        retire_write_o,
  output logic [31:0] retire_data_o,
  input  logic [13:0] look_i,
  output logic [31:0] look_o,

  // Of the loader: config_loader.
  input  logic        loader_clk_i,
  input  logic        start_i,
  input  logic [23:0] list_i,
  output logic        busy_o,
  output logic        error_o,
  output logic        r_valid_o,
  input  logic        r_ready_i,
  output logic [21:0] r_address_o,
  input  logic        r_valid_i,
  input  logic [31:0] r_data_i,
  output logic        p_valid_o,
  input  logic        p_ready_i,
  output logic [ 7:0] p_data_o
);

  cause_t cause;

  molen_machine u_machine (
    .clk_i,
    .rst_ni,
    .more_clocks_i,
    .load_i,
    .load_at_i,
    .load_data_i,
    .set_o,
    .set_partial_o,
    .set_mask_o,
    .set_list_o,
    .set_done_i,
    .set_refused_i,
    .set_can_i,
    .halted_o,
    .cause_o(cause),
    .retire_o,
    .retire_pc_o,
    .retire_write_o,
    .retire_data_o
  );

  // As it is for the library's device.
  config_loader u_loader (
    .clk_i(loader_clk_i),
    .rst_ni,
    .start_i,
    .list_i,
    .busy_o,
    .error_o,
    .r_valid_o,
    .r_ready_i,
    .r_address_o,
    .r_valid_i,
    .r_data_i,
    .p_valid_o,
    .p_ready_i,
    .p_data_o
  );

  assign cause_o = cause;
  assign look_o  = u_machine.memory[look_i];

endmodule

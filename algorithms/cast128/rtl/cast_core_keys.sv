// SPDX-License-Identifier: Apache-2.0
//
// Round keys of cast128_core and cast256_core, in memories in logic: read at once.
module cast_core_keys
  import core_pkg::*;
  import cast_pkg::*;
#(
  // Round keys.
  parameter int unsigned Depth = 16
) (
  input  logic                       clk_i,
  input  clear_t                     clear_i,
  input  made_t                      made_i,
  input  logic   [$clog2(Depth)-1:0] read_at_i,
  output word_t                      mask_o,
  output logic   [              4:0] rotate_o
);

  logic [$clog2(Depth)-1:0] write_at;
  logic unused;

  assign write_at = made_i.index[$clog2(Depth)-1:0];
  assign unused   = ^made_i.index;

  ram_logic #(
    .Width(32),
    .Depth(Depth)
  ) u_masks (
    .clk_i,
    .clear_i,
    .write_i     (made_i.valid && !made_i.rotation),
    .write_at_i  (write_at),
    .write_data_i(made_i.word),
    .read_at_i,
    .read_data_o (mask_o)
  );

  ram_logic #(
    .Width(5),
    .Depth(Depth)
  ) u_rotations (
    .clk_i,
    .clear_i,
    .write_i     (made_i.valid && made_i.rotation),
    .write_at_i  (write_at),
    .write_data_i(made_i.word[4:0]),
    .read_at_i,
    .read_data_o (rotate_o)
  );

endmodule

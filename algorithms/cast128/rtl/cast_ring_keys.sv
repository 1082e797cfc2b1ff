// SPDX-License-Identifier: Apache-2.0
//
// Round keys of the rings of CAST-128 and CAST-256, of all contexts, in block memory.
//
// Clocks: what is written can be addressed two clocks later; a read takes two.
module cast_ring_keys
  import core_pkg::*;
  import cast_pkg::*;
#(
  // Round keys of all contexts.
  parameter int unsigned Depth = 128,

  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // Of one context.
  input made_t                   made_i,
  input logic  [AddressBits-1:0] write_at_i,

  // Nobody reads an entry while it is written: no block is inside under a key that is being made.
  input  logic  [AddressBits-1:0] read_at_i,
  output word_t                   mask_o,
  output logic  [            4:0] rotate_o
);

  logic write_mask_q, write_rotate_q;
  logic [AddressBits-1:0] write_at_q;
  word_t word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_mask_q   <= 1'b0;
      write_rotate_q <= 1'b0;
    end else begin
      write_mask_q   <= made_i.valid && !made_i.rotation;
      write_rotate_q <= made_i.valid && made_i.rotation;
    end
  end

  always_ff @(posedge clk_i) begin
    write_at_q <= write_at_i;
    if (clear_i.active) word_q <= '0;
    else word_q <= made_i.word;
  end

  logic unused;
  assign unused = ^made_i.index;

  ram_block #(
    .Width(32),
    .Depth(Depth),
    .Quiet(1'b1)
  ) u_masks (
    .clk_i,
    .clear_i,
    .write_i     (write_mask_q),
    .write_at_i  (write_at_q),
    .write_data_i(word_q),
    .read_i      (1'b1),
    .read_at_i,
    .read_data_o (mask_o)
  );

  ram_block #(
    .Width(5),
    .Depth(Depth),
    .Quiet(1'b1)
  ) u_rotations (
    .clk_i,
    .clear_i,
    .write_i     (write_rotate_q),
    .write_at_i  (write_at_q),
    .write_data_i(word_q[4:0]),
    .read_i      (1'b1),
    .read_at_i,
    .read_data_o (rotate_o)
  );

endmodule

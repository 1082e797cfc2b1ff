// SPDX-License-Identifier: Apache-2.0
//
// g for twofish_ring: five layers looked up in block memory, and the MDS matrix. A key word is mixed in behind
// each of the first four.
//
// Latency: 14 clocks; the key word of layer A is wanted 2 clocks after x_i, of B 5, of C 8, of D 11; long_i, layer
// A is not the identity, with x_i; short_i, layer B is, 3 clocks later.
module twofish_ring_g
  import core_pkg::*;
  import twofish_pkg::*;
(
  input logic   clk_i,
  input clear_t clear_i,

  input  word_t       x_i,
  input  logic        long_i,
  input  logic        short_i,
  // For layer D, C, B, A.
  input  word_t [3:0] s_i,
  output word_t       t_o
);

  byte_t [3:0] raw_a;
  products_t [3:0] e_q;
  word_t a_out_q, b_q, b_out, c_q, c_out, d_q, d_out;

  for (genvar j = 0; j < 4; j += 2) begin : gen_layer_a
    twofish_rom #(
      .Kind(0)
    ) u_rom_a (
      .clk_i,
      .enable_i(1'b1),
      .table_i (long_i ? {1'b0, LayerA[j+1], 1'b0, LayerA[j]} : {2'd2, 2'd2}),
      .a_i     (x_i[8*j+:16]),
      .y_o     (raw_a[j+:2])
    );
  end

  // The last of the sums has no register: its clock is wanted for the transform.
  twofish_lookups u_lookups (
    .clk_i,
    .enable_i(1'b1),
    .short_i,
    .b_i     (b_q),
    .c_i     (c_q),
    .d_i     (d_q),
    .e_i     (d_out ^ s_i[0]),
    .b_o     (b_out),
    .c_o     (c_out),
    .d_o     (d_out),
    .e_o     (e_q)
  );

  // Block memory is slow: what it gives goes into its output register first.
  always_ff @(posedge clk_i) begin
    a_out_q <= raw_a;
    if (clear_i.active) begin
      b_q <= '0;
      c_q <= '0;
      d_q <= '0;
      t_o <= '0;
    end else begin
      b_q <= a_out_q ^ s_i[3];
      c_q <= b_out ^ s_i[2];
      d_q <= c_out ^ s_i[1];
      t_o <= mds(e_q);
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// g for twofish_ring: five layers looked up in block memory, and the MDS matrix. A key word is mixed in behind
// each of the first four.
//
// Latency: 14 clocks; the key word of layer A is wanted 2 clocks after x_i, of B 5, of C 8, of D 11; long_i, layer
// A is not the identity, with x_i; short_i, layer B is, 3 clocks later.
module twofish_ring_g
  import twofish_pkg::*;
(
  input logic clk_i,
  input logic purge_i,

  input  word_t       x_i,
  input  logic        long_i,
  input  logic        short_i,
  // For layer D, C, B, A.
  input  word_t [3:0] s_i,
  output word_t       t_o
);

  // Block memory is slow: what it gives goes into its output register first.
  byte_t [3:0] raw_a, raw_b, raw_c, raw_d;
  word_t out_a_q, out_b_q, out_c_q, out_d_q;
  products_t [3:0] raw_e, out_e_q;
  word_t b_q, c_q, d_q, e;

  // The last of these sums has no register: its clock is wanted for the transform.
  assign e = out_d_q ^ s_i[0];

  for (genvar j = 0; j < 4; j += 2) begin : gen_layers
    twofish_rom #(
      .Kind(0)
    ) u_rom_a (
      .clk_i,
      .enable_i(1'b1),
      .table_i (long_i ? {1'b0, LayerA[j+1], 1'b0, LayerA[j]} : {2'd2, 2'd2}),
      .a_i     (x_i[8*j+:16]),
      .y_o     (raw_a[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_b (
      .clk_i,
      .enable_i(1'b1),
      .table_i (short_i ? {2'd2, 2'd2} : {1'b0, LayerB[j+1], 1'b0, LayerB[j]}),
      .a_i     (b_q[8*j+:16]),
      .y_o     (raw_b[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_c (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerC[j+1], 1'b0, LayerC[j]}),
      .a_i     (c_q[8*j+:16]),
      .y_o     (raw_c[j+:2])
    );

    twofish_rom #(
      .Kind(0)
    ) u_rom_d (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerD[j+1], 1'b0, LayerD[j]}),
      .a_i     (d_q[8*j+:16]),
      .y_o     (raw_d[j+:2])
    );

    twofish_rom #(
      .Kind(1)
    ) u_rom_e (
      .clk_i,
      .enable_i(1'b1),
      .table_i ({1'b0, LayerE[j+1], 1'b0, LayerE[j]}),
      .a_i     (e[8*j+:16]),
      .y_o     (raw_e[j+:2])
    );
  end

  always_ff @(posedge clk_i) begin
    out_a_q <= raw_a;
    out_b_q <= raw_b;
    out_c_q <= raw_c;
    out_d_q <= raw_d;
    out_e_q <= raw_e;
    if (purge_i) begin
      b_q <= '0;
      c_q <= '0;
      d_q <= '0;
      t_o <= '0;
    end else begin
      b_q <= out_a_q ^ s_i[3];
      c_q <= out_b_q ^ s_i[2];
      d_q <= out_c_q ^ s_i[1];
      t_o <= mds(out_e_q);
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// One round of AES (FIPS 197, 5.1 and 5.3) on a block of four columns and a round key, in either direction, with or
// without the mixing of columns. What is asked for stays until done_o.
//
// Clocks: 3.
module molen_round
  import aes_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic        start_i,
  input  logic        decrypt_i,
  input  logic        last_i,     // columns are not mixed
  input  word_t [3:0] block_i,
  input  word_t [3:0] key_i,
  output word_t [3:0] block_o,
  output logic        done_o
);

  logic [1:0] step_q;
  logic [3:0][3:0][7:0] moved, substituted;  // byte r of column c
  logic [3:0][31:0] inside_q, rows, mixed_rows, mixed;

  for (genvar c = 0; c < 4; c++) begin : gen_column
    for (genvar r = 0; r < 4; r++) begin : gen_row
      assign moved[c][r] = decrypt_i ? block_i[(c+4-r)%4][8*r+:8] : block_i[(c+r)%4][8*r+:8];

      aes_sbox_tower u_sbox (
        .clk_i,
        .decrypt_i,
        .rest_i(!start_i),
        .a_i   (moved[c][r]),
        .s_o   (substituted[c][r])
      );

      assign rows[r][8*c+:8]  = inside_q[c][8*r+:8];
      assign mixed[c][8*r+:8] = mixed_rows[r][8*c+:8];
    end

    // The key is added in front of the inverse of MixColumns, but behind MixColumns.
    always_ff @(posedge clk_i) inside_q[c] <= substituted[c] ^ (decrypt_i || last_i ? key_i[c] : '0);
    assign block_o[c] = last_i ? inside_q[c] : mixed[c] ^ (decrypt_i ? '0 : key_i[c]);
  end

  mix_columns u_mix (
    .inverse_i(decrypt_i),
    .row_i    (rows),
    .row_o    (mixed_rows)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) step_q <= '0;
    else if (!start_i || done_o) step_q <= '0;
    else step_q <= step_q + 2'd1;
  end
  assign done_o = start_i && step_q == 2'd2;

endmodule

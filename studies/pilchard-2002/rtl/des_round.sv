// SPDX-License-Identifier: Apache-2.0
//
// One round of DES: the right half that comes out of it. The S-boxes are those of des_pkg with four bits: the tables
// there, which hold P as well, are as wide as they are so that a simulator is fast. It is a module so that the 48 rounds
// of triple DES can be synthesised one by one (`apart` of designs.toml): in one piece they take Yosys hours. Clocks:
// none.
module des_round
  import des_pkg::*;
(
  // Rounds in a row are no loop, although their halves are one signal.
  /* verilator lint_off UNOPTFLAT */
  input  half_t   l_i,
  input  half_t   r_i,
  input  subkey_t k_i,
  output half_t   r_o
  /* verilator lint_on UNOPTFLAT */
);

  typedef logic [63:0][3:0] box_t;

  function automatic box_t box_of(input logic [2:0] box);
    box_t table_out;
    // Row: bits 1 and 6 of the input, column: bits 2 to 5.
    for (int i = 0; i < 64; i++) table_out[i] = 4'(SBox[box][2*(i/32)+i%2][(i/2)%16]);
    return table_out;
  endfunction

  subkey_t x;
  half_t s, p;

  assign x = expand(r_i) ^ k_i;

  for (genvar b = 0; b < 8; b++) begin : gen_box
    localparam box_t Box = box_of(3'(b));
    assign s[31-4*b-:4] = Box[x[47-6*b-:6]];
  end

  always_comb begin
    for (int b = 0; b < 32; b++) p[31-b] = s[32-PTable[b]];
  end

  assign r_o = l_i ^ p;

endmodule

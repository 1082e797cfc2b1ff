// SPDX-License-Identifier: Apache-2.0
//
// MixColumns of AES (FIPS 197, 5.1.3) on a state of sixteen bytes, its inverse, or either of them with shared logic:
// the inverse is MixColumns behind multiplications by {05} and {04}. A word is a row of the state, a column a byte of
// each. Kind 0: MixColumns; 1: its inverse; 2: as inverse_i says. Clocks: none.
module mix_columns #(
  parameter int unsigned Kind = 2
) (
  input  logic             inverse_i,
  input  logic [3:0][31:0] row_i,
  output logic [3:0][31:0] row_o
);

  if (Kind > 2) begin : gen_illegal
    $error("mix_columns: Kind must be 0, 1 or 2");
  end

  // Each of four bytes times x.
  function automatic logic [31:0] times_2(input logic [31:0] x);
    logic [31:0] high;
    high = (x >> 7) & 32'h01010101;
    return ((x & 32'h7f7f7f7f) << 1) ^ high ^ (high << 1) ^ (high << 3) ^ (high << 4);
  endfunction

  logic [3:0][31:0] given;
  logic [31:0] even, odd;

  // What the inverse adds: {04} times the sum of the rows of its parity.
  assign even = times_2(times_2(row_i[0] ^ row_i[2]));
  assign odd  = times_2(times_2(row_i[1] ^ row_i[3]));

  always_comb begin
    given = row_i;
    if (Kind == 1 || (Kind == 2 && inverse_i)) given = row_i ^ {odd, even, odd, even};
    for (int unsigned r = 0; r < 4; r++) begin
      row_o[r] = times_2(given[r] ^ given[(r+1)%4]) ^ given[(r+1)%4] ^ given[(r+2)%4] ^ given[(r+3)%4];
    end
  end

  logic unused;
  assign unused = inverse_i;

endmodule

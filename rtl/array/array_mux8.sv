// SPDX-License-Identifier: Apache-2.0
//
// One of eight bits, in the slice's own multiplexers. Inferred ones take half as many look-up tables again, and the
// network is made of thousands. Combinational.
module array_mux8 (
  input  logic [7:0] bits_i,
  input  logic [2:0] select_i,
  output logic       bit_o
);

  logic [3:0] pairs;
  logic [1:0] fours;

  for (genvar i = 0; i < 4; i++) begin : gen_pair
    LUT4 #(
      .INIT(16'hCACA)
    ) u_pair (
      .A(bits_i[2*i]),
      .B(bits_i[2*i+1]),
      .C(select_i[0]),
      .D(1'b0),
      .Z(pairs[i])
    );
  end

  for (genvar i = 0; i < 2; i++) begin : gen_four
    PFUMX u_four (
      .ALUT(pairs[2*i+1]),
      .BLUT(pairs[2*i]),
      .C0  (select_i[1]),
      .Z   (fours[i])
    );
  end

  L6MUX21 u_eight (
    .D0(fours[0]),
    .D1(fours[1]),
    .SD(select_i[2]),
    .Z (bit_o)
  );

endmodule

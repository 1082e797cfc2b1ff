// SPDX-License-Identifier: Apache-2.0
//
// The S-box as logic: the inverse is taken in GF((2^4)^2), where it needs three multiplications and one
// inversion of four bits. Both directions share it. Every matrix follows at elaboration from the two field
// polynomials and Beta, an element of the tower that satisfies the AES polynomial; the eight such elements
// of all towers were counted, and this one has the fewest ones in its matrices.
//
// The register behind the first matrix is the state register of the cipher; at rest it is zero, of which
// there is no inverse but zero.
module aes_sbox_tower
  import aes_pkg::*;
#(
  parameter bit Decrypt = 1'b1
) (
  input  logic  clk_i,
  input  logic  decrypt_i,
  input  logic  rest_i,
  input  byte_t a_i,
  output byte_t s_o
);

  typedef logic [3:0] nibble_t;
  typedef logic [7:0][7:0] matrix_t;  // row r at index r

  // GF(2^4) mod z^4+z^3+1; over it Y^2 = Y + Lambda, an element h Y + l held as {h, l}.
  localparam nibble_t Lambda = 4'h8;
  localparam byte_t Beta = 8'hc3;

  function automatic nibble_t multiply4(input nibble_t a, input nibble_t b);
    nibble_t product = '0;
    nibble_t shifted = a;
    for (int i = 0; i < 4; i++) begin
      product ^= shifted & {4{b[i]}};
      shifted = {shifted[2:0], 1'b0} ^ (4'h9 & {4{shifted[3]}});
    end
    return product;
  endfunction

  function automatic nibble_t invert4(input nibble_t a);
    nibble_t a2 = multiply4(a, a);
    nibble_t a4 = multiply4(a2, a2);
    return multiply4(multiply4(a2, a4), multiply4(a4, a4));  // a^14
  endfunction

  function automatic byte_t multiply_tower(input byte_t a, input byte_t b);
    nibble_t hh = multiply4(a[7:4], b[7:4]);
    return {
      hh ^ multiply4(a[7:4], b[3:0]) ^ multiply4(a[3:0], b[7:4]),
      multiply4(hh, Lambda) ^ multiply4(a[3:0], b[3:0])
    };
  endfunction

  // Column i is Beta^i: from the AES field to the tower.
  function automatic matrix_t to_tower();
    matrix_t m;
    byte_t   power = 8'h01;
    for (int i = 0; i < 8; i++) begin
      for (int r = 0; r < 8; r++) m[r][i] = power[r];
      power = multiply_tower(power, Beta);
    end
    return m;
  endfunction

  function automatic byte_t apply(input matrix_t m, input byte_t a);
    byte_t b;
    for (int r = 0; r < 8; r++) b[r] = ^(m[r] & a);
    return b;
  endfunction

  // Column i is the byte that the tower sees as 1 << i.
  function automatic matrix_t from_tower();
    matrix_t m;
    for (int a = 0; a < 256; a++) begin
      for (int i = 0; i < 8; i++) begin
        if (apply(to_tower(), 8'(a)) == 8'(1 << i)) begin
          for (int r = 0; r < 8; r++) m[r][i] = a[r];
        end
      end
    end
    return m;
  endfunction

  // The tower's value of the affine map's preimage, and the affine map of a tower's value, without constants.
  function automatic matrix_t affine_inverse_to_tower();
    matrix_t m;
    for (int i = 0; i < 8; i++) begin
      byte_t column = apply(to_tower(), affine_inverse(8'(1 << i)));
      for (int r = 0; r < 8; r++) m[r][i] = column[r];
    end
    return m;
  endfunction

  function automatic matrix_t affine_from_tower();
    matrix_t m;
    for (int i = 0; i < 8; i++) begin
      byte_t column = affine(apply(from_tower(), 8'(1 << i)));
      for (int r = 0; r < 8; r++) m[r][i] = column[r];
    end
    return m;
  endfunction

  localparam matrix_t EncIn = to_tower();
  localparam matrix_t EncOut = affine_from_tower();
  localparam matrix_t DecIn = affine_inverse_to_tower();
  localparam matrix_t DecOut = from_tower();

  logic decrypt_q;
  byte_t in_q, inverse;
  nibble_t norm, norm_inverse;

  always_ff @(posedge clk_i) begin
    decrypt_q <= Decrypt && decrypt_i;
    if (rest_i) in_q <= '0;
    else in_q <= Decrypt && decrypt_i ? apply(DecIn, a_i ^ 8'h63) : apply(EncIn, a_i);
  end

  assign norm = multiply4(
    Lambda, multiply4(in_q[7:4], in_q[7:4])
  ) ^ multiply4(
    in_q[3:0], in_q[7:4] ^ in_q[3:0]
  );
  assign norm_inverse = invert4(norm);
  assign inverse = {multiply4(in_q[7:4], norm_inverse), multiply4(in_q[7:4] ^ in_q[3:0], norm_inverse)};
  assign s_o = decrypt_q ? apply(DecOut, inverse) : apply(EncOut, inverse) ^ 8'h63;

endmodule

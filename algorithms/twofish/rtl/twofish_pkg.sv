// SPDX-License-Identifier: Apache-2.0
//
// Twofish (Schneier, Kelsey, Whiting, Wagner, Hall, Ferguson, 1998): the permutations q0 and q1 from their
// 4-bit tables (4.3.5), the MDS matrix (4.3.2) and the RS code of the key schedule (4.3). Words are
// little-endian, so that byte i of a block or key sits at bits 8i+7:8i and nothing is reordered.
//
// The function h of the specification is a chain of layers of four q, with a key word mixed in between:
// A and B (for the longer keys only), C, D, and E in front of the matrix.
package twofish_pkg;

  typedef logic [7:0] byte_t;
  typedef logic [31:0] word_t;
  typedef logic [63:0] pair_t;  // the words 2i and 2i+1
  typedef logic [127:0] block_t;

  // Bit j: which q byte j goes through.
  localparam logic [3:0] LayerA = 4'b1001;
  localparam logic [3:0] LayerB = 4'b0011;
  localparam logic [3:0] LayerC = 4'b1010;
  localparam logic [3:0] LayerD = 4'b1100;
  localparam logic [3:0] LayerE = 4'b0101;

  // t3, t2, t1 and t0 of q1, then of q0; the entry for 0 is leftmost, as the specification prints them.
  localparam logic [1:0][3:0][15:0][3:0] Nibbles = {
    64'hb951c3de647f208a,
    64'h4c75169a0ed82b3f,
    64'h1e2b4c376da5f908,
    64'h28bdf76e31940ac5,
    64'hd7f4126e9b3085ca,
    64'hba5e6d90c8f32471,
    64'hecb81235f4a6709d,
    64'h817d6f320b59eca4
  };

  // The linear part in front of either pair of tables. Keys may be mixed in before or, mixed, behind it.
  function automatic byte_t mix(input byte_t x);
    return {x[7:4] ^ x[3:0], x[7:4] ^ {x[0], x[3:1]} ^ {x[4], 3'b000}};
  endfunction

  // q1 or q0 of what mix gave.
  function automatic byte_t q_mixed(input logic which, input byte_t m);
    byte_t n;
    n = mix({Nibbles[which][0][~m[7:4]], Nibbles[which][1][~m[3:0]]});
    return {Nibbles[which][3][~n[3:0]], Nibbles[which][2][~n[7:4]]};
  endfunction

  function automatic byte_t q(input logic which, input byte_t x);
    return q_mixed(which, mix(x));
  endfunction

  // Multiplication in GF(2^8) mod x^8 + poly.
  function automatic byte_t multiply(input byte_t a, input byte_t b, input byte_t poly);
    byte_t product = '0;
    byte_t shifted = a;
    for (int i = 0; i < 8; i++) begin
      if (b[i]) product ^= shifted;
      shifted = {shifted[6:0], 1'b0} ^ (poly & {8{shifted[7]}});
    end
    return product;
  endfunction

  // -- the MDS matrix -------------------------------------------------------------------------------------

  // A byte times all that the matrix is made of.
  typedef struct packed {
    byte_t ef;
    byte_t b5;   // 5b
    byte_t one;
  } products_t;

  function automatic products_t products(input byte_t y);
    return '{ef: multiply(y, 8'hef, 8'h69), b5: multiply(y, 8'h5b, 8'h69), one: y};
  endfunction

  function automatic word_t mds(input products_t [3:0] y);
    return {
      y[0].ef ^ y[1].one ^ y[2].ef ^ y[3].b5,
      y[0].ef ^ y[1].b5 ^ y[2].one ^ y[3].ef,
      y[0].b5 ^ y[1].ef ^ y[2].ef ^ y[3].one,
      y[0].one ^ y[1].ef ^ y[2].b5 ^ y[3].b5
    };
  endfunction

  // -- the RS code ----------------------------------------------------------------------------------------

  // Column j of the matrix, its rows from the right, at index j from the left.
  localparam logic [7:0][31:0] RsColumns = {
    32'ha402a401,
    32'h55a156a4,
    32'h87fc8255,
    32'h5ac1f387,
    32'h58471e5a,
    32'hdbaec658,
    32'h9e3d68db,
    32'h0319e59e
  };

  // What byte j of eight key bytes adds to their word of the S-vector.
  function automatic word_t rs_product(input int unsigned j, input byte_t m);
    word_t column = RsColumns[7-j];
    for (int unsigned r = 0; r < 4; r++) rs_product[8*r+:8] = multiply(m, column[8*r+:8], 8'h4d);
  endfunction

  // -- words ----------------------------------------------------------------------------------------------

  function automatic word_t rol1(input word_t x);
    return {x[30:0], x[31]};
  endfunction

  function automatic word_t ror1(input word_t x);
    return {x[0], x[31:1]};
  endfunction

  function automatic word_t rol8(input word_t x);
    return {x[23:0], x[31:24]};
  endfunction

  function automatic word_t ror8(input word_t x);
    return {x[7:0], x[31:8]};
  endfunction

  function automatic word_t rol9(input word_t x);
    return {x[22:0], x[31:23]};
  endfunction

  // A sum of three: saved carries, then one adder.
  function automatic word_t sum3(input word_t a, input word_t b, input word_t c);
    return (a ^ b ^ c) + (((a & b) | (a & c) | (b & c)) << 1);
  endfunction

  // The pseudo-Hadamard transform of both g, with the round keys added.
  function automatic pair_t transform(input word_t t0, input word_t t1, input pair_t key);
    return {sum3(t0, {t1[30:0], 1'b0}, key[63:32]), sum3(t0, t1, key[31:0])};
  endfunction

endpackage

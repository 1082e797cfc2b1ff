// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 (FIPS 180-4): the functions and constants of a step. A step's round is step / 20.
package sha1_pkg;

  typedef logic [31:0] word_t;

  // H(0), section 5.3.3; word 0 comes first in the digest.
  localparam word_t Initial[5] = '{32'h67452301, 32'hEFCDAB89, 32'h98BADCFE, 32'h10325476, 32'hC3D2E1F0};

  // Section 4.2.1.
  localparam word_t RoundConstant[4] = '{32'h5A827999, 32'h6ED9EBA1, 32'h8F1BBCDC, 32'hCA62C1D6};

  function automatic word_t rotl(input word_t x, input int unsigned n);
    return (x << n) | (x >> ((32 - n) % 32));
  endfunction

  // Section 4.1.1: Ch, Parity or Maj, in two look-up tables per bit. Maj(x, y, z) is y where x = y and z
  // elsewhere, that is Ch(x == y, y, z).
  function automatic word_t mix(input logic parity, input logic majority, input word_t x, input word_t y,
                                input word_t z);
    word_t chooser;
    chooser = majority ? ~(x ^ y) : x;
    return parity ? chooser ^ y ^ z : (chooser & y) | (~chooser & z);
  endfunction

endpackage

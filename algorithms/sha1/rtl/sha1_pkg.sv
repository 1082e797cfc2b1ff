// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 (FIPS 180-4): the functions and constants of a step. A step's round is step / 20.
package sha1_pkg;

  typedef logic [31:0] word_t;

  // H(0), section 5.3.3; word 0 comes first in the digest.
  localparam word_t Initial[5] = '{32'h67452301, 32'hEFCDAB89, 32'h98BADCFE, 32'h10325476, 32'hC3D2E1F0};

  // Section 4.2.1.
  localparam word_t RoundConstant[4] = '{32'h5A827999, 32'h6ED9EBA1, 32'h8F1BBCDC, 32'hCA62C1D6};

  typedef struct packed {
    logic        choice;  // with the high half: is the function Parity; with the low half: is it Maj
    logic [15:0] word;
  } half_t;

  // Half of what is read at a count: of the step after it the constant and the function, or the word of the initial
  // state.
  function automatic half_t addend(input logic high, input logic initial_state, input int unsigned count);
    int unsigned step;
    word_t word;
    step = (count + 1) % 85;
    word = '0;
    if (step < 80) word = RoundConstant[step/20];
    else if (initial_state) word = Initial[84-step];
    if (high) return {step inside {[20 : 39], [60 : 79]}, word[31:16]};
    else return {step inside {[40 : 59]}, word[15:0]};
  endfunction

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

// SPDX-License-Identifier: Apache-2.0
//
// MD5 (RFC 1321): the functions and constants of a step. A step's round is step / 16.
package md5_pkg;

  typedef logic [31:0] word_t;
  typedef logic [5:0] step_t;

  // A, B, C, D of section 3.3; word 0 comes first in the digest.
  localparam word_t Initial[4] = '{32'h67452301, 32'hEFCDAB89, 32'h98BADCFE, 32'h10325476};

  // T of section 3.4: word i is floor(2^32 |sin(i + 1)|).
  localparam word_t Sine[64] = '{
    32'hD76AA478,
    32'hE8C7B756,
    32'h242070DB,
    32'hC1BDCEEE,
    32'hF57C0FAF,
    32'h4787C62A,
    32'hA8304613,
    32'hFD469501,
    32'h698098D8,
    32'h8B44F7AF,
    32'hFFFF5BB1,
    32'h895CD7BE,
    32'h6B901122,
    32'hFD987193,
    32'hA679438E,
    32'h49B40821,
    32'hF61E2562,
    32'hC040B340,
    32'h265E5A51,
    32'hE9B6C7AA,
    32'hD62F105D,
    32'h02441453,
    32'hD8A1E681,
    32'hE7D3FBC8,
    32'h21E1CDE6,
    32'hC33707D6,
    32'hF4D50D87,
    32'h455A14ED,
    32'hA9E3E905,
    32'hFCEFA3F8,
    32'h676F02D9,
    32'h8D2A4C8A,
    32'hFFFA3942,
    32'h8771F681,
    32'h6D9D6122,
    32'hFDE5380C,
    32'hA4BEEA44,
    32'h4BDECFA9,
    32'hF6BB4B60,
    32'hBEBFBC70,
    32'h289B7EC6,
    32'hEAA127FA,
    32'hD4EF3085,
    32'h04881D05,
    32'hD9D4D039,
    32'hE6DB99E5,
    32'h1FA27CF8,
    32'hC4AC5665,
    32'hF4292244,
    32'h432AFF97,
    32'hAB9423A7,
    32'hFC93A039,
    32'h655B59C3,
    32'h8F0CCC92,
    32'hFFEFF47D,
    32'h85845DD1,
    32'h6FA87E4F,
    32'hFE2CE6E0,
    32'hA3014314,
    32'h4E0811A1,
    32'hF7537E82,
    32'hBD3AF235,
    32'h2AD7D2BB,
    32'hEB86D391
  };

  // Section 3.4: F, G, H and I, as (x & mix_and) ^ mix_xor, which an adder's own cells can make.
  function automatic word_t mix_and(input logic [1:0] round, input word_t y, input word_t z);
    unique case (round)
      2'd0:    return y ^ z;
      2'd2:    return '1;
      default: return z;
    endcase
  endfunction

  function automatic word_t mix_xor(input logic [1:0] round, input word_t y, input word_t z);
    unique case (round)
      2'd0:    return z;
      2'd1:    return y & ~z;
      2'd2:    return y ^ z;
      default: return y ^ ~z;
    endcase
  endfunction

  function automatic word_t mix(input logic [1:0] round, input word_t x, input word_t y, input word_t z);
    return (x & mix_and(round, y, z)) ^ mix_xor(round, y, z);
  endfunction

  // The word of the message that a step takes.
  function automatic logic [3:0] word_index(input step_t step);
    unique case (step[5:4])
      2'd0:    return step[3:0];
      2'd1:    return 4'(step[3:0] * 5 + 1);
      2'd2:    return 4'(step[3:0] * 3 + 5);
      default: return 4'(step[3:0] * 7);
    endcase
  endfunction

  // The sixteen amounts of rotation are 4, 9, 14 or 20, by the step's place among four, and 0 to 3 more.
  function automatic logic [1:0] fine_rotation(input logic [1:0] round, input logic [1:0] place);
    unique case (round)
      2'd0:    return place == 2'd3 ? 2'd2 : 2'd3;
      2'd1:    return place == 2'd0 ? 2'd1 : 2'd0;
      2'd2:    return place == 2'd0 ? 2'd0 : place == 2'd3 ? 2'd3 : 2'd2;
      default: return place == 2'd0 ? 2'd2 : 2'd1;
    endcase
  endfunction

  function automatic word_t rotl(input word_t x, input int unsigned n);
    return (x << n) | (x >> ((32 - n) % 32));
  endfunction

  function automatic word_t rotate_fine(input word_t x, input logic [1:0] amount);
    unique case (amount)
      2'd0:    return x;
      2'd1:    return rotl(x, 1);
      2'd2:    return rotl(x, 2);
      default: return rotl(x, 3);
    endcase
  endfunction

  function automatic word_t rotate_coarse(input word_t x, input logic [1:0] place);
    unique case (place)
      2'd0:    return rotl(x, 4);
      2'd1:    return rotl(x, 9);
      2'd2:    return rotl(x, 14);
      default: return rotl(x, 20);
    endcase
  endfunction

endpackage

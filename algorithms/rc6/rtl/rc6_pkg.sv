// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 (Rivest, Robshaw, Sidney, Yin: The RC6 Block Cipher, 1998): its one function, and the constants of
// its key schedule.
package rc6_pkg;

  typedef logic [31:0] word_t;
  typedef logic [127:0] block_t;

  localparam int unsigned Rounds = 20;
  // Words of the expanded key: a pair for each round, one in front of them and one behind.
  localparam int unsigned Words = 2 * Rounds + 4;

  // Where the key schedule starts from: P + k * Q, from e - 2 and the golden ratio.
  localparam word_t P = 32'hB7E15163;
  localparam word_t Q = 32'h9E3779B9;

  // x (2x + 1) mod 2^32 before its rotation by 5. With x = h 2^16 + l it is
  //   l (2l + 1) + 2^16 h (4l + 1),
  // and of the second product only 16 bits count: two multipliers of 18 bits and an adder of 16.
  function automatic word_t low_product(input logic [15:0] l);
    return 32'(l) * 32'({l, 1'b1});
  endfunction

  function automatic logic [15:0] high_product(input logic [15:0] h, input logic [13:0] l);
    return h * {l, 2'b01};
  endfunction

  function automatic word_t join_products(input word_t low, input logic [15:0] high);
    return {low[31:16] + high, low[15:0]};
  endfunction

  // Rotation to the left by any amount.
  function automatic word_t rotl(input word_t x, input logic [4:0] amount);
    word_t y;
    y = x;
    for (int unsigned k = 0; k < 5; k++) begin
      if (amount[k]) y = (y << (1 << k)) | (y >> (32 - (1 << k)));
    end
    return y;
  endfunction

  // (x (2x + 1)) <<< 5
  function automatic word_t quadratic(input word_t x);
    return rotl(join_products(low_product(x[15:0]), high_product(x[31:16], x[13:0])), 5'd5);
  endfunction

endpackage

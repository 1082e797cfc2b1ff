// SPDX-License-Identifier: Apache-2.0
//
// The four lookups of mars_core in a clock, for the phase that comes; the addresses are registers of the memories.
//
// Cycles: the words come in the next clock.
module mars_core_lookups
  import mars_pkg::*;
(
  input logic clk_i,

  input  at_t     at_i,
  input  sought_t sought_i,
  // The key schedule has one port for itself but while a block is mixed, and one while no block is on its way.
  input  logic    key_busy_i,
  input  search_t search_i,
  output words_t  found_o
);

  // 128 zeros of u_sbox_xor, to be found from here on.
  localparam logic [9:0] Zeros = 10'd640;

  logic unused;
  assign unused = ^{sought_i.ahead[12:9], search_i.stir[9]};

  logic [9:0] l_address, c_address, x_address, y_address;
  logic [8:0] far, soon;
  logic to_core, to_forward, to_backward, core_near;
  logic mixed, stirred, repaired;  // a block is mixed forward; the key schedule's turn
  logic [9:0] l_other, x_other, y_other;
  logic [7:0] c_other;

  // In Add s_x is zero.
  assign far         = sought_i.crossed + sought_i.key;
  assign soon        = at_i.phase == Add ? far : sought_i.a_key[8:0];

  assign to_forward  = at_i.phase == Forward;
  assign to_core     = (at_i.phase == Add && !at_i.turned) || at_i.phase == Lookup;
  assign mixed       = at_i.phase inside {Enter, Forward};
  assign stirred     = key_busy_i && !mixed;
  assign repaired    = key_busy_i && at_i.phase inside {Idle, Lookup};
  assign to_backward = at_i.phase inside {Add, Backward, Adjust} && !to_core && !key_busy_i;

  // For the phase that comes. The sums are late: all else is decided beside them. Where a port is not needed
  // it gives zeros, if it has them.
  always_comb begin
    l_other = '0;
    c_other = '0;
    x_other = Zeros;
    y_other = Zeros;
    if (at_i.phase == Enter) begin
      l_other = {2'b01, sought_i.b[15:8]};
      c_other = sought_i.b[23:16];
      x_other = {2'b00, sought_i.b[7:0]};
      y_other = {2'b01, sought_i.b[31:24]};
    end else if (to_forward) begin
      l_other = {2'b01, 8'h0};
      x_other = {2'b00, 8'h0};
      y_other = {2'b01, 8'h0};
    end else if (to_core) begin
      l_other = {at_i.decrypt, soon & {9{at_i.phase != Add || !at_i.forward}}};
    end else if (to_backward) begin
      l_other = {2'b11, 8'h0};
      // All ones: an exclusive or with them is half a subtraction.
      x_other = {at_i.adjust, 1'b1, 8'h0};
      y_other = {2'b00, 8'h0};
    end
    if (stirred) c_other = search_i.stir[7:0];
    if (repaired) y_other = search_i.repair;

    l_address = l_other
        | {2'b00, (sought_i.f_sum[15:8] & {8{to_forward}}) | (sought_i.b_sum[23:16] & {8{to_backward}})}
        | {1'b0, (sought_i.ahead[8:0] & {9{core_near && !at_i.decrypt}}) | (sought_i.ahead[21:13] & {9{core_near && at_i.decrypt}})};
    c_address = {
      !at_i.forward && !stirred,
      search_i.stir[8] && stirred,
      c_other | (sought_i.f_sum[23:16] & {8{to_forward}}) | (sought_i.b_sum[31:24] & {8{to_backward}})
    };
    x_address = x_other | {2'b00, (sought_i.f_sum[7:0] & {8{to_forward}}) | (sought_i.b_sum[7:0] & {8{to_backward}})};
    y_address = y_other | {2'b00, (sought_i.f_sum[31:24] & {8{to_forward}}) | (sought_i.b_sum[15:8] & {8{to_backward}})};
  end

  assign core_near = at_i.phase == Add && at_i.forward;

  mars_sbox #(
    .Complement(1'b1)
  ) u_sbox_add (
    .clk_i,
    .a_i(l_address),
    .b_i(c_address),
    .a_o(found_o.l),
    .b_o(found_o.c)
  );

  mars_sbox #(
    .Complement(1'b0)
  ) u_sbox_xor (
    .clk_i,
    .a_i(x_address),
    .b_i(y_address),
    .a_o(found_o.x),
    .b_o(found_o.y)
  );

endmodule

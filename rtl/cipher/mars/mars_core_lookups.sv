// SPDX-License-Identifier: Apache-2.0
//
// The four lookups of mars_core in a clock, for the phase that comes; the addresses are registers of the memories.
//
// Cycles: the words come in the next clock.
module mars_core_lookups
  import mars_pkg::*;
(
  input logic clk_i,

  input phase_e phase_i,
  input logic   adjust_i,   // Adjust comes
  input logic   turned_i,   // in Add: no core round comes
  input logic   forward_i,  // before the second half of the core
  input logic   decrypt_i,

  // The key schedule has the ports.
  input logic       key_busy_i,
  input logic [9:0] stir_address_i,
  input logic [9:0] repair_address_i,

  // What is looked up: B; the next A of forward and of backward mixing; A + K, and what it is made of sooner.
  input word_t        b_i,
  input word_t        f_sum_i,
  input word_t        b_sum_i,
  input logic   [8:0] sum_i,
  input logic   [8:0] crossed_i,
  input logic   [8:0] add_key_i,
  input ahead_t       ahead_i,

  output word_t s_l_o,
  output word_t s_c_o,
  output word_t s_x_o,
  output word_t s_y_o
);

  // 128 zeros of u_sbox_xor, to be found from here on.
  localparam logic [9:0] Zeros = 10'd640;

  logic unused;
  assign unused = ^ahead_i[12:9];

  logic [9:0] l_address, c_address, x_address, y_address;
  logic [8:0] far, soon;
  logic to_core, to_forward, to_backward, core_near;
  logic [9:0] l_other, x_other, y_other;
  logic [7:0] c_other;

  // In Add s_x is zero.
  assign far         = crossed_i + add_key_i;
  assign soon        = phase_i == Add ? far : sum_i[8:0];

  assign to_forward  = phase_i == Forward;
  assign to_core     = (phase_i == Add && !turned_i) || phase_i == Lookup;
  assign to_backward = phase_i inside {Add, Backward, Adjust} && !to_core && !key_busy_i;

  // For the phase that comes. The sums are late: all else is decided beside them. Where a port is not needed
  // it gives zeros, if it has them.
  always_comb begin
    l_other = '0;
    c_other = '0;
    x_other = Zeros;
    y_other = Zeros;
    if (key_busy_i) begin
      x_other = stir_address_i;
      y_other = repair_address_i;
    end else if (phase_i == Enter) begin
      l_other = {2'b01, b_i[15:8]};
      c_other = b_i[23:16];
      x_other = {2'b00, b_i[7:0]};
      y_other = {2'b01, b_i[31:24]};
    end else if (to_forward) begin
      l_other = {2'b01, 8'h0};
      x_other = {2'b00, 8'h0};
      y_other = {2'b01, 8'h0};
    end else if (to_core) begin
      l_other = {decrypt_i, soon & {9{phase_i != Add || !forward_i}}};
    end else if (to_backward) begin
      l_other = {2'b11, 8'h0};
      // All ones: an exclusive or with them is half a subtraction.
      x_other = {adjust_i, 1'b1, 8'h0};
      y_other = {2'b00, 8'h0};
    end

    l_address = l_other
        | {2'b00, (f_sum_i[15:8] & {8{to_forward}}) | (b_sum_i[23:16] & {8{to_backward}})}
        | {1'b0, (ahead_i[8:0] & {9{core_near && !decrypt_i}}) | (ahead_i[21:13] & {9{core_near && decrypt_i}})};
    c_address = {
      !forward_i, 1'b0, c_other | (f_sum_i[23:16] & {8{to_forward}}) | (b_sum_i[31:24] & {8{to_backward}})
    };
    x_address = x_other | {2'b00, (f_sum_i[7:0] & {8{to_forward}}) | (b_sum_i[7:0] & {8{to_backward}})};
    y_address = y_other | {2'b00, (f_sum_i[31:24] & {8{to_forward}}) | (b_sum_i[15:8] & {8{to_backward}})};
  end

  assign core_near = phase_i == Add && forward_i;

  mars_sbox #(
    .Complement(1'b1)
  ) u_sbox_add (
    .clk_i,
    .a_i(l_address),
    .b_i(c_address),
    .a_o(s_l_o),
    .b_o(s_c_o)
  );

  mars_sbox #(
    .Complement(1'b0)
  ) u_sbox_xor (
    .clk_i,
    .a_i(x_address),
    .b_i(y_address),
    .a_o(s_x_o),
    .b_o(s_y_o)
  );

endmodule

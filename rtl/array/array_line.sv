// SPDX-License-Identifier: Apache-2.0
//
// Bits of an operand port: a multiplexer over the same bits of all sources, and behind it the delay line, which takes
// what is selected in every clock. Selects are registers of their own in each, as they drive a multiplexer a bit.
//
// The context's field in clock t selects what a source shows in clock t + 1, and reads in clock t + 1 what was taken
// delay + 1 clocks before. An all-ones select takes zero.
module array_line
  import array_pkg::*;
#(
  parameter int unsigned Width = 8,
  // Of the clocks that it reaches back.
  parameter int unsigned Bits  = LineBits
) (
  input  logic                           clk_i,
  // Takes zero, whatever the context says.
  input  logic                           clear_i,
  // Counts clocks.
  input  logic  [   Bits-1:0]            now_i,
  input  port_t                          port_i,
  input  logic  [Sources-1:0][Width-1:0] sources_i,
  output logic  [  Width-1:0]            value_o
);

  localparam int unsigned Choices = 1 << SelectBits;

  (* keep *) logic [SelectBits-1:0] select_q;
  logic [Bits-1:0] read_at_q;
  logic [Width-1:0] taken;
  (* ram_style = "distributed", no_rw_check *)
  logic [Width-1:0] line[1 << Bits];

  // The address of what was taken so many clocks ago. A carry chain is slower than these few bits of logic.
  function automatic logic [Bits-1:0] back(logic [Bits-1:0] now, logic [Bits-1:0] delay);
    logic carry;
    carry = 1'b1;
    for (int i = 0; i < Bits; i++) begin
      back[i] = now[i] ^ ~delay[i] ^ carry;
      carry   = (now[i] & ~delay[i]) | (carry & (now[i] ^ ~delay[i]));
    end
  endfunction

  always_ff @(posedge clk_i) begin
    select_q <= port_i.select | {SelectBits{clear_i}};
    read_at_q <= back(now_i, port_i.delay[Bits-1:0]);
    line[now_i] <= taken;
  end

  for (genvar b = 0; b < Width; b++) begin : gen_bit
    logic [  Choices-1:0] bits;
    logic [Choices/8-1:0] eights;
    for (genvar s = 0; s < Choices; s++) begin : gen_source
      if (s < Sources) begin : gen_used
        assign bits[s] = sources_i[s][b];
      end else begin : gen_zero
        assign bits[s] = 1'b0;
      end
    end
    for (genvar e = 0; e < Choices / 8; e++) begin : gen_eight
      array_mux8 u_mux (
        .bits_i(bits[8*e+:8]),
        .select_i(select_q[2:0]),
        .bit_o(eights[e])
      );
    end
    if (Choices == 8) begin : gen_one
      assign taken[b] = eights[0];
    end else if (Choices == 16) begin : gen_two
      L6MUX21 u_mux (
        .D0(eights[0]),
        .D1(eights[1]),
        .SD(select_q[3]),
        .Z (taken[b])
      );
    end else begin : gen_more
      assign taken[b] = eights[select_q[SelectBits-1:3]];
    end
  end

  assign value_o = line[read_at_q];

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The header that a frame's payload begins with, which its result begins with if that is a frame: looked at as the frame
// goes by.
//
// Clocks: 2 behind the beat. A clock behind drop_i nothing is left of it.
module array_inner
  import array_front_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // A frame's first beat stands there; one of its beats goes by, that one among them.
  input logic           look_i,
  input header_t        outer_i,
  input logic           take_i,
  input logic    [63:0] beat_i,
  // Nobody asks for it any more: what it was taken of may be a secret.
  input logic           drop_i,

  // What there is in the first beat but the tag; its payload is longer than what fits a buffer with the room of an IV; and
  // the length of the result in the outer header.
  output header_t       inner_o,
  output logic          long_o,
  output logic    [7:0] words_o
);

  logic wants_q;  // no other payload's bytes stay here
  logic tap_q;
  logic [63:0] beat_q;
  logic [5:0] front_q;  // beats in front of the payload
  logic [1:0] seen_q;
  logic [7:0] result_len_q, op_q, algorithm_q;
  flags_t flags_q;

  always_comb begin
    inner_o            = '0;
    inner_o.result_len = result_len_q;
    inner_o.flags      = flags_q;
    inner_o.op         = op_q;
    inner_o.algorithm  = algorithm_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wants_q, tap_q, beat_q, front_q, seen_q, result_len_q, flags_q, op_q, algorithm_q, long_o, words_o} <= '0;
    end else begin
      tap_q  <= take_i && wants_q;
      beat_q <= take_i && wants_q ? beat_i : '0;
      if (look_i) begin
        front_q <= 6'd2 + 6'(outer_i.iv_len[7:3]) + 6'(outer_i.iv_len[2:0] != '0);
        seen_q <= '0;
        words_o <= outer_i.result_len;
        wants_q <= outer_i.op == OpExpand || (outer_i.op inside {OpEcb, OpCbc, OpCtr} && outer_i.result_len != '0);
      end else if (tap_q && front_q != '0) begin
        front_q <= front_q - 6'd1;
      end else if (tap_q) begin
        seen_q <= {seen_q[0], 1'b1};
        if (!seen_q[0]) begin
          result_len_q <= beat_q[63:56];
          flags_q      <= flags_t'(beat_q[23:16]);
          op_q         <= beat_q[15:8];
          algorithm_q  <= beat_q[7:0];
        end
        if (seen_q == 2'b01) long_o <= beat_q[31:4] >= 28'd127;
      end
      if (drop_i) {result_len_q, flags_q, op_q, algorithm_q, long_o} <= '0;
    end
  end

endmodule

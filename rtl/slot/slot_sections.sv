// SPDX-License-Identifier: Apache-2.0
//
// Counts the beats behind the header of a request: which section a beat belongs to, whether it is the last
// one of it, and whether it is the last one that the header announces. Everything it says comes from
// flip-flops or from one gate behind them, with lengths up to 32 bits and no clock lost between sections.
module slot_sections
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input header_t header_i,
  // One clock each, one after the other: before the header, when it is complete, and before its first beat.
  input logic    head_i,
  input logic    look_i,
  input logic    load_i,
  // A beat behind the header is taken.
  input logic    take_i,

  // Of the beat to be taken next.
  output section_e section_o,
  output logic     last_o,
  output logic     complete_o,
  // No beats behind the header.
  output logic     none_o
);

  // The count is split: its low part is compared from beat to beat, its high part long before.
  localparam int unsigned LowBits = 5;
  localparam int unsigned HighBits = 32 - 3 - LowBits;

  typedef logic [LowBits-1:0] low_t;
  typedef logic [HighBits-1:0] high_t;

  // -- which section --------------------------------------------------------------------------------------

  logic [3:0] left_q;  // not yet through: payload, IV, key, and the header itself until load_i
  logic last_q;
  logic step;
  assign step       = load_i || take_i;

  assign section_o  = left_q[1] ? SecKey : left_q[2] ? SecIv : SecPayload;
  assign last_o     = last_q;
  assign complete_o = last_q && left_q[3:1] inside {3'b001, 3'b010, 3'b100};
  assign none_o     = left_q[3:1] == '0;

  // The section behind the present one.
  logic to_key, to_iv;
  assign to_key = left_q[0] && left_q[1];
  assign to_iv  = left_q[2] && (left_q[0] != left_q[1]);

  // -- where it ends --------------------------------------------------------------------------------------

  // The beats of a section of len bytes count from 1 if len is a multiple of 8 and from 0 if it is not: the
  // count of the last one is then len / 8, and nothing has to be rounded up.
  low_t target_d, target_q;  // the low part of len / 8
  logic        whole;  // len is a multiple of 8
  logic        single;  // there is but one beat
  low_t        count_q;  // of the beat behind the next one, low part
  high_t       high_q;  // of some beat not far ahead, high part
  logic        high_next_q;  // high_q has reached the high part of payload_len / 8
  logic        high_match_q;  // the same for the beat that count_q counts
  logic  [2:0] single_q;  // payload, IV, key have but one beat, except that the payload may be long

  always_comb begin
    target_d = header_i.payload_len[3+:LowBits];
    whole    = header_i.payload_len[2:0] == '0;
    single   = single_q[2] && high_next_q;
    if (to_iv) begin
      target_d = header_i.iv_len[3+:LowBits];
      whole    = header_i.iv_len[2:0] == '0;
      single   = single_q[1];
    end
    if (to_key) begin
      target_d = header_i.key_len[3+:LowBits];
      whole    = header_i.key_len[2:0] == '0;
      single   = single_q[0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q       <= '0;
      target_q     <= '0;
      count_q      <= '0;
      high_q       <= '0;
      high_next_q  <= 1'b0;
      high_match_q <= 1'b0;
      single_q     <= '0;
      last_q       <= 1'b0;
    end else begin
      if (look_i) begin
        left_q <= {header_i.payload_len != '0, header_i.iv_len != '0, header_i.key_len != '0, 1'b1};
        last_q <= 1'b1;
      end else if (step) begin
        if (last_q) begin
          left_q   <= left_q & (left_q - 4'd1);
          target_q <= target_d;
          count_q  <= low_t'({whole, !whole});
          last_q   <= single;
        end else begin
          count_q <= count_q + low_t'(1);
          last_q  <= target_q == count_q && (left_q[2:1] != '0 || high_match_q);
        end
      end

      // Only a payload is long. The high part moves half a turn of the low one too early and is compared
      // until it counts, so that neither its carry nor its comparison is ever waited for.
      if (head_i) high_q <= '0;
      else if (take_i && left_q[2:1] == '0 && count_q == low_t'(1 << (LowBits - 1)))
        high_q <= high_q + high_t'(1);
      high_next_q <= high_q >= header_i.payload_len[31-:HighBits];
      if (load_i || (take_i && count_q == '1)) high_match_q <= high_next_q;

      single_q <= {header_i.payload_len[3+LowBits-1:0] <= 8, header_i.iv_len <= 8, header_i.key_len <= 8};
    end
  end

endmodule

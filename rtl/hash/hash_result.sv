// SPDX-License-Identifier: Apache-2.0
//
// The words of a digest as beats of 64 bits, with zeros behind the bytes that are asked for. A step reads a word
// and puts the word before it into its place in the beat.
//
// Clocks per beat: 2 with words of 4 bytes, 1 with words of 8; 1 before the first.
module hash_result #(
  // 4: two words in a beat; 8: one.
  parameter int unsigned WordBytes = 4
) (
  input logic clk_i,
  input logic rst_ni,

  // A result is being sent.
  input logic                         active_i,
  // Bytes of it, not 0.
  input logic [$clog2(WordBytes)+3:0] length_i,

  // The word that is read now, half of the beat it goes to, and the word that was read in the step before.
  input  logic [            3:0] place_i,
  input  logic                   half_i,
  input  logic [8*WordBytes-1:0] word_i,
  output logic                   step_o,
  // A beat waits.
  output logic                   hold_o,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o
);

  localparam int unsigned WordShift = $clog2(WordBytes);

  logic read_q, valid_q, last_q;
  logic end_here, over, over_q;  // the result ends in this word; it has ended
  logic [WordBytes-1:0] drop_q;
  logic [WordShift-1:0] end_byte;
  logic [3:0] end_place;
  logic [63:0] beat_q;

  assign end_byte       = length_i[WordShift-1:0];
  assign end_place      = length_i[WordShift+3:WordShift];
  assign end_here       = place_i == end_place;
  assign over           = over_q || end_here || (end_byte == '0 && place_i + 4'd1 == end_place);

  assign hold_o         = valid_q && !result_ready_i;
  assign step_o         = active_i && !hold_o;
  assign result_valid_o = valid_q;
  assign result_o       = beat_q;
  assign done_o         = valid_q && result_ready_i && last_q;

  always_ff @(posedge clk_i) begin
    if (!active_i) over_q <= 1'b0;
    else if (step_o) over_q <= over;

    for (int unsigned i = 0; i < WordBytes; i++) begin
      if (step_o) drop_q[i] <= over_q || (end_here && i >= 32'(end_byte));
    end

    for (int unsigned i = 0; i < 8; i++) begin
      if (step_o && (WordBytes == 8 || half_i != 1'(i / 4))) begin
        if (drop_q[i%WordBytes]) beat_q[8*i+:8] <= '0;
        else beat_q[8*i+:8] <= word_i[8*(i%WordBytes)+:8];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      valid_q <= 1'b0;
      last_q  <= 1'b0;
    end else if (!active_i) begin
      read_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (step_o) begin
      read_q  <= 1'b1;
      valid_q <= read_q && (!half_i || WordBytes == 8);
      last_q  <= over_q;
    end
  end

endmodule

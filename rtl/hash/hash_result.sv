// SPDX-License-Identifier: Apache-2.0
//
// The words of a digest as beats of 64 bits, with zeros behind the bytes that are asked for. A step reads a word
// and puts the word before it into its place in the beat.
//
// Clocks per beat: 2; 1 before the first.
module hash_result (
  input logic clk_i,
  input logic rst_ni,
  // Forget.
  input logic clear_i,

  // A result is being sent.
  input logic       active_i,
  // Bytes of it, not 0.
  input logic [5:0] length_i,

  // The word that is read now, half of the beat it goes to, and the word that was read in the step before.
  input  logic [ 3:0] place_i,
  input  logic        half_i,
  input  logic [31:0] word_i,
  output logic        step_o,
  // A beat waits.
  output logic        hold_o,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o
);

  logic read_q, valid_q, last_q;
  logic end_here, over, over_q;  // the result ends in this word; it has ended
  logic [ 3:0] drop_q;
  logic [ 1:0] end_byte;
  logic [ 3:0] end_place;
  logic [63:0] beat_q;

  assign {end_place, end_byte} = length_i;
  assign end_here              = place_i == end_place;
  assign over                  = over_q || end_here || (end_byte == '0 && place_i + 4'd1 == end_place);

  assign hold_o                = valid_q && !result_ready_i;
  assign step_o                = active_i && !hold_o;
  assign result_valid_o        = valid_q;
  assign result_o              = beat_q;
  assign done_o                = valid_q && result_ready_i && last_q;

  always_ff @(posedge clk_i) begin
    if (clear_i || !active_i || done_o) {over_q, drop_q, beat_q} <= '0;
    else begin
      if (step_o) over_q <= over;

      for (int unsigned i = 0; i < 4; i++) begin
        if (step_o) drop_q[i] <= over_q || (end_here && i >= 32'(end_byte));
      end
      for (int unsigned i = 0; i < 8; i++) begin
        if (step_o && half_i != 1'(i / 4)) beat_q[8*i+:8] <= drop_q[i%4] ? '0 : word_i[8*(i%4)+:8];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {read_q, valid_q, last_q} <= '0;
    else if (clear_i || !active_i) {read_q, valid_q, last_q} <= '0;
    else if (step_o) begin
      read_q  <= 1'b1;
      valid_q <= read_q && !half_i;
      last_q  <= over_q;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Beats of 64 bits as words of a hash: what is behind a section's last byte becomes zero, and the mark that ends
// a message is set. One beat is held here, so that no path leads from the shell's counters to the core; when its
// first half has gone, the second one waits elsewhere and leaves the place to the next beat. Of the next section
// none is taken before this one has its consequences.
//
// Clocks from a beat to its first word: 1. One word per clock.
module hash_beats
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Forget.
  input logic clear_i,

  input  request_t       frame_i,
  output logic           ready_o,
  // Bytes in the last beat; 0 stands for 8.
  input  logic     [2:0] last_len_i,

  // Beats are wanted; word_o is zero otherwise but for the mark.
  input logic taking_i,
  // The mark comes first in this word, or behind the last byte if that is inside the word.
  input logic mark_first_i,
  input logic mark_inside_i,

  // Half of the beat: as it is now, and after a word is taken.
  input  logic half_i,
  output logic half_o,

  output logic        word_valid_o,
  input  logic        word_take_i,
  output logic [31:0] word_o,
  // The word is the section's last one, and not all of its bytes count.
  output logic        section_end_o,
  output logic        ended_inside_o,
  // The whole beat, while its first word is offered.
  output logic [63:0] count_o
);

  logic beat_take, beat_held_q, beat_last_q, beat_short_q;
  logic low_ended_q, high_ended_q;  // the section ends inside this half of the beat
  logic [ 1:0] end_byte_q;
  logic [63:0] beat_q;
  logic [31:0] high_q, word;
  logic last_q, ended_q;  // of the half that waits

  assign count_o        = beat_q;
  assign ready_o        = taking_i && !beat_held_q && !(half_i && last_q);
  assign beat_take      = ready_o && frame_i.valid;
  assign word_valid_o   = taking_i && (beat_held_q || half_i);
  assign word           = half_i ? high_q : beat_q[31:0];
  assign ended_inside_o = half_i ? ended_q : low_ended_q;
  assign section_end_o  = half_i ? last_q : beat_last_q && beat_short_q;
  assign half_o         = !half_i && !beat_short_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_held_q <= 1'b0;
    else beat_held_q <= !clear_i && (beat_take || (beat_held_q && !(word_take_i && !half_i)));
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      {last_q, ended_q, high_q, beat_q} <= '0;
      {beat_last_q, beat_short_q, low_ended_q, high_ended_q, end_byte_q} <= '0;
    end else begin
      if (!half_i) {last_q, ended_q, high_q} <= {beat_last_q, high_ended_q, beat_q[63:32]};
      if (beat_take) begin
        beat_q       <= frame_i.beat;
        beat_last_q  <= frame_i.last;
        beat_short_q <= frame_i.last && last_len_i inside {3'd1, 3'd2, 3'd3, 3'd4};
        low_ended_q  <= frame_i.last && last_len_i[1:0] != '0 && !last_len_i[2];
        high_ended_q <= frame_i.last && last_len_i[1:0] != '0 && last_len_i[2];
        end_byte_q   <= last_len_i[1:0];
      end
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      word_o[8*i+:8] = taking_i && !(ended_inside_o && i >= 32'(end_byte_q)) ? word[8*i+:8] : '0;
      if ((mark_first_i && i == 0) || (mark_inside_i && ended_inside_o && i == 32'(end_byte_q)))
        word_o[8*i+7] = 1'b1;
    end
  end

endmodule

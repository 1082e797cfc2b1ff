// SPDX-License-Identifier: Apache-2.0
//
// What the link knows of a slot: its epochs, and the trailer of its last load or key, by the tag. The epoch moves with
// the last beat of such a frame. The answer to one that was cut may come behind the same load sent again, with the same
// tag, and is not that load's: such answers are counted and passed over.
//
// Latency: 1 clock.
module link_slot
  import board_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic clear_i,

  // A beat that the slot takes.
  input logic        take_i,
  input logic        begin_i,
  input logic        last_i,
  input logic        cut_i,
  input logic [ 7:0] kind_i,
  input logic [15:0] tag_i,    // as it stands in a first beat

  // What the slot gives; and that it was a trailer, a clock later, with the same word.
  input logic [63:0] next_i,
  input logic        trailer_i,
  input logic [63:0] data_i,

  output logic [ 7:0] sets_o,
  output logic [ 7:0] keys_o,
  output logic        known_o,   // it is answered
  output logic [63:0] verdict_o
);

  logic [15:0] tag_q, next_tag_q;
  logic [7:0] ours_q, again_q;  // pairs of bits of the tag that are the same
  logic [3:0] cuts_q, cuts;
  logic ours, short_q, cut_before, changes, moved_q, begun_q;
  trailer_t trailer;

  assign trailer    = trailer_t'(next_i);
  assign ours       = trailer_i && ours_q == '1;
  assign cut_before = short_q && cuts != '0;
  assign changes    = kind_i == KindLoad || kind_i == KindKey;
  // A frame with another tag than the one before is nothing that was cut.
  assign cuts       = cuts_q & {4{!begun_q || again_q == '1}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sets_o     <= '0;
      keys_o     <= '0;
      known_o    <= 1'b0;
      verdict_o  <= '0;
      tag_q      <= '0;
      next_tag_q <= '0;
      moved_q    <= 1'b0;
      cuts_q     <= '0;
      ours_q     <= '0;
      short_q    <= 1'b0;
      again_q    <= '0;
      begun_q    <= 1'b0;
    end else begin
      ours_q  <= same_pairs(trailer.tag, tag_q);
      short_q <= trailer.status == StatusFrameShort;
      again_q <= same_pairs(tag_i, next_tag_q);
      begun_q <= take_i && changes && begin_i;
      cuts_q  <= cuts;
      if (ours && cut_before && !(take_i && changes && last_i && cut_i)) cuts_q <= cuts - 4'd1;
      if (ours && !cut_before) begin
        known_o   <= 1'b1;
        verdict_o <= data_i;
      end
      // A clock later the tag is there, of a frame of one beat, too.
      moved_q <= take_i && changes && last_i && !cut_i;
      if (moved_q) tag_q <= next_tag_q;
      if (take_i && changes) begin
        if (begin_i) next_tag_q <= tag_i;
        if (last_i && cut_i && !(ours && cut_before)) cuts_q <= cuts + 4'(cuts != '1);
        if (last_i && !cut_i) begin
          known_o <= 1'b0;
          if (kind_i == KindLoad) sets_o <= sets_o + 8'd1;
          else keys_o <= keys_o + 8'd1;
        end
      end
      if (clear_i) begin
        sets_o  <= '0;
        keys_o  <= '0;
        known_o <= 1'b0;
        cuts_q  <= '0;
      end
    end
  end

endmodule

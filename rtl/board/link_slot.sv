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

  // A beat that the slot gives.
  input logic        give_i,
  input logic        end_i,
  input logic [63:0] data_i,

  output logic [ 7:0] sets_o,
  output logic [ 7:0] keys_o,
  output logic [63:0] verdict_o  // ones: not answered
);

  logic [15:0] tag_q, next_tag_q;
  logic [3:0] cuts_q;
  logic trailer_q, changes;
  trailer_t trailer;

  // What came out last: it has the time of a clock.
  logic [63:0] last_q;
  assign trailer = trailer_t'(last_q);
  assign changes = kind_i == KindLoad || kind_i == KindKey;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sets_o     <= '0;
      keys_o     <= '0;
      verdict_o  <= '1;
      tag_q      <= '0;
      next_tag_q <= '0;
      cuts_q     <= '0;
      trailer_q  <= 1'b0;
      last_q     <= '0;
    end else begin
      trailer_q <= give_i && end_i;
      if (give_i && end_i) last_q <= data_i;
      if (trailer_q && trailer.tag == tag_q) begin
        if (trailer.status == StatusFrameShort && cuts_q != '0) cuts_q <= cuts_q - 4'd1;
        else verdict_o <= last_q;
      end
      if (take_i && changes) begin
        if (begin_i) begin
          next_tag_q <= tag_i;
          if (tag_i != next_tag_q) cuts_q <= '0;
        end
        if (last_i && cut_i) cuts_q <= cuts_q + 4'(cuts_q != '1);
        if (last_i && !cut_i) begin
          tag_q     <= begin_i ? tag_i : next_tag_q;
          verdict_o <= '1;
          if (kind_i == KindLoad) sets_o <= sets_o + 8'd1;
          else keys_o <= keys_o + 8'd1;
        end
      end
      if (clear_i) begin
        sets_o    <= '0;
        keys_o    <= '0;
        verdict_o <= '1;
        cuts_q    <= '0;
        trailer_q <= 1'b0;
      end
    end
  end

endmodule

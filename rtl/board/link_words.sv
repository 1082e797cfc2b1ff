// SPDX-License-Identifier: Apache-2.0
//
// Heads of what the board sends, and the beats of the link's own answers, in halves of a word.
//
// Latency: 1 clock.
module link_words
  import board_pkg::*;
#(
  parameter int unsigned Slots = 1,
  parameter int unsigned RxWords = 2047,
  parameter int unsigned SlotKhz = 100_000,
  parameter logic [63:0] Identity = '0
) (
  input logic clk_i,
  input logic rst_ni,

  input logic       own_i,
  input logic       head_i,
  input logic [3:0] index_i,
  input logic [7:0] beats_i,
  input logic       first_i,
  input logic       last_i,

  // Of the frame that is answered, and of the session.
  input reply_e        reply_i,
  input logic   [ 2:0] why_i,
  input head_t         request_i,
  input logic   [47:0] host_i,
  input logic   [15:0] session_i,

  // Of the slot that is spoken of.
  input logic [ 7:0] slot_i,
  input logic [15:0] number_i,
  input logic [ 7:0] sets_i,
  input logic [ 7:0] keys_i,
  input logic [63:0] verdict_i,

  input  logic [MaxSlots-1:0][15:0] epochs_i,    // of all: keys and sets
  output logic                      count_o,     // a counter is looked at
  output logic [         2:0]       count_at_o,
  input  logic [        31:0]       count_i,
  input  logic [         7:0]       tap_i,       // 7: it is where it was asked to be
  input  logic [        31:0]       register_i,
  input  logic [        31:0]       value_i,

  output logic [31:0] half_o
);

  logic [31:0] head, identity, beat;
  logic [47:0] to;

  assign to = own_i ? request_i.source : host_i;

  always_comb begin
    unique case (index_i[2:0])
      3'd0: head = to[31:0];
      3'd1: head = {BoardAddress[15:0], to[47:32]};
      3'd2: head = BoardAddress[47:16];
      3'd3: head = {6'd0, last_i, first_i, own_i ? {5'b10000, reply_i} : KindAnswer, EtherType};
      3'd4: head = {keys_i, sets_i, own_i ? request_i.link.number : number_i};
      default: head = {own_i ? request_i.link.session : session_i, beats_i, slot_i};
    endcase
  end

  // Counters stand in the order of identity, from its fourth beat on.
  assign count_o    = own_i && !head_i && reply_i == ReplyIdentity && index_i >= 4'd6 && index_i <= 4'd10;
  assign count_at_o = index_i[2:0] - 3'd6;

  always_comb begin
    unique case (index_i)
      4'd0: identity = {16'(RxWords), 8'(Slots), Version};
      4'd1: identity = 32'(SlotKhz);
      4'd2: identity = Identity[31:0];
      4'd3: identity = Identity[63:32];
      4'd4: identity = host_i[31:0];
      4'd5: identity = {session_i, host_i[47:32]};
      4'd6, 4'd7, 4'd8, 4'd9, 4'd10: identity = count_i;
      4'd11: identity = {24'd0, tap_i};
      4'd12: identity = epochs_i[1:0];
      4'd13: identity = epochs_i[3:2];
      4'd14: identity = epochs_i[5:4];
      default: identity = epochs_i[7:6];
    endcase
  end

  always_comb begin
    unique case (reply_i)
      ReplyIdentity: beat = identity;
      ReplyVerdict: beat = index_i[0] ? verdict_i[63:32] : verdict_i[31:0];
      ReplyRegister: beat = index_i[0] ? value_i : register_i;
      default: beat = index_i[0] ? '0 : 32'(why_i);
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_o <= '0;
    else half_o <= head_i ? head : beat;
  end

endmodule

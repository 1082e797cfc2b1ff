// SPDX-License-Identifier: Apache-2.0
//
// Heads of what the board sends, and the beats of the link's own answers, in halves of a word.
//
// Latency: 2 clocks.
module link_words
  import board_pkg::*;
#(
  parameter int unsigned Slots = 1,
  parameter int unsigned RxWords = 2047,
  parameter int unsigned SlotKhz = 100_000,
  parameter logic [7:0] Arrays = '0,
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
  input logic          opened_i,
  input logic   [47:0] host_i,
  input logic   [15:0] session_i,

  // Of the slot that is spoken of.
  input logic [ 7:0] slot_i,
  input logic [15:0] number_i,
  input logic [ 7:0] sets_i,
  input logic [ 7:0] keys_i,
  input logic        known_i,
  input logic [63:0] verdict_i, // if it is known

  input  logic [MaxSlots-1:0][15:0] epochs_i,    // of all: keys and sets
  output logic                      count_o,     // a counter is looked at
  output logic [         2:0]       count_at_o,
  input  logic [        31:0]       count_i,
  input  logic [         7:0]       tap_i,       // 7: it is where it was asked to be
  input  logic [        31:0]       register_i,
  input  logic [        31:0]       value_i,

  output logic [31:0] half_o
);

  // The choice has a clock of its own.
  typedef enum logic [3:0] {
    ToLow,
    ToHigh,
    Constant,
    Kind,
    Number,
    Session,
    HostHigh,
    Count,
    Epochs,
    VerdictLow,
    VerdictHigh,
    Value,
    Small
  } source_e;

  source_e source, source_q;
  logic head_q, ones_q, none_q;
  logic [ 3:0] index_q;
  logic [47:0] to;
  logic [31:0] constant, half;
  logic [15:0] short_word;

  assign to = own_i && head_q ? request_i.source : host_i;

  always_comb begin
    unique case (source_q)
      ToLow: half = to[31:0];
      ToHigh: half = {BoardAddress[15:0], to[47:32]};
      Constant: half = constant;
      Kind: half = {6'd0, last_i, first_i, own_i ? {5'b10000, reply_i} : KindAnswer, EtherType};
      Number: half = {keys_i, sets_i, own_i ? request_i.link.number : number_i};
      Session: half = {own_i ? request_i.link.session : session_i, beats_i, slot_i};
      HostHigh: half = {session_i, to[47:32]};
      Count: half = count_i;
      Epochs: half = epochs_i[{index_q[1:0], 1'b0}+:2];
      VerdictLow: half = verdict_i[31:0];
      VerdictHigh: half = verdict_i[63:32];
      Value: half = value_i;
      default: half = 32'(short_word);
    endcase
  end

  always_comb begin
    unique case (index_q[1:0])
      2'd0: constant = {16'(RxWords), 8'(Slots), Version};
      2'd1: constant = 32'(SlotKhz);
      2'd2: constant = head_q ? BoardAddress[47:16] : Identity[31:0];
      default: constant = Identity[63:32];
    endcase
  end

  always_comb begin
    short_word = '0;
    unique case (reply_i)
      ReplyIdentity: short_word = {Arrays, tap_i};
      ReplyRegister: short_word = register_i[15:0];
      default: short_word = 16'(why_i);
    endcase
  end

  // Counters stand in the order of identity, from its fourth beat on.
  assign count_o    = own_i && source_q == Count;
  assign count_at_o = index_q[2:0] - 3'd6;
  always_comb begin
    source = Small;
    if (head_i) begin
      unique case (index_i[2:0])
        3'd0: source = ToLow;
        3'd1: source = ToHigh;
        3'd2: source = Constant;
        3'd3: source = Kind;
        3'd4: source = Number;
        default: source = Session;
      endcase
    end else begin
      unique case (reply_i)
        ReplyIdentity: begin
          if (index_i < 4'd4) source = Constant;
          else if (index_i == 4'd4) source = ToLow;
          else if (index_i == 4'd5) source = HostHigh;
          else if (index_i < 4'd11) source = Count;
          else if (index_i > 4'd11) source = Epochs;
        end
        ReplyVerdict: source = index_i[0] ? VerdictHigh : VerdictLow;
        ReplyRegister: if (index_i[0]) source = Value;
        default: ;
      endcase
    end
  end

  // A verdict that is not known is ones. What there is none of is zeros: a host, and the upper half of a refusal.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q   <= 1'b0;
      index_q  <= '0;
      source_q <= ToLow;
      ones_q   <= 1'b0;
      none_q   <= 1'b0;
      half_o   <= '0;
    end else begin
      head_q <= head_i;
      index_q <= index_i;
      source_q <= source;
      ones_q <= !head_i && reply_i == ReplyVerdict && !known_i;
      none_q <= !head_i && ((!opened_i && (source == ToLow || source == HostHigh))
          || (reply_i == ReplyRefused && index_i[0]));
      if (none_q) half_o <= '0;
      else if (ones_q) half_o <= '1;
      else half_o <= half;
    end
  end

endmodule

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

  // Whatever there is, as one table: a multiplexer of binary numbers is small.
  typedef enum logic [3:0] {
    ToLow,
    ToHigh,
    Constant,
    Kind,
    Number,
    Session,
    HostLow,
    HostHigh,
    Count,
    Epochs,
    VerdictLow,
    VerdictHigh,
    Value,
    Small
  } source_e;

  logic [15:0][31:0] table_of;
  source_e source;
  logic [47:0] to;
  logic [31:0] constant;
  logic [7:0] short_word;

  assign to = own_i ? request_i.source : host_i;

  always_comb begin
    table_of              = '0;
    table_of[ToLow]       = to[31:0];
    table_of[ToHigh]      = {BoardAddress[15:0], to[47:32]};
    table_of[Constant]    = constant;
    table_of[Kind]        = {6'd0, last_i, first_i, own_i ? {5'b10000, reply_i} : KindAnswer, EtherType};
    table_of[Number]      = {keys_i, sets_i, own_i ? request_i.link.number : number_i};
    table_of[Session]     = {own_i ? request_i.link.session : session_i, beats_i, slot_i};
    table_of[HostLow]     = host_i[31:0];
    table_of[HostHigh]    = {session_i, host_i[47:32]};
    table_of[Count]       = count_i;
    table_of[Epochs]      = epochs_i[{index_i[1:0], 1'b0}+:2];
    table_of[VerdictLow]  = verdict_i[31:0];
    table_of[VerdictHigh] = verdict_i[63:32];
    table_of[Value]       = value_i;
    table_of[Small]       = 32'(short_word);
  end

  always_comb begin
    unique case (index_i[1:0])
      2'd0: constant = {16'(RxWords), 8'(Slots), Version};
      2'd1: constant = 32'(SlotKhz);
      2'd2: constant = head_i ? BoardAddress[47:16] : Identity[31:0];
      default: constant = Identity[63:32];
    endcase
  end

  always_comb begin
    short_word = '0;
    unique case (reply_i)
      ReplyIdentity: short_word = tap_i;
      ReplyRegister: short_word = register_i[7:0];
      default: short_word = 8'(why_i);
    endcase
  end

  // Counters stand in the order of identity, from its fourth beat on.
  assign count_o    = own_i && !head_i && reply_i == ReplyIdentity && index_i >= 4'd6 && index_i <= 4'd10;
  assign count_at_o = index_i[2:0] - 3'd6;

  logic ones;  // a verdict that is not known
  assign ones = !head_i && reply_i == ReplyVerdict && !known_i;

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
          else if (index_i == 4'd4) source = HostLow;
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

  // What there is nothing of: no host, and the other half of a refusal.
  logic none;
  assign none = !head_i && ((!opened_i && (source == HostLow || source == HostHigh)) || (reply_i == ReplyRefused && index_i[0]));


  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_o <= '0;
    else half_o <= none ? '0 : table_of[source] | {32{ones}};
  end

endmodule

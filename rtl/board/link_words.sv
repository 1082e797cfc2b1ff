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
  parameter int unsigned StoreWords = 0,
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

  // The choice has a clock of its own. What is chosen is or-ed; of nothing there are zeros.
  typedef struct packed {
    logic to_low;
    logic to_high;
    logic address;       // of the board, its lower half
    logic constant;
    logic kind;
    logic number;
    logic session;
    logic session_high;
    logic count;
    logic epochs;
    logic verdict_low;
    logic verdict_high;
    logic value;
    logic brief;
    logic ones;
  } pick_t;

  pick_t pick, pick_q;
  logic head_q;
  logic [3:0] index_q;
  logic [47:0] to;
  logic [31:0] constant, brief, half;

  // A host of which there is none is zeros.
  assign to = own_i && head_q ? request_i.source : host_i & {48{opened_i}};

  always_comb begin
    unique case (index_q[1:0])
      2'd0: constant = {16'(RxWords), 8'(Slots), Version};
      2'd1: constant = 32'(SlotKhz);
      2'd2: constant = head_q ? BoardAddress[47:16] : Identity[31:0];
      default: constant = Identity[63:32];
    endcase
  end

  always_comb begin
    unique case (reply_i)
      ReplyIdentity: brief = {16'(StoreWords), Arrays, tap_i};
      ReplyRegister: brief = {16'b0, register_i[15:0]};
      default: brief = 32'(why_i);
    endcase
  end

  function automatic logic [31:0] if_picked(logic picked, logic [31:0] word);
    return {32{picked}} & word;
  endfunction

  always_comb begin
    half = {32{pick_q.ones}};
    half |= if_picked(pick_q.to_low, to[31:0]);
    half |= if_picked(pick_q.to_high, 32'(to[47:32]));
    half |= if_picked(pick_q.address, {BoardAddress[15:0], 16'b0});
    half |= if_picked(pick_q.constant, constant);
    half |= if_picked(
      pick_q.kind, {6'd0, last_i, first_i, own_i ? {5'b10000, reply_i} : KindAnswer, EtherType}
    );
    half |= if_picked(pick_q.number, {keys_i, sets_i, own_i ? request_i.link.number : number_i});
    half |= if_picked(pick_q.session, {own_i ? request_i.link.session : session_i, beats_i, slot_i});
    half |= if_picked(pick_q.session_high, {session_i, 16'b0});
    half |= if_picked(pick_q.count, count_i);
    half |= if_picked(pick_q.epochs, epochs_i[{index_q[1:0], 1'b0}+:2]);
    half |= if_picked(pick_q.verdict_low, verdict_i[31:0]);
    half |= if_picked(pick_q.verdict_high, verdict_i[63:32]);
    half |= if_picked(pick_q.value, value_i);
    half |= if_picked(pick_q.brief, brief);
  end

  always_ff @(posedge clk_i) half_o <= half;

  // Counters stand in the order of identity, from its fourth beat on.
  assign count_o    = own_i && pick_q.count;
  assign count_at_o = index_q[2:0] - 3'd6;

  // A verdict that is not known is ones.
  always_comb begin
    pick = '0;
    if (head_i) begin
      unique case (index_i[2:0])
        3'd0: pick.to_low = 1'b1;
        3'd1: {pick.to_high, pick.address} = '1;
        3'd2: pick.constant = 1'b1;
        3'd3: pick.kind = 1'b1;
        3'd4: pick.number = 1'b1;
        default: pick.session = 1'b1;
      endcase
    end else begin
      unique case (reply_i)
        ReplyIdentity: begin
          pick.constant     = index_i < 4'd4;
          pick.to_low       = index_i == 4'd4;
          pick.to_high      = index_i == 4'd5;
          pick.session_high = index_i == 4'd5 && opened_i;
          pick.count        = index_i > 4'd5 && index_i < 4'd11;
          pick.brief        = index_i == 4'd11;
          pick.epochs       = index_i > 4'd11;
        end
        ReplyVerdict: begin
          pick.verdict_low  = known_i && !index_i[0];
          pick.verdict_high = known_i && index_i[0];
          pick.ones         = !known_i;
        end
        ReplyRegister: begin
          pick.brief = !index_i[0];
          pick.value = index_i[0];
        end
        default: pick.brief = !index_i[0];
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= 1'b0;
      index_q <= '0;
      pick_q  <= '0;
    end else begin
      head_q  <= head_i;
      index_q <= index_i;
      pick_q  <= pick;
    end
  end

endmodule

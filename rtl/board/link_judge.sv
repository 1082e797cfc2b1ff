// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a frame, by its head and what the board knows: the rules of docs/link.md, "Sessions", "Epochs" and
// "Segments". Comparisons come first, and have a register behind them; the judgement is made of those.
//
// Latency: 2 clocks from the head.
module link_judge
  import board_pkg::*;
#(
  parameter int unsigned Slots = 1,
  // There is a store.
  parameter bit Store = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input head_t head_i,
  input logic  sound_i, // nothing in the head is against the rules of a frame of its kind

  input logic        opened_i,
  input logic [47:0] host_i,
  input logic [15:0] session_i,
  input logic [ 7:0] sets_i,     // of the frame's slot
  input logic [ 7:0] keys_i,

  // The slot's frame that is not complete.
  input logic        partial_i,
  input logic [ 7:0] kind_i,
  input logic [ 7:0] slot_i,
  input logic [15:0] next_i,     // number of its next segment

  output judgement_t judgement_o
);

  // The source is there a clock before the third word, so its comparison has a clock more.
  logic [2:0][7:0] host_pairs_q;
  logic [7:0] session_pairs_q, number_pairs_q, segment_pairs_q;
  logic [3:0] numbered_q;  // nibbles of the session that are not 0
  logic host_q, partial_q, slot_q, sets_now_q, sets_next_q, keys_now_q, keys_next_q;
  logic hello_q, data_q, load_q, key_q, register_q, bye_q, store_q;
  logic [7:0] sets, keys;  // how far the frame's epochs are ahead

  assign sets = head_i.link.sets - sets_i;
  assign keys = head_i.link.keys - keys_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_pairs_q    <= '0;
      session_pairs_q <= '0;
      number_pairs_q  <= '0;
      segment_pairs_q <= '0;
      numbered_q      <= '0;
      host_q          <= 1'b0;
      partial_q       <= 1'b0;
      slot_q          <= 1'b0;
      sets_now_q      <= 1'b0;
      sets_next_q     <= 1'b0;
      keys_now_q      <= 1'b0;
      keys_next_q     <= 1'b0;
      hello_q         <= 1'b0;
      data_q          <= 1'b0;
      load_q          <= 1'b0;
      key_q           <= 1'b0;
      register_q      <= 1'b0;
      bye_q           <= 1'b0;
      store_q         <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < 3; i++) begin
        host_pairs_q[i] <= same_pairs(head_i.source[16*i+:16], host_i[16*i+:16]);
      end
      for (int unsigned i = 0; i < 4; i++) numbered_q[i] <= head_i.link.session[4*i+:4] != '0;
      host_q          <= host_pairs_q == '1;
      session_pairs_q <= same_pairs(head_i.link.session, session_i);
      number_pairs_q  <= same_pairs(head_i.link.number, next_i);
      segment_pairs_q <= same_pairs({head_i.kind, head_i.link.slot}, {kind_i, slot_i});
      partial_q       <= partial_i;
      slot_q          <= head_i.link.slot < 8'(Slots);
      sets_now_q      <= sets == 8'd0;
      sets_next_q     <= sets == 8'd1;
      keys_now_q      <= keys == 8'd0;
      keys_next_q     <= keys == 8'd1;
      hello_q         <= sound_i && head_i.kind == KindHello;
      data_q          <= sound_i && head_i.kind == KindData;
      load_q          <= sound_i && (head_i.kind == KindLoad || (Store && head_i.kind == KindRecall));
      key_q           <= sound_i && head_i.kind == KindKey;
      register_q      <= sound_i && head_i.kind == KindRegister;
      bye_q           <= sound_i && head_i.kind == KindBye;
      store_q         <= sound_i && Store && head_i.kind == KindStore;
    end
  end

  logic session, follows;
  assign session = session_pairs_q == '1;
  assign follows = partial_q && number_pairs_q == '1 && segment_pairs_q == '1;

  logic ours, current, again, beats, passes;
  judgement_t judgement;

  assign ours = opened_i && host_q && session;
  assign beats = data_q || load_q || key_q;
  // Epochs of a frame that is taken, and of one that came before.
  assign current = keys_now_q && sets_now_q ? data_q : keys_now_q && sets_next_q ? load_q : keys_next_q && sets_now_q && key_q;
  assign again = keys_now_q && sets_now_q && !data_q;
  assign passes = ours && beats && slot_q && current && (head_i.first || follows);

  always_comb begin
    judgement     = '{act: ActReply, reply: ReplyRefused, why: 3'd0, cut: 1'b0, alive: ours};
    judgement.cut = ours && beats && slot_q && partial_i && !(passes && !head_i.first);
    if (hello_q) begin
      if (!opened_i || (host_q && !session)) judgement.act = ActOpen;
      if (opened_i && !host_q) judgement.why = WhyHost;
      else judgement.reply = ReplyIdentity;
      if (numbered_q == '0) judgement.act = ActDrop;
    end else if (!beats && !register_q && !bye_q && !store_q) judgement.act = ActDrop;
    else if (!opened_i) judgement.why = WhySession;
    else if (!host_q) judgement.why = WhyHost;
    else if (!session) judgement.why = WhySession;
    else if (bye_q) begin
      judgement.act   = ActEnd;
      judgement.reply = ReplyIdentity;
    end else if (register_q || store_q) begin
      judgement.act   = ActValue;
      judgement.reply = register_q ? ReplyRegister : ReplyStored;
    end else if (!slot_q) judgement.why = WhySlot;
    else if (again) judgement.reply = ReplyVerdict;
    else if (!current) judgement.reply = ReplyStale;
    else if (!passes) judgement.why = WhySegment;
    else judgement.act = ActPass;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) judgement_o <= '0;
    else judgement_o <= judgement;
  end

endmodule

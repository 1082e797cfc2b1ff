// SPDX-License-Identifier: Apache-2.0
//
// Frames of the host, word by word: the head, a judgement, and then beats to the slot or to the store, an answer of the
// link's own, or nothing. Behind a recall's beats the slot gets words of the store. Whoever waits for an answer of the
// link's own waits with its head, and so do the frames behind. A slot's frame that is not complete, and whose next
// segment does not come, is ended with a beat of zeros.
//
// Clocks per frame besides its beats: 7, 2 more of the store, and 1 more for an end.
module link_in
  import board_pkg::*;
#(
  parameter int unsigned Slots = 1,
  // There is a store.
  parameter bit Store = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] word_i,

  output head_t      head_o,
  output logic       sound_o,
  input  judgement_t judgement_i,

  // The slot's frame that is not complete.
  output logic        partial_o,
  output logic [ 7:0] kind_o,
  output logic [ 7:0] slot_o,
  output logic [15:0] next_o,

  // Sessions.
  output logic open_o,
  output logic end_o,
  output logic alive_o,
  input  logic clear_i,

  // A first beat that is the link's own: of a register's frame, of the store's, or of a recall. What is wrong with it is
  // said one clock later of a register, and two clocks later of the store.
  output logic        register_o,
  output logic [63:0] value_o,
  input  logic        register_bad_i, // there is none of this number, or it is under way

  // The store; the word is the same.
  output to_store_t   store_o,
  input  from_store_t store_i,

  // An answer of the link's own.
  output logic         reply_o,
  output reply_e       reply_kind_o,
  output logic   [2:0] why_o,
  input  logic         replied_i,

  // To slots, and what of it those who keep epochs look at.
  output logic             s_valid_o,
  output logic             s_last_o,
  output logic [     63:0] s_data_o,
  input  logic [Slots-1:0] s_ready_i,
  output logic             begin_o,    // the beat is a frame's first one
  output logic             cut_o,      // the beat ends a frame before its time

  output logic [TallyBits-1:0] dropped_o
);

  typedef enum logic [3:0] {
    First,
    Second,
    Third,
    Look,
    Judge,
    Act,
    Cut,
    Beats,
    Value,
    Sum,
    Check,
    Fill,
    Recall,
    Wait,
    Answer,
    Drop
  } state_e;

  state_e state_q;
  head_t head_q;
  logic [7:0] left_q;
  logic bad_q, last_beat_q;  // flags or address are against the rules; the frame's last beat is next
  logic recall_q, store_q;  // kinds, where there is a store
  logic s_ready, take;

  assign head_o = head_q;


  // -- the head ---------------------------------------------------------------------------------------------

  // Data, load and key have beats, store and recall two at least, a register has one and the others have none. Key, store
  // and recall are one segment; only hello may go to all.
  logic few_q;  // one beat at most
  assign sound_o = !bad_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q   <= '0;
      bad_q    <= 1'b0;
      few_q    <= 1'b0;
      recall_q <= 1'b0;
      store_q  <= 1'b0;
    end else if (valid_i) begin
      if (state_q == First) begin
        head_q.to_all       <= word_i[0];
        head_q.source[15:0] <= word_i[63:48];
      end
      if (state_q == Second) begin
        head_q.source[47:16] <= word_i[31:0];
        head_q.kind <= word_i[55:48];
        head_q.first <= word_i[56];
        head_q.last <= word_i[57];
        bad_q <= word_i[63:58] != '0 || (head_q.to_all && word_i[55:48] != KindHello)
            || (word_i[55:48] inside {KindKey, KindStore, KindRecall} && word_i[57:56] != '1);
        recall_q <= Store && word_i[55:48] == KindRecall;
        store_q <= Store && word_i[55:48] == KindStore;
      end
      if (state_q == Third) begin
        head_q.link <= third_t'(word_i);
        few_q       <= word_i[47:41] == '0;
        unique case (head_q.kind)
          KindHello, KindBye: if (word_i[47:40] != '0) bad_q <= 1'b1;
          KindStore, KindRecall: if (word_i[47:41] == '0) bad_q <= 1'b1;
          KindRegister: if (word_i[47:40] != 8'd1) bad_q <= 1'b1;
          default: if (word_i[47:40] == '0) bad_q <= 1'b1;
        endcase
      end
    end
  end

  // -- what is done -----------------------------------------------------------------------------------------

  // Nothing but beats that have been let pass is ever on the way to a slot.
  logic passing_q, recalling_q;
  assign s_valid_o = (passing_q && valid_i) || (recalling_q && store_i.valid) || cut_o;
  assign s_last_o  = cut_o || (recalling_q ? store_i.last : last_beat_q && head_q.last && !recall_q);
  assign s_data_o  = (word_i & {64{passing_q}}) | (store_i.word & {64{recalling_q}});
  assign cut_o     = state_q == Cut;

  always_comb begin
    s_ready = s_ready_i[0];
    for (int unsigned s = 1; s < Slots; s++) begin
      if (slot_o == 8'(s)) s_ready = s_ready_i[s];
    end
  end

  assign take = valid_i && s_ready;

  assign value_o = word_i;
  assign register_o = state_q == Value && valid_i && !recall_q && !store_q;
  assign store_o = '{
      where: state_q == Value && valid_i && (recall_q || store_q),
      recall: recall_q,
      left: left_q,
      write: state_q == Fill && valid_i,
      last: last_beat_q,
      go: state_q == Check && recall_q && !store_i.bad,
      ready: recalling_q && s_ready
    };

  assign ready_o = state_q == First || state_q == Second || state_q == Third || state_q == Drop || (passing_q && s_ready)
      || state_q == Value || state_q == Fill;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= First;
      left_q       <= '0;
      last_beat_q  <= 1'b0;
      passing_q    <= 1'b0;
      recalling_q  <= 1'b0;
      partial_o    <= 1'b0;
      kind_o       <= '0;
      slot_o       <= '0;
      next_o       <= '0;
      open_o       <= 1'b0;
      end_o        <= 1'b0;
      alive_o      <= 1'b0;
      begin_o      <= 1'b0;
      reply_o      <= 1'b0;
      reply_kind_o <= ReplyIdentity;
      why_o        <= '0;
      dropped_o    <= '0;
    end else begin
      open_o  <= 1'b0;
      end_o   <= 1'b0;
      alive_o <= 1'b0;
      unique case (state_q)
        First:  if (valid_i) state_q <= Second;
        Second: if (valid_i) state_q <= Third;
        Third:  if (valid_i) state_q <= Look;
        Look: begin
          left_q <= head_q.link.beats;
          if (!clear_i) state_q <= Judge;
        end
        Judge:  state_q <= Act;
        Act: begin
          last_beat_q <= few_q;
          if (clear_i) state_q <= Look;
          else if (judgement_i.cut) state_q <= Cut;
          else begin
            alive_o      <= judgement_i.alive;
            reply_kind_o <= judgement_i.reply;
            why_o        <= judgement_i.why;
            unique case (judgement_i.act)
              ActPass: begin
                state_q   <= recall_q ? Value : Beats;
                passing_q <= !recall_q;
                begin_o   <= head_q.first;
                partial_o <= !head_q.last;
                kind_o    <= recall_q ? KindLoad : head_q.kind;
                slot_o    <= head_q.link.slot;
                next_o    <= head_q.link.number + 16'd1;
              end
              ActOpen, ActEnd: begin
                open_o  <= judgement_i.act == ActOpen;
                end_o   <= judgement_i.act == ActEnd;
                state_q <= Wait;
              end
              ActValue: state_q <= Value;
              ActReply: state_q <= Answer;
              default: begin
                dropped_o <= dropped_o + TallyBits'(1);
                state_q   <= left_q == '0 ? First : Drop;
              end
            endcase
          end
        end
        Cut:
        if (clear_i || s_ready) begin
          partial_o <= 1'b0;
          state_q   <= Look;
        end
        Beats:
        if (take) begin
          left_q      <= left_q - 8'd1;
          begin_o     <= 1'b0;
          last_beat_q <= left_q == 8'd2;
          if (last_beat_q) begin
            state_q     <= recall_q ? Recall : First;
            recalling_q <= recall_q;
            passing_q   <= 1'b0;
          end
        end
        // The only beat of a register's frame, and the first one of the store's.
        Value:
        if (valid_i) begin
          left_q      <= left_q - 8'd1;
          last_beat_q <= left_q == 8'd2;
          state_q     <= recall_q || store_q ? Sum : Check;
        end
        Sum:    state_q <= Check;
        Check: begin
          if (recall_q || store_q) begin
            state_q   <= store_i.bad ? Answer : store_q ? Fill : Beats;
            passing_q <= recall_q && !store_i.bad;
            if (store_i.bad) begin
              reply_kind_o <= ReplyRefused;
              why_o        <= WhyStore;
            end
          end else begin
            state_q <= register_bad_i ? First : Answer;
            if (register_bad_i) dropped_o <= dropped_o + TallyBits'(1);
          end
        end
        Fill:
        if (valid_i) begin
          left_q      <= left_q - 8'd1;
          last_beat_q <= left_q == 8'd2;
          if (last_beat_q) state_q <= Answer;
        end
        Recall:
        if (store_i.valid && s_ready && store_i.last) begin
          state_q     <= First;
          recalling_q <= 1'b0;
        end
        // A session may have ended by itself in the very clock, and another one has not begun: so hello is judged anew.
        Wait:   if (!open_o && !end_o && !clear_i) state_q <= head_q.kind == KindHello ? Look : Answer;
        Answer: begin
          reply_o <= !replied_i;
          if (replied_i) state_q <= left_q == '0 ? First : Drop;
        end
        default:
        if (valid_i) begin
          left_q      <= left_q - 8'd1;
          last_beat_q <= left_q == 8'd2;
          if (last_beat_q) state_q <= First;
        end
      endcase
      if (clear_i) begin
        reply_o     <= 1'b0;
        partial_o   <= 1'b0;
        passing_q   <= 1'b0;
        recalling_q <= 1'b0;
        // What is left of the frame goes nowhere.
        if (state_q inside {Sum, Check, Answer}) state_q <= left_q == '0 ? First : Drop;
        if (state_q == Beats) state_q <= take && last_beat_q ? First : Drop;
        if (state_q inside {Value, Fill}) state_q <= valid_i && last_beat_q ? First : Drop;
        if (state_q == Recall) state_q <= First;
      end
    end
  end

endmodule

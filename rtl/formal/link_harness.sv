// SPDX-License-Identifier: Apache-2.0
//
// What the link lets in, between any words of the queue, any slot and any transmit side: whose frames reach the slot and
// under which epochs, when epochs move, that slot's frames begin and end, and that a frame has one answer of the link's
// own at most, and none if it went to the slot.
module link_harness
  import board_pkg::*;
  import slot_pkg::*;
#(
  // Covers, as what must not be reached.
  parameter bit NoData = 1'b0,
  parameter bit NoKey = 1'b0,
  parameter bit NoCut = 1'b0,
  parameter bit NoRecall = 1'b0,
  parameter bit NoStored = 1'b0
) (
  input logic clk_i,
  input logic valid_i,
  input logic [63:0] word_i,
  input logic s_ready_i,
  input logic replied_i,
  input logic register_bad_i,
  input from_store_t store_i,
  input logic flushed_i,
  input logic empty_i,
  input logic trailer_i,
  input logic [63:0] data_i
);

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  head_t head;
  judgement_t judgement;
  reply_e reply_kind;
  logic ready, sound, partial, open, ends, alive, clear, set_register, reply, slots_rst_n, flush, opened;
  logic s_valid, s_last, begins, cut, known;
  logic [2:0] why;
  logic [7:0] kind, slot, sets, keys;
  logic [15:0] next, session;
  logic [47:0] host;
  logic [63:0] own_value, s_data, verdict;
  to_store_t to_store;
  logic [TallyBits-1:0] dropped;

  link_in #(
    .Slots(1),
    .Store(1'b1)
  ) u_in (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o     (ready),
    .word_i,
    .head_o      (head),
    .sound_o     (sound),
    .judgement_i (judgement),
    .partial_o   (partial),
    .kind_o      (kind),
    .slot_o      (slot),
    .next_o      (next),
    .open_o      (open),
    .end_o       (ends),
    .alive_o     (alive),
    .clear_i     (clear),
    .register_o  (set_register),
    .value_o     (own_value),
    .register_bad_i,
    .store_o     (to_store),
    .store_i,
    .reply_o     (reply),
    .reply_kind_o(reply_kind),
    .why_o       (why),
    .replied_i   (replied_i && reply),
    .s_valid_o   (s_valid),
    .s_last_o    (s_last),
    .s_data_o    (s_data),
    .s_ready_i   (s_ready_i && slots_rst_n),
    .begin_o     (begins),
    .cut_o       (cut),
    .dropped_o   (dropped)
  );

  link_judge #(
    .Slots(1),
    .Store(1'b1)
  ) u_judge (
    .clk_i,
    .rst_ni,
    .head_i     (head),
    .sound_i    (sound),
    .opened_i   (opened),
    .host_i     (host),
    .session_i  (session),
    .sets_i     (sets),
    .keys_i     (keys),
    .partial_i  (partial),
    .kind_i     (kind),
    .slot_i     (slot),
    .next_i     (next),
    .judgement_o(judgement)
  );

  link_session #(
    .SessionBits(4),
    .LeastBits  (1)
  ) u_session (
    .clk_i,
    .rst_ni,
    .open_i      (open),
    .end_i       (ends),
    .alive_i     (alive),
    .source_i    (head.source),
    .number_i    (head.link.session),
    .opened_o    (opened),
    .host_o      (host),
    .session_o   (session),
    .clear_o     (clear),
    .slots_rst_no(slots_rst_n),
    .flush_o     (flush),
    .flushed_i,
    .empty_i
  );

  logic take;
  assign take = s_valid && s_ready_i && slots_rst_n;

  logic [63:0] data_q;
  always_ff @(posedge clk_i) data_q <= data_i;

  link_slot u_slot (
    .clk_i,
    .rst_ni,
    .clear_i  (clear),
    .take_i   (take),
    .begin_i  (begins),
    .last_i   (s_last),
    .cut_i    (cut),
    .kind_i   (kind),
    .tag_i    (s_data[47:32]),
    .next_i   (data_i),
    .trailer_i,
    .data_i   (data_q),
    .sets_o   (sets),
    .keys_o   (keys),
    .known_o  (known),
    .verdict_o(verdict)
  );

  // -- what reaches the slot --------------------------------------------------------------------------------

  // Words of the frame so far, from what its third word says: the harness counts by itself.
  logic [8:0] left_q;
  logic [1:0] words_q;
  logic taken_head;
  assign taken_head = words_q != 2'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      words_q <= '0;
    end else if (valid_i && ready) begin
      if (words_q == 2'd2) begin
        left_q  <= {1'b0, word_i[47:40]};
        words_q <= word_i[47:40] == '0 ? 2'd0 : 2'd3;
      end else if (words_q == 2'd3) begin
        left_q  <= left_q - 9'd1;
        words_q <= left_q == 9'd1 ? 2'd0 : 2'd3;
      end else words_q <= words_q + 2'd1;
    end
  end

  logic within_q;  // a frame has begun that has not ended
  logic [7:0] sets_q, keys_q;
  logic moved_q, load_q, clear_q, answered_q, passed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      within_q   <= 1'b0;
      sets_q     <= '0;
      keys_q     <= '0;
      moved_q    <= 1'b0;
      load_q     <= 1'b0;
      clear_q    <= 1'b1;
      answered_q <= 1'b1;
      passed_q   <= 1'b0;
    end else begin
      if (take) within_q <= !s_last;
      if (clear) within_q <= 1'b0;
      sets_q  <= sets;
      keys_q  <= keys;
      clear_q <= clear;
      moved_q <= take && s_last && !cut && kind != KindData;
      load_q  <= kind == KindLoad;
      // The frame that is looked at has its answer, or needs none: until another one's head comes.
      if (replied_i && reply) answered_q <= 1'b1;
      if (take && !cut) passed_q <= 1'b1;
      if (valid_i && ready && !taken_head) begin
        answered_q <= 1'b0;
        passed_q   <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (take && !cut) begin
        assert (opened && head.source == host && head.link.session == session)
        else $error("a frame of another host or session reaches the slot");
        assert (!head.to_all && sound)
        else $error("a frame against the rules reaches the slot");
        assert (head.link.slot == 8'd0)
        else $error("a frame for another slot reaches it");
        unique case (head.kind)
          KindData:
          assert (head.link.sets == sets && head.link.keys == keys)
          else $error("data of another epoch reach the slot");
          KindLoad, KindRecall:
          assert ((head.kind == KindLoad || (head.first && head.last)) && head.link.sets == sets + 8'd1 && head.link.keys == keys)
          else $error("a load that is not the next one reaches the slot");
          KindKey:
          assert (head.link.sets == sets && head.link.keys == keys + 8'd1 && head.first && head.last)
          else $error("a key that is not the next one reaches the slot");
          default:
          assert (1'b0)
          else $error("a frame that is none of the slot's reaches it");
        endcase
        assert (within_q == !(begins && head.first))
        else $error("a frame begins in another one, or goes on where none is");
      end
      if (take && cut) begin
        assert (within_q && s_data == '0)
        else $error("an end where no frame is, or with data");
      end
      if (!take && !cut && !(s_valid && (valid_i || store_i.valid))) begin
        assert (!s_valid)
        else $error("a beat that no word has");
      end
      // Epochs move by one, with the last beat of a load or key alone.
      if (!clear_q) begin
        assert (sets == sets_q + 8'(moved_q && load_q))
        else $error("the epoch of sets moves otherwise");
        assert (keys == keys_q + 8'(moved_q && !load_q))
        else $error("the epoch of keys moves otherwise");
      end
      if (clear_q && clear) begin
        assert (sets == '0 && keys == '0 && !known && !slots_rst_n)
        else $error("something is left of a session");
      end
      if (reply) begin
        assert (!answered_q)
        else $error("a second answer, or one that nobody has asked for");
        assert (!passed_q)
        else $error("an answer of the link's own to what went to the slot");
      end
      // Every word is taken as what it is: whoever waits for a first one waits for a frame's.
      if (take && !cut) begin
        assert (words_q == 2'd3 || to_store.ready)
        else $error("a word of a head goes to the slot");
      end
      // Whoever fills the store, or has words from there, has the session.
      if ((to_store.write || to_store.go || to_store.ready) && !clear) begin
        assert (opened && head.source == host && head.link.session == session && sound)
        else $error("a frame of another host or session reaches the store");
        assert (head.kind == (to_store.write ? KindStore : KindRecall))
        else $error("a frame that is none of the store's reaches it");
      end
      if (NoRecall) begin
        assert (!(take && s_last && !cut && to_store.ready))
        else $error("reached: a recall's end");
      end
      if (NoStored) begin
        assert (!(reply && reply_kind == ReplyStored))
        else $error("reached: words are stored");
      end
      if (NoData) begin
        assert (!(take && s_last && !cut && kind == KindData))
        else $error("reached: data");
      end
      if (NoKey) begin
        assert (!(keys == 8'd1))
        else $error("reached: a key");
      end
      if (NoCut) begin
        assert (!(take && cut))
        else $error("reached: an end before its time");
      end
    end
  end

endmodule

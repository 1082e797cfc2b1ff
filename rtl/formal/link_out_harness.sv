// SPDX-License-Identifier: Apache-2.0
//
// Answers into the transmit queue, between any two slots that keep what they offer and any request that waits for its
// answer. The queue's reader takes what is committed as it likes.
module link_out_harness
  import board_pkg::*;
  import slot_pkg::*;
#(
  // A cover, as what must not be reached: a slot's answer has a second segment.
  parameter bit NoSecond = 1'b0
) (
  input logic clk_i,
  input logic reply_i,
  input reply_e kind_i,
  input logic clear_i,
  input stream_t [1:0] m_axis_i,
  input logic [31:0] half_i,
  input logic [8:0] step_i
);

  localparam int unsigned Bits = 9;
  typedef logic [Bits-1:0] at_t;

  logic rst_ni, replied, own, head, first, last, write, empty, slot;
  logic [1:0] ready, trailer;
  logic [ 3:0] index;
  logic [ 7:0] beats;
  logic [15:0] number;
  at_t write_at, committed, read_q, committed_q;
  logic [63:0] data;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  link_out #(
    .Slots      (2),
    .AddressBits(Bits),
    .PauseBits  (1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .reply_i,
    .kind_i,
    .replied_o     (replied),
    .m_axis_i,
    .m_axis_ready_o(ready),
    .trailer_o     (trailer),
    .own_o         (own),
    .head_o        (head),
    .index_o       (index),
    .half_i,
    .slot_o        (slot),
    .beats_o       (beats),
    .number_o      (number),
    .first_o       (first),
    .last_o        (last),
    .write_o       (write),
    .write_at_o    (write_at),
    .write_data_o  (data),
    .committed_o   (committed),
    .read_i        (read_q),
    .empty_o       (empty)
  );

  // -- the surroundings -------------------------------------------------------------------------------------

  logic waits_q, asked_q;
  reply_e kind_q;
  logic [1:0] offered_q;
  logic [3:0] clear_q;
  at_t filled;
  assign filled = committed - read_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q    <= '0;
      asked_q   <= 1'b0;
      kind_q    <= ReplyIdentity;
      offered_q <= '0;
      waits_q   <= 1'b1;
      clear_q   <= '0;
    end else begin
      if (step_i <= filled) read_q <= read_q + step_i;
      asked_q <= reply_i && !replied && !clear_i;
      kind_q  <= kind_i;
      waits_q <= replied;
      clear_q <= {clear_q[2:0], clear_i};
      for (int unsigned s = 0; s < 2; s++) offered_q[s] <= m_axis_i[s].valid && !ready[s] && !clear_i;
    end
  end

  always_comb begin
    if (rst_ni) begin
      // A clear takes its time: what was on its way is written meanwhile.
      assume (!clear_q[0] || clear_q == '1 || clear_i);
      // A request waits until it has its answer, and none follows in the next clock.
      assume (!asked_q || (reply_i && kind_i == kind_q));
      assume (!(waits_q && reply_i));
      assume (kind_i == ReplyIdentity || kind_i == ReplyVerdict || kind_i == ReplyStale || kind_i == ReplyRegister
          || kind_i == ReplyRefused);
      for (int unsigned s = 0; s < 2; s++) assume (!offered_q[s] || m_axis_i[s].valid);
    end
  end

  // -- what holds -------------------------------------------------------------------------------------------

  // The clock in which the head is complete: what it says is asked for by then.
  logic commit;
  assign commit = head && index == 4'(2 * HeadWords);

  // Words since the last commit, and places of the head among them.
  at_t count_q;
  logic [2:0] head_q;
  logic [1:0] within_q, cut_q;  // a slot's answer goes on; its last beat is in this segment

  at_t place;
  assign place = write_at - committed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q     <= '0;
      head_q      <= '0;
      within_q    <= '0;
      cut_q       <= '0;
      committed_q <= '0;
    end else begin
      committed_q <= committed;
      if (write) begin
        count_q <= count_q + at_t'(1);
        if (place < at_t'(HeadWords)) head_q[place[1:0]] <= 1'b1;
      end
      for (int unsigned s = 0; s < 2; s++) begin
        if (m_axis_i[s].valid && ready[s]) begin
          cut_q[s] <= m_axis_i[s].last;
        end
      end
      if (committed != committed_q) begin
        count_q <= '0;
        head_q  <= '0;
      end
      if (commit && !own) within_q[slot] <= !cut_q[slot];
      if (clear_i) begin
        count_q  <= '0;
        head_q   <= '0;
        within_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (write && !clear_i) begin
        assert (place < at_t'(HeadWords + MaxBeats))
        else $error("a word outside of the frame's room");
        assert (at_t'(place + filled) >= filled && at_t'(place + filled) != '1)
        else $error("a word that has not been sent is written over");
      end
      if (committed != committed_q) begin
        assert (at_t'(committed - committed_q) == count_q)
        else $error("other words are committed than were written");
        assert (head_q == '1)
        else $error("a frame is committed without its head");
      end
      if (commit && !own) begin
        assert (first == !within_q[slot])
        else $error("a segment that is no first one is called one");
        assert (last == cut_q[slot])
        else $error("a segment that is no last one is called one");
      end
      assert (!(ready == '1))
      else $error("beats of two slots in one segment");
      if (replied) begin
        assert (reply_i && own)
        else $error("an answer that nobody has asked for");
      end
      if (NoSecond) begin
        assert (!(commit && !own && within_q[slot]))
        else $error("reached: a second segment");
      end
    end
  end

endmodule

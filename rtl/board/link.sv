// SPDX-License-Identifier: Apache-2.0
//
// The link: frames of the host to slots, and answers back, by the rules of docs/link.md. Everything is in the clock of
// the slots.
//
// Clocks from a frame's commit to its first beat at a slot: 13 besides the crossing.
module link
  import board_pkg::*;
  import slot_pkg::stream_t;
#(
  parameter int unsigned Slots = 1,
  parameter int unsigned SlotKhz = 100_000,
  parameter logic [7:0] Arrays = '0,
  parameter logic [63:0] Identity = '0,
  parameter int unsigned RxBits = 11,
  parameter int unsigned TxBits = 9,
  // Words of the store: 2^n; 0: there is none.
  parameter int unsigned StoreBits = 0,
  parameter int unsigned SessionBits = 28,
  parameter int unsigned SearchBits = 18
) (
  input logic clk_i,
  input logic rst_ni,

  // The receive queue.
  input  logic   [RxBits-1:0] rx_committed_i,
  output logic   [RxBits-1:0] rx_taken_o,
  output logic                rx_read_o,
  output logic   [RxBits-1:0] rx_read_at_o,
  input  logic   [      63:0] rx_word_i,
  input  tally_t              received_i,

  // The transmit queue.
  output logic                 tx_write_o,
  output logic [   TxBits-1:0] tx_write_at_o,
  output logic [         63:0] tx_word_o,
  output logic [   TxBits-1:0] tx_committed_o,
  output logic                 tx_flush_o,
  input  logic                 tx_flushed_i,
  input  logic [   TxBits-1:0] tx_read_i,
  input  logic [TallyBits-1:0] sent_i,

  // Slots.
  output logic                slots_rst_no,
  output stream_t [Slots-1:0] s_axis_o,
  input  logic    [Slots-1:0] s_axis_ready_i,
  input  stream_t [Slots-1:0] m_axis_i,
  output logic    [Slots-1:0] m_axis_ready_o,

  // Delay lines, MDIO and LED.
  output logic move_o,
  output logic down_o,
  output logic mdc_o,
  output logic mdio_o,
  output logic mdio_z_o,
  input  logic mdio_i,
  output logic led_o
);

  if (Slots < 1 || Slots > MaxSlots) begin : gen_illegal_slots
    $error("link: Slots must be from 1 to 8");
  end

  localparam int unsigned SlotBits = Slots > 1 ? $clog2(Slots) : 1;

  // -- frames in --------------------------------------------------------------------------------------------

  head_t head;
  judgement_t judgement;
  reply_e reply_kind;
  logic valid, ready, sound, partial, open, ends, alive, clear, set_register, register_bad, reply, replied;
  logic s_valid, s_last, begins, cut, opened;
  logic [2:0] why;
  logic [7:0] kind, slot;
  logic [15:0] next, session;
  logic [47:0] host;
  logic [63:0] own_value, s_data;
  to_store_t to_store;
  from_store_t from_store;
  logic [TallyBits-1:0] dropped;
  logic [7:0] at_slot, at_sets, at_keys, head_sets, head_keys;

  link_fetch #(
    .AddressBits(RxBits)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .committed_i(rx_committed_i),
    .read_o     (rx_read_o),
    .read_at_o  (rx_read_at_o),
    .taken_o    (rx_taken_o),
    .valid_o    (valid),
    .ready_i    (ready)
  );

  link_in #(
    .Slots(Slots),
    .Store(StoreBits != 0)
  ) u_in (
    .clk_i,
    .rst_ni,
    .valid_i       (valid),
    .ready_o       (ready),
    .word_i        (rx_word_i),
    .head_o        (head),
    .sound_o       (sound),
    .judgement_i   (judgement),
    .partial_o     (partial),
    .kind_o        (kind),
    .slot_o        (slot),
    .next_o        (next),
    .open_o        (open),
    .end_o         (ends),
    .alive_o       (alive),
    .clear_i       (clear),
    .register_o    (set_register),
    .value_o       (own_value),
    .register_bad_i(register_bad),
    .store_o       (to_store),
    .store_i       (from_store),
    .reply_o       (reply),
    .reply_kind_o  (reply_kind),
    .why_o         (why),
    .replied_i     (replied),
    .s_valid_o     (s_valid),
    .s_last_o      (s_last),
    .s_data_o      (s_data),
    .s_ready_i     (s_axis_ready_i),
    .begin_o       (begins),
    .cut_o         (cut),
    .dropped_o     (dropped)
  );

  link_judge #(
    .Slots(Slots),
    .Store(StoreBits != 0)
  ) u_judge (
    .clk_i,
    .rst_ni,
    .head_i     (head),
    .sound_i    (sound),
    .opened_i   (opened),
    .host_i     (host),
    .session_i  (session),
    .sets_i     (head_sets),
    .keys_i     (head_keys),
    .partial_i  (partial),
    .kind_i     (kind),
    .slot_i     (slot),
    .next_i     (next),
    .judgement_o(judgement)
  );

  if (StoreBits != 0) begin : gen_store
    link_store #(
      .AddressBits(StoreBits)
    ) u_store (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .store_i(to_store),
      .word_i (own_value),
      .store_o(from_store)
    );
  end else begin : gen_no_store
    to_store_t unused_store;
    assign unused_store = to_store;
    assign from_store   = '0;
  end

  // -- sessions and epochs ----------------------------------------------------------------------------------

  logic tx_empty;

  link_session #(
    .SessionBits(SessionBits)
  ) u_session (
    .clk_i,
    .rst_ni,
    .open_i   (open),
    .end_i    (ends),
    .alive_i  (alive),
    .source_i (head.source),
    .number_i (head.link.session),
    .opened_o (opened),
    .host_o   (host),
    .session_o(session),
    .clear_o  (clear),
    .slots_rst_no,
    .flush_o  (tx_flush_o),
    .flushed_i(tx_flushed_i),
    .empty_i  (tx_empty)
  );

  logic [Slots-1:0][7:0] sets, keys;
  logic [Slots-1:0][63:0] verdicts;
  logic [MaxSlots-1:0][15:0] epochs;
  logic [Slots-1:0] known, trailer;
  logic [63:0] verdict;
  logic verdict_known;

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    assign s_axis_o[s] = '{s_valid && slot == 8'(s), s_last, s_data};

    link_slot u_slot (
      .clk_i,
      .rst_ni,
      .clear_i  (clear),
      .take_i   (s_axis_o[s].valid && s_axis_ready_i[s]),
      .begin_i  (begins),
      .last_i   (s_last),
      .cut_i    (cut),
      .kind_i   (kind),
      .tag_i    (s_data[47:32]),
      .next_i   (m_axis_i[s].data),
      .trailer_i(trailer[s]),
      .data_i   (tx_word_o),
      .sets_o   (sets[s]),
      .keys_o   (keys[s]),
      .known_o  (known[s]),
      .verdict_o(verdicts[s])
    );
  end

  // Of a slot that there is none of, what the first one has.
  always_comb begin
    head_sets     = sets[0];
    head_keys     = keys[0];
    verdict       = verdicts[0];
    verdict_known = known[0];
    at_sets       = sets[0];
    at_keys       = keys[0];
    for (int unsigned s = 1; s < Slots; s++) begin
      if (head.link.slot == 8'(s)) begin
        head_sets     = sets[s];
        head_keys     = keys[s];
        verdict       = verdicts[s];
        verdict_known = known[s];
      end
      if (at_slot == 8'(s)) begin
        at_sets = sets[s];
        at_keys = keys[s];
      end
    end
  end

  always_comb begin
    epochs = '0;
    for (int unsigned s = 0; s < Slots; s++) epochs[s] = {keys[s], sets[s]};
  end

  // -- registers and counters -------------------------------------------------------------------------------

  logic [31:0] value, register_number, count;
  logic [2:0] count_at;
  logic [6:0] tap, tap_want;
  logic tap_go, tap_arrived, mdio_go, mdio_write, mdio_busy, counters_clear, counting, led;
  logic [4:0] mdio_phy, mdio_register;
  logic [15:0] mdio_data, mdio_read;

  link_registers u_registers (
    .clk_i,
    .rst_ni,
    .go_i            (set_register),
    .word_i          (own_value),
    .bad_o           (register_bad),
    .register_o      (register_number),
    .value_o         (value),
    .tap_go_o        (tap_go),
    .tap_want_o      (tap_want),
    .tap_i           (tap),
    .tap_arrived_i   (tap_arrived),
    .mdio_go_o       (mdio_go),
    .mdio_write_o    (mdio_write),
    .mdio_phy_o      (mdio_phy),
    .mdio_register_o (mdio_register),
    .mdio_data_o     (mdio_data),
    .mdio_busy_i     (mdio_busy),
    .mdio_data_i     (mdio_read),
    .counters_clear_o(counters_clear),
    .led_o           (led)
  );

  assign led_o = led || opened;

  taps #(
    .SearchBits(SearchBits)
  ) u_taps (
    .clk_i,
    .rst_ni,
    .go_i     (tap_go),
    .tap_i    (tap_want),
    .whole_i  (received_i.whole),
    .tap_o    (tap),
    .arrived_o(tap_arrived),
    .move_o,
    .down_o
  );

  mdio u_mdio (
    .clk_i,
    .rst_ni,
    .go_i      (mdio_go),
    .write_i   (mdio_write),
    .phy_i     (mdio_phy),
    .register_i(mdio_register),
    .data_i    (mdio_data),
    .busy_o    (mdio_busy),
    .data_o    (mdio_read),
    .mdc_o,
    .mdio_o,
    .mdio_z_o,
    .mdio_i
  );

  link_counters u_counters (
    .clk_i,
    .rst_ni,
    .received_i,
    .dropped_i(dropped),
    .sent_i,
    .clear_i  (counters_clear),
    .read_i   (counting),
    .read_at_i(count_at),
    .count_o  (count)
  );

  // -- answers out ------------------------------------------------------------------------------------------

  logic own, at_head, first, last;
  logic [3:0] index;
  logic [7:0] beats;
  logic [15:0] number;
  logic [31:0] half;
  logic [SlotBits-1:0] out_slot;

  assign at_slot = own ? head.link.slot : 8'(out_slot);

  link_out #(
    .Slots      (Slots),
    .AddressBits(TxBits)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i     (clear),
    .reply_i     (reply),
    .kind_i      (reply_kind),
    .replied_o   (replied),
    .m_axis_i,
    .m_axis_ready_o,
    .trailer_o   (trailer),
    .own_o       (own),
    .head_o      (at_head),
    .index_o     (index),
    .half_i      (half),
    .slot_o      (out_slot),
    .beats_o     (beats),
    .number_o    (number),
    .first_o     (first),
    .last_o      (last),
    .write_o     (tx_write_o),
    .write_at_o  (tx_write_at_o),
    .write_data_o(tx_word_o),
    .committed_o (tx_committed_o),
    .read_i      (tx_read_i),
    .empty_o     (tx_empty)
  );

  link_words #(
    .Slots   (Slots),
    .RxWords (2 ** RxBits - 1),
    .SlotKhz (SlotKhz),
    .Arrays  (Arrays),
    .StoreWords(StoreBits == 0 ? 0 : 2 ** StoreBits),
    .Identity(Identity)
  ) u_words (
    .clk_i,
    .rst_ni,
    .own_i     (own),
    .head_i    (at_head),
    .index_i   (index),
    .beats_i   (beats),
    .first_i   (first),
    .last_i    (last),
    .reply_i   (reply_kind),
    .why_i     (why),
    .request_i (head),
    .opened_i  (opened),
    .host_i    (host),
    .session_i (session),
    .slot_i    (at_slot),
    .number_i  (number),
    .sets_i    (at_sets),
    .keys_i    (at_keys),
    .known_i   (verdict_known),
    .verdict_i (verdict),
    .epochs_i  (epochs),
    .count_o   (counting),
    .count_at_o(count_at),
    .count_i   (count),
    .tap_i     ({tap_arrived, tap}),
    .register_i(register_number),
    .value_i   (value),
    .half_o    (half)
  );

endmodule

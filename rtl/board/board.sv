// SPDX-License-Identifier: Apache-2.0
//
// A board behind its pads: MAC, queues between the three clocks, link and slots. What is in the slots whoever builds
// chooses by the file that has board_slots. Between clocks there are crossings, the queues' memories, and nothing else.
module board
  import board_pkg::*;
  import slot_pkg::stream_t;
#(
  parameter int unsigned Slots = 1,
  // Of clk_i, as identity says it.
  parameter int unsigned SlotKhz = 100_000,
  // Which slots take context sets.
  parameter logic [7:0] Arrays = '0,
  // What the image was made from.
  parameter logic [63:0] Identity = '0,
  // Words of the queues: 2^n. A segment of 187 words has to fit the transmit queue twice.
  parameter int unsigned RxBits = 11,
  parameter int unsigned TxBits = 9,
  // Words of the store: 2^n; 0: there is none.
  parameter int unsigned StoreBits = 0,
  // Clocks of a session's silence, of a step of the search and of the PHY's reset: 2^n.
  parameter int unsigned SessionBits = 28,
  parameter int unsigned SearchBits = 18,
  parameter int unsigned PhyBits = 20
) (
  // The slots' clock, that of the PHY's data and that of data to the PHY.
  input logic clk_i,
  input logic rx_clk_i,
  input logic tx_clk_i,
  // Low while clocks are not there.
  input logic rst_ni,

  input  logic [3:0] rx_data_i,
  input  logic       rx_ctl_i,
  output logic       tx_clk_o,
  output logic       tx_ctl_o,
  output logic [3:0] tx_data_o,
  output logic       phy_rst_no,
  output logic       mdc_o,
  output logic       mdio_o,
  output logic       mdio_z_o,
  input  logic       mdio_i,
  output logic       led_o
);

  if (TxBits < 9) begin : gen_illegal_queue
    $error("board: the transmit queue is too small for two segments");
  end

  // -- resets -----------------------------------------------------------------------------------------------

  logic rst_n, rx_rst_n, tx_rst_n;

  reset_sync u_reset (
    .clk_i,
    .rst_ni,
    .rst_no(rst_n)
  );

  reset_sync u_rx_reset (
    .clk_i (rx_clk_i),
    .rst_ni,
    .rst_no(rx_rst_n)
  );

  reset_sync u_tx_reset (
    .clk_i (tx_clk_i),
    .rst_ni,
    .rst_no(tx_rst_n)
  );

  phy_reset #(
    .Bits(PhyBits)
  ) u_phy_reset (
    .clk_i,
    .rst_ni(rst_n),
    .rst_no(phy_rst_no)
  );

  // -- in ---------------------------------------------------------------------------------------------------

  logic move, down, rx_valid, rx_error, rx_write, rx_read;
  logic [7:0] rx_byte;
  logic [RxBits-1:0] rx_write_at, rx_read_at, rx_committed, rx_arrived, rx_taken, rx_free;
  logic [63:0] rx_data, rx_word;
  tally_t tally, received;

  rgmii_rx u_rgmii_rx (
    .clk_i  (rx_clk_i),
    .rst_ni (rx_rst_n),
    .data_i (rx_data_i),
    .ctl_i  (rx_ctl_i),
    .load_ni(rst_n),
    .move_i (move),
    .down_i (down),
    .valid_o(rx_valid),
    .error_o(rx_error),
    .byte_o (rx_byte)
  );

  mac_rx #(
    .AddressBits(RxBits)
  ) u_mac_rx (
    .clk_i       (rx_clk_i),
    .rst_ni      (rx_rst_n),
    .valid_i     (rx_valid),
    .error_i     (rx_error),
    .byte_i      (rx_byte),
    .write_o     (rx_write),
    .write_at_o  (rx_write_at),
    .write_data_o(rx_data),
    .committed_o (rx_committed),
    .read_i      (rx_free),
    .tally_o     (tally)
  );

  queue_memory #(
    .AddressBits(RxBits)
  ) u_rx_queue (
    .write_clk_i (rx_clk_i),
    .write_i     (rx_write),
    .write_at_i  (rx_write_at),
    .write_data_i(rx_data),
    .read_clk_i  (clk_i),
    .read_i      (rx_read),
    .read_at_i   (rx_read_at),
    .read_data_o (rx_word)
  );

  crossing #(
    .Width(RxBits + $bits(tally_t))
  ) u_rx_committed (
    .from_clk_i (rx_clk_i),
    .from_rst_ni(rx_rst_n),
    .from_i     ({tally, rx_committed}),
    .to_clk_i   (clk_i),
    .to_rst_ni  (rst_n),
    .to_o       ({received, rx_arrived})
  );

  crossing #(
    .Width(RxBits)
  ) u_rx_free (
    .from_clk_i (clk_i),
    .from_rst_ni(rst_n),
    .from_i     (rx_taken),
    .to_clk_i   (rx_clk_i),
    .to_rst_ni  (rx_rst_n),
    .to_o       (rx_free)
  );

  // -- link and slots ---------------------------------------------------------------------------------------

  logic tx_write, tx_flush, tx_flushed, slots_rst_n;
  logic [TxBits-1:0] tx_write_at, tx_committed, tx_read;
  logic [63:0] tx_data;
  logic [TallyBits-1:0] sent;
  stream_t [Slots-1:0] s_axis, m_axis;
  logic [Slots-1:0] s_axis_ready, m_axis_ready;

  link #(
    .Slots      (Slots),
    .SlotKhz    (SlotKhz),
    .Arrays     (Arrays),
    .Identity   (Identity),
    .RxBits     (RxBits),
    .TxBits     (TxBits),
    .StoreBits  (StoreBits),
    .SessionBits(SessionBits),
    .SearchBits (SearchBits)
  ) u_link (
    .clk_i,
    .rst_ni        (rst_n),
    .rx_committed_i(rx_arrived),
    .rx_taken_o    (rx_taken),
    .rx_read_o     (rx_read),
    .rx_read_at_o  (rx_read_at),
    .rx_word_i     (rx_word),
    .received_i    (received),
    .tx_write_o    (tx_write),
    .tx_write_at_o (tx_write_at),
    .tx_word_o     (tx_data),
    .tx_committed_o(tx_committed),
    .tx_flush_o    (tx_flush),
    .tx_flushed_i  (tx_flushed),
    .tx_read_i     (tx_read),
    .sent_i        (sent),
    .slots_rst_no  (slots_rst_n),
    .s_axis_o      (s_axis),
    .s_axis_ready_i(s_axis_ready),
    .m_axis_i      (m_axis),
    .m_axis_ready_o(m_axis_ready),
    .move_o        (move),
    .down_o        (down),
    .mdc_o,
    .mdio_o,
    .mdio_z_o,
    .mdio_i,
    .led_o
  );

  board_slots #(
    .Slots(Slots)
  ) u_slots (
    .clk_i,
    .rst_ni        (slots_rst_n),
    .s_axis_i      (s_axis),
    .s_axis_ready_o(s_axis_ready),
    .m_axis_o      (m_axis),
    .m_axis_ready_i(m_axis_ready)
  );

  // -- out --------------------------------------------------------------------------------------------------

  logic tx_valid, flush, flushed;
  logic [7:0] tx_byte;
  logic [TxBits-1:0] tx_arrived, tx_place, tx_read_at;
  logic [63:0] tx_word;
  logic [TallyBits-1:0] tx_sent;

  queue_memory #(
    .AddressBits(TxBits)
  ) u_tx_queue (
    .write_clk_i (clk_i),
    .write_i     (tx_write),
    .write_at_i  (tx_write_at),
    .write_data_i(tx_data),
    .read_clk_i  (tx_clk_i),
    .read_i      (1'b1),
    .read_at_i   (tx_read_at),
    .read_data_o (tx_word)
  );

  crossing #(
    .Width(TxBits + 1)
  ) u_tx_committed (
    .from_clk_i (clk_i),
    .from_rst_ni(rst_n),
    .from_i     ({tx_flush, tx_committed}),
    .to_clk_i   (tx_clk_i),
    .to_rst_ni  (tx_rst_n),
    .to_o       ({flush, tx_arrived})
  );

  crossing #(
    .Width(TxBits + 1 + TallyBits)
  ) u_tx_read (
    .from_clk_i (tx_clk_i),
    .from_rst_ni(tx_rst_n),
    .from_i     ({tx_sent, flushed, tx_place}),
    .to_clk_i   (clk_i),
    .to_rst_ni  (rst_n),
    .to_o       ({sent, tx_flushed, tx_read})
  );

  mac_tx #(
    .AddressBits(TxBits)
  ) u_mac_tx (
    .clk_i      (tx_clk_i),
    .rst_ni     (tx_rst_n),
    .flush_i    (flush),
    .committed_i(tx_arrived),
    .flushed_o  (flushed),
    .read_o     (tx_place),
    .read_at_o  (tx_read_at),
    .read_data_i(tx_word),
    .sent_o     (tx_sent),
    .valid_o    (tx_valid),
    .byte_o     (tx_byte)
  );

  rgmii_tx u_rgmii_tx (
    .clk_i  (tx_clk_i),
    .rst_ni (tx_rst_n),
    .valid_i(tx_valid),
    .byte_i (tx_byte),
    .clk_o  (tx_clk_o),
    .ctl_o  (tx_ctl_o),
    .data_o (tx_data_o)
  );

endmodule

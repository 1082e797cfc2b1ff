// SPDX-License-Identifier: Apache-2.0
//
// Boards of Colorlight: the pads of the first of two PHYs, and the clocks, of a quartz of 25 MHz: one oscillator of
// 125 MHz times TxDivide, from which 125 MHz and the slots' clock are divided (4 and 5: 100 MHz; 5 and 6: 104.2;
// 6 and 7: 107.1). The SDRAM has no clock; its other pins are not driven.
module board_colorlight #(
  parameter int unsigned TxDivide = 4,
  parameter int unsigned SlotDivide = 5,
  parameter int unsigned Slots = 1,
  // Words of the receive queue: 2^RxBits.
  parameter int unsigned RxBits = 11,
  // Words of the store: 2^StoreBits; 0: there is none.
  parameter int unsigned StoreBits = 0,
  parameter logic [7:0] Arrays = '0,
  parameter logic [63:0] Identity = '0,
  parameter int unsigned SessionBits = 28,
  parameter int unsigned SearchBits = 18,
  parameter int unsigned PhyBits = 20
) (
  input  logic       clk25_i,
  input  logic       rx_clk_i,
  input  logic       rx_ctl_i,
  input  logic [3:0] rx_data_i,
  output logic       tx_clk_o,
  output logic       tx_ctl_o,
  output logic [3:0] tx_data_o,
  output logic       phy_rst_no,
  output logic       mdc_o,
  inout  wire        mdio_io,
  output logic       led_no,
  output logic       sdram_clk_o
);

  if (125 * TxDivide < 400 || 125 * TxDivide > 800) begin : gen_illegal_oscillator
    $error("board_colorlight: the oscillator has 400 to 800 MHz: TxDivide must be from 4 to 6");
  end

  logic clk, clk_tx, locked, mdio, mdio_z, mdio_in, led;

  // The charge pump and the filter, as ecppll sets them for any PLL: without this they are all 0.
  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV    (1),
    .CLKFB_DIV   (5),
    .CLKOP_DIV   (TxDivide),
    .CLKOP_CPHASE(TxDivide - 1),
    .CLKOS_ENABLE("ENABLED"),
    .CLKOS_DIV   (SlotDivide),
    .CLKOS_CPHASE(SlotDivide - 1),
    .FEEDBK_PATH ("CLKOP")
  ) u_pll (
    .CLKI        (clk25_i),
    .CLKFB       (clk_tx),
    .PHASESEL1   (1'b0),
    .PHASESEL0   (1'b0),
    .PHASEDIR    (1'b0),
    .PHASESTEP   (1'b0),
    .PHASELOADREG(1'b0),
    .STDBY       (1'b0),
    .PLLWAKESYNC (1'b0),
    .RST         (1'b0),
    .ENCLKOP     (1'b0),
    .ENCLKOS     (1'b0),
    .CLKOP       (clk_tx),
    .CLKOS       (clk),
    .LOCK        (locked)
  );

  board #(
    .Slots      (Slots),
    .RxBits     (RxBits),
    .StoreBits  (StoreBits),
    .SlotKhz    (125_000 * TxDivide / SlotDivide),
    .Arrays     (Arrays),
    .Identity   (Identity),
    .SessionBits(SessionBits),
    .SearchBits (SearchBits),
    .PhyBits    (PhyBits)
  ) u_board (
    .clk_i   (clk),
    .rx_clk_i,
    .tx_clk_i(clk_tx),
    .rst_ni  (locked),
    .rx_data_i,
    .rx_ctl_i,
    .tx_clk_o,
    .tx_ctl_o,
    .tx_data_o,
    .phy_rst_no,
    .mdc_o,
    .mdio_o  (mdio),
    .mdio_z_o(mdio_z),
    .mdio_i  (mdio_in),
    .led_o   (led)
  );

  BB u_mdio (
    .I(mdio),
    .T(mdio_z),
    .O(mdio_in),
    .B(mdio_io)
  );

  assign led_no      = !led;
  assign sdram_clk_o = 1'b0;

endmodule

// SPDX-License-Identifier: Apache-2.0
// A design with the cells of an image and next to no logic: two pads in through delays and double-rate registers, two out, one
// in both directions with a pull-up, three clocks, a queue and a word between them, and resets that follow the PLL's lock.
// `Bare` is a word between two clocks that no cell takes across.
module small_image #(
  parameter int PllFeedbackDiv = 5,
  parameter int PllTxDiv = 4,
  parameter int PllSlotDiv = 5,
  parameter bit Bare = 1'b0,
  parameter bit LateReset = 1'b0
) (
  input  logic       clk25_i,
  input  logic       rx_clk_i,
  input  logic [1:0] rx_data_i,
  output logic       tx_clk_o,
  output logic [1:0] tx_data_o,
  output logic       mdc_o,
  inout  wire        mdio_io,
  output logic       led_no
);
  logic clk_tx, clk, locked;
  // The charge pump and the filter, as ecppll sets them for any PLL.
  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV(1),
    .CLKFB_DIV(PllFeedbackDiv),
    .CLKOP_DIV(PllTxDiv),
    .CLKOP_CPHASE(PllTxDiv - 1),
    .CLKOS_ENABLE("ENABLED"),
    .CLKOS_DIV(PllSlotDiv),
    .CLKOS_CPHASE(PllSlotDiv - 1),
    .FEEDBK_PATH("CLKOP")
  ) u_pll (
    .CLKI(clk25_i),
    .CLKFB(clk_tx),
    .PHASESEL1(1'b0),
    .PHASESEL0(1'b0),
    .PHASEDIR(1'b0),
    .PHASESTEP(1'b0),
    .PHASELOADREG(1'b0),
    .STDBY(1'b0),
    .PLLWAKESYNC(1'b0),
    .RST(1'b0),
    .ENCLKOP(1'b0),
    .ENCLKOS(1'b0),
    .CLKOP(clk_tx),
    .CLKOS(clk),
    .LOCK(locked)
  );

  logic rst_n, tx_rst_n, rx_rst_n;
  small_reset u_reset (
    .clk_i (clk),
    .rst_ni(locked),
    .rst_no(rst_n)
  );
  small_reset u_tx_reset (
    .clk_i (clk_tx),
    .rst_ni(rst_n),
    .rst_no(tx_rst_n)
  );
  small_reset u_rx_reset (
    .clk_i (rx_clk_i),
    .rst_ni(rst_n),
    .rst_no(rx_rst_n)
  );

  logic [1:0] late, rise, fall;
  logic move_q;
  for (genvar i = 0; i < 2; i++) begin : gen_in
    DELAYF #(
      .DEL_MODE ("USER_DEFINED"),
      .DEL_VALUE(37 + i)
    ) u_delay (
      .A(rx_data_i[i]),
      .LOADN(rst_n),
      .MOVE(move_q),
      .DIRECTION(1'b0),
      .Z(late[i]),
      .CFLAG()
    );
    IDDRX1F u_iddr (
      .D(late[i]),
      .SCLK(rx_clk_i),
      .RST(1'b0),
      .Q0(rise[i]),
      .Q1(fall[i])
    );
  end

  // What comes in, into a queue of bytes, and how far it was written.
  logic [7:0] byte_q;
  logic [9:0] at_q, at_there, read_q;
  logic [7:0] word;
  always_ff @(posedge rx_clk_i or negedge rx_rst_n) begin
    if (!rx_rst_n) {byte_q, at_q} <= '0;
    else begin
      byte_q <= {byte_q[3:0], fall, rise};
      at_q   <= at_q + 10'd1;
    end
  end
  small_queue u_queue (
    .write_clk_i(rx_clk_i),
    .write_i(1'b1),
    .write_at_i(at_q),
    .write_data_i(byte_q),
    .read_clk_i(clk),
    .read_at_i(read_q),
    .read_data_o(word)
  );
  small_crossing #(
    .Width(10)
  ) u_at (
    .from_clk_i(rx_clk_i),
    .from_rst_ni(rx_rst_n),
    .from_i(at_q),
    .to_clk_i(clk),
    .to_rst_ni(LateReset ? rx_rst_n : rst_n),
    .to_o(at_there)
  );

  logic mdio_out_q, mdio_z_q, mdio_in, mdio_q;
  BB u_bb (
    .I(mdio_out_q),
    .T(mdio_z_q),
    .O(mdio_in),
    .B(mdio_io)
  );
  logic [7:0] sum_q, sum_there;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) {sum_q, read_q, mdio_out_q, mdio_q, move_q} <= '0;
    else begin
      if (read_q != at_there) begin
        read_q <= read_q + 10'd1;
        sum_q  <= sum_q + word;
      end
      mdio_q     <= mdio_in;
      mdio_out_q <= sum_q[0] && mdio_q ^ (sum_q[3] && sum_q[4]);
      move_q     <= read_q[3];
    end
  end
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) mdio_z_q <= 1'b1;
    else mdio_z_q <= sum_q[1];
  end
  assign mdc_o = read_q[4];
  small_crossing #(
    .Width(8)
  ) u_sum (
    .from_clk_i(clk),
    .from_rst_ni(rst_n),
    .from_i(sum_q),
    .to_clk_i(clk_tx),
    .to_rst_ni(tx_rst_n),
    .to_o(sum_there)
  );

  logic [7:0] out_q;
  always_ff @(posedge clk_tx or negedge tx_rst_n) begin
    if (!tx_rst_n) out_q <= '0;
    else out_q <= {out_q[3:0], sum_there[7:4] ^ sum_there[3:0]} ^ (Bare ? {8{sum_q[2]}} : 8'd0);
  end
  ODDRX1F u_clk (
    .D0(1'b1),
    .D1(1'b0),
    .SCLK(clk_tx),
    .RST(1'b0),
    .Q(tx_clk_o)
  );
  for (genvar i = 0; i < 2; i++) begin : gen_out
    ODDRX1F u_data (
      .D0(out_q[i]),
      .D1(out_q[i+2]),
      .SCLK(clk_tx),
      .RST(1'b0),
      .Q(tx_data_o[i])
    );
  end
  assign led_no = out_q[7];
endmodule

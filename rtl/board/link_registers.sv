// SPDX-License-Identifier: Apache-2.0
//
// The link's registers (docs/link.md): the receive delay, MDIO, the LED and the counters' clear. A number that is none,
// and a request to MDIO while one is under way, are refused.
//
// Latency: 1 clock.
module link_registers (
  input logic clk_i,
  input logic rst_ni,

  input  logic        go_i,
  input  logic [63:0] word_i,
  output logic        bad_o,
  output logic [31:0] register_o,
  output logic [31:0] value_o,

  output logic       tap_go_o,
  output logic [6:0] tap_want_o,
  input  logic [6:0] tap_i,
  input  logic       tap_arrived_i,

  output logic        mdio_go_o,
  output logic        mdio_write_o,
  output logic [ 4:0] mdio_phy_o,
  output logic [ 4:0] mdio_register_o,
  output logic [15:0] mdio_data_o,
  input  logic        mdio_busy_i,
  input  logic [15:0] mdio_data_i,

  output logic counters_clear_o,
  output logic led_o
);

  logic write;
  logic [1:0] number_q;
  assign write = go_i && word_i[31] && word_i[30:2] == '0;

  assign register_o = {30'd0, number_q};

  always_comb begin
    unique case (number_q)
      2'd0: value_o = {24'd0, !tap_arrived_i, tap_i};
      2'd1: value_o = {mdio_busy_i, 15'd0, mdio_data_i};
      2'd2: value_o = {31'd0, led_o};
      default: value_o = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      number_q         <= '0;
      bad_o            <= 1'b0;
      tap_go_o         <= 1'b0;
      tap_want_o       <= '0;
      mdio_go_o        <= 1'b0;
      mdio_write_o     <= 1'b0;
      mdio_phy_o       <= '0;
      mdio_register_o  <= '0;
      mdio_data_o      <= '0;
      counters_clear_o <= 1'b0;
      led_o            <= 1'b0;
    end else begin
      tap_go_o         <= write && word_i[1:0] == 2'd0;
      mdio_go_o        <= write && word_i[1:0] == 2'd1 && !mdio_busy_i;
      counters_clear_o <= write && word_i[1:0] == 2'd3;
      if (go_i) begin
        number_q <= word_i[1:0];
        bad_o    <= word_i[30:2] != '0 || (word_i[31] && word_i[1:0] == 2'd1 && mdio_busy_i);
      end
      if (write && word_i[1:0] == 2'd0) tap_want_o <= word_i[38:32];
      if (write && word_i[1:0] == 2'd1 && !mdio_busy_i) begin
        mdio_data_o     <= word_i[47:32];
        mdio_register_o <= word_i[52:48];
        mdio_phy_o      <= word_i[57:53];
        mdio_write_o    <= word_i[58];
      end
      if (write && word_i[1:0] == 2'd2) led_o <= word_i[32];
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The link's registers (docs/link.md): the receive delay, MDIO, the LED and the counters' clear. A number that is none,
// and a request to MDIO while one is under way, are refused.
//
// Latency: 1 clock to what is refused, 2 to the LED.
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

  // A clock behind the request.
  logic acts_q, write_q, over_q;  // over: there is none of this number
  logic [ 1:0] number_q;
  logic [26:0] value_q;
  logic write, busy;

  assign write      = acts_q && write_q && !over_q;
  assign busy       = write_q && number_q == 2'd1 && mdio_busy_i;

  assign register_o = {30'd0, number_q};
  assign bad_o      = over_q || busy;

  always_comb begin
    unique case (number_q)
      2'd0: value_o = {24'd0, !tap_arrived_i, tap_i};
      2'd1: value_o = {mdio_busy_i, 15'd0, mdio_data_i};
      2'd2: value_o = {31'd0, led_o};
      default: value_o = '0;
    endcase
  end

  assign tap_go_o         = write && number_q == 2'd0;
  assign tap_want_o       = value_q[6:0];
  assign mdio_go_o        = write && number_q == 2'd1;
  assign mdio_data_o      = value_q[15:0];
  assign mdio_register_o  = value_q[20:16];
  assign mdio_phy_o       = value_q[25:21];
  assign mdio_write_o     = value_q[26];
  assign counters_clear_o = write && number_q == 2'd3;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acts_q   <= 1'b0;
      write_q  <= 1'b0;
      over_q   <= 1'b0;
      number_q <= '0;
      value_q  <= '0;
      led_o    <= 1'b0;
    end else begin
      acts_q <= go_i;
      if (go_i) begin
        number_q <= word_i[1:0];
        over_q   <= word_i[30:2] != '0;
        write_q  <= word_i[31];
        value_q  <= word_i[58:32];
      end
      if (write && number_q == 2'd2) led_o <= value_q[0];
    end
  end

endmodule

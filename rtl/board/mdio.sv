// SPDX-License-Identifier: Apache-2.0
//
// MDIO, clause 22 of IEEE 802.3: a preamble of 32 ones and a frame of 32 bits for each request. A bit takes 64 clocks; it
// changes with the falling edge of mdc_o, and what the PHY says is taken in the middle of the low half behind it.
//
// Clocks of a request: 64 times 64 and 2.
module mdio (
  input logic clk_i,
  input logic rst_ni,

  // A request where none is under way.
  input  logic        go_i,
  input  logic        write_i,
  input  logic [ 4:0] phy_i,
  input  logic [ 4:0] register_i,
  input  logic [15:0] data_i,
  output logic        busy_o,
  output logic [15:0] data_o,

  output logic mdc_o,
  output logic mdio_o,
  output logic mdio_z_o,
  input  logic mdio_i
);

  logic [5:0] divide_q, bit_q;
  logic [31:0] shift_q;
  logic read_q;
  logic [1:0] in_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divide_q <= '0;
      bit_q    <= '0;
      shift_q  <= '0;
      read_q   <= 1'b0;
      in_q     <= '0;
      busy_o   <= 1'b0;
      data_o   <= '0;
      mdc_o    <= 1'b0;
      mdio_o   <= 1'b1;
      mdio_z_o <= 1'b1;
    end else begin
      in_q <= {in_q[0], mdio_i};
      if (!busy_o) begin
        divide_q <= '0;
        bit_q    <= '0;
        mdc_o    <= 1'b0;
        mdio_z_o <= 1'b1;
        if (go_i) begin
          busy_o  <= 1'b1;
          read_q  <= !write_i;
          shift_q <= {2'b01, write_i ? 2'b01 : 2'b10, phy_i, register_i, 2'b10, data_i};
        end
      end else begin
        divide_q <= divide_q + 6'd1;
        mdc_o    <= divide_q[5];
        if (divide_q == 6'd0) begin
          mdio_o   <= !bit_q[5] || shift_q[31];
          mdio_z_o <= bit_q[5] && read_q && bit_q[4:0] >= 5'd14;
          if (bit_q[5]) shift_q <= {shift_q[30:0], 1'b0};
        end
        if (divide_q == 6'd30 && read_q) data_o <= {data_o[14:0], in_q[1]};
        if (divide_q == '1) begin
          bit_q <= bit_q + 6'd1;
          if (bit_q == '1) busy_o <= 1'b0;
        end
      end
    end
  end

endmodule

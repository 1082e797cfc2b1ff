// SPDX-License-Identifier: Apache-2.0
//
// Bytes on their way to the configuration port, and the CRC of those that it covers. A byte that comes as a seal is
// the next one of the CRC in place of what it says; behind two of them the CRC is zero again.
//
// Latency: 2 clocks. Throughput: a byte a clock.
module port_crc (
  input logic clk_i,
  input logic rst_ni,

  // The CRC begins, while no byte is here.
  input  logic clear_i,
  output logic busy_o,

  input  logic       s_valid_i,
  output logic       s_ready_o,
  input  logic [7:0] s_data_i,
  input  logic       s_covered_i,
  input  logic       s_seal_i,

  output logic       p_valid_o,
  input  logic       p_ready_i,
  output logic [7:0] p_data_o
);

  logic valid, ready, covered, seal;
  logic [ 7:0] data;
  logic [15:0] crc_q;

  // CRC-16 of polynomial 8005h, most significant bit first.
  function automatic logic [15:0] crc(logic [15:0] old, logic [7:0] byte_in);
    crc = old;
    for (int i = 7; i >= 0; i--) crc = {crc[14:0], 1'b0} ^ (16'h8005 & {16{crc[15] ^ byte_in[i]}});
  endfunction

  spill_register #(
    .Width(10)
  ) u_first (
    .clk_i,
    .rst_ni,
    .s_valid_i,
    .s_ready_o,
    .s_data_i ({s_seal_i, s_covered_i, s_data_i}),
    .m_valid_o(valid),
    .m_ready_i(ready),
    .m_data_o ({seal, covered, data})
  );

  always_ff @(posedge clk_i) begin
    if (clear_i) crc_q <= '0;
    else if (valid && ready && seal) crc_q <= {crc_q[7:0], 8'd0};
    else if (valid && ready && covered) crc_q <= crc(crc_q, data);
  end

  spill_register #(
    .Width(8)
  ) u_second (
    .clk_i,
    .rst_ni,
    .s_valid_i(valid),
    .s_ready_o(ready),
    .s_data_i (seal ? crc_q[15:8] : data),
    .m_valid_o(p_valid_o),
    .m_ready_i(p_ready_i),
    .m_data_o (p_data_o)
  );

  assign busy_o = valid || p_valid_o;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The rows of a frame, the highest first, as the bytes of the configuration port. A pair of rows is three bytes; as
// rows of one bit and of two stand between groups of pairs, one, three, five or seven bits are left over.
//
// Clocks: one a byte, or, where bytes of zeros may come with the one before them, one for it and up to two of these;
// one for a cell that brings no whole byte. Latency: 1 clock.
module frame_bytes
  import load_pkg::*;
#(
  // Bits that fill the first byte in front of the highest row: none or two.
  parameter int unsigned Fill = 2
) (
  input logic clk_i,
  // The next cell is a frame's first.
  input logic clear_i,
  // Bytes of zeros may come with the one before them.
  input logic pair_i,

  input  cell_t s_i,
  output logic  s_ready_o,

  output byte_t m_o,
  // So many bytes of zeros come with it.
  output logic [1:0] zeros_o,
  input logic m_ready_i
);

  if (Fill != 0 && Fill != 2) begin : gen_check_fill
    $error("Fill has to be 0 or 2");
  end

  logic [1:0] have_q;  // so many pairs of bits of earlier rows there are, and one
  logic [6:0] rest_q;  // the lowest ones are the latest
  logic [2:0][7:0] bytes_q, bytes;  // the first one highest
  logic [1:0] left_q, count;  // bytes that are there; that come with the first one
  logic last_q, take;
  logic [30:1] all;

  assign all = {rest_q, s_i.rows[1], s_i.rows[0][11:1]};
  always_comb begin
    unique case (have_q)
      2'd0: bytes = all[24:1];
      2'd1: bytes = all[26:3];
      2'd2: bytes = all[28:5];
      default: bytes = all[30:7];
    endcase
    if (s_i.kind == Low) bytes[2] = {rest_q, s_i.rows[1][0]};
  end

  always_comb begin
    count = 2'd0;
    if (pair_i && left_q[1] && bytes_q[1] == '0) count = left_q[0] && bytes_q[0] == '0 ? 2'd2 : 2'd1;
  end

  assign take = left_q != '0 && m_ready_i;
  assign s_ready_o = left_q == '0 || (m_ready_i && left_q == count + 2'd1);
  assign zeros_o = count;
  assign m_o = '{valid: left_q != '0, last: last_q, data: bytes_q[2]};

  always_ff @(posedge clk_i) begin
    if (take) begin
      left_q  <= left_q - count - 2'd1;
      bytes_q <= count[0] ? {bytes_q[0], 16'd0} : {bytes_q[1:0], 8'd0};
    end
    if (s_i.valid && s_ready_o) begin
      bytes_q <= bytes;
      last_q  <= s_i.kind == Low;
      unique case (s_i.kind)
        Head: begin
          left_q <= 2'd0;
          rest_q <= {6'd0, s_i.rows[1][0]};
          have_q <= 2'(Fill / 2);
        end
        Two: begin
          left_q <= 2'd0;
          rest_q <= {rest_q[4:0], s_i.rows[1][1:0]};
          have_q <= have_q + 2'd1;
        end
        One: begin
          left_q <= 2'd1;
          rest_q <= s_i.rows[1][6:0];
          have_q <= have_q + 2'd2;
        end
        Low: left_q <= 2'd1;
        default: begin
          left_q <= 2'd3;
          rest_q <= s_i.rows[0][6:0];
        end
      endcase
    end
    if (clear_i) left_q <= '0;
  end

endmodule

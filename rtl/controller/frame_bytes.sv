// SPDX-License-Identifier: Apache-2.0
//
// The rows of a frame, the highest first, as the bytes of the configuration port. Two rows of twelve bits are three
// bytes; the highest row and the bits that fill the first byte are 7 bits or 3, the lowest row is one bit. So bytes
// and rows are never apart by another number of bits.
//
// Clocks: one a byte, or one a row where a byte that a row brings whole is zero and may come with the one before it;
// one for the highest row.
module frame_bytes #(
  // Bits of the highest row, and those in front of it that fill the first byte: 3 or 7 together.
  parameter int unsigned HeadBits = 7
) (
  input logic clk_i,
  // The next row is a frame's highest.
  input logic clear_i,
  // A byte that is zero may come with the one before it.
  input logic pair_i,

  input  logic        s_valid_i,
  output logic        s_ready_o,
  input  logic [11:0] s_row_i,
  input  logic        s_lowest_i,

  output logic       m_valid_o,
  input  logic       m_ready_i,
  output logic [7:0] m_data_o,
  output logic       m_zero_o,
  output logic       m_last_o
);

  if (HeadBits != 3 && HeadBits != 7) begin : gen_check_head
    $error("HeadBits has to be 3 or 7");
  end

  // How many bits of earlier rows there are.
  typedef enum logic [1:0] {
    Highest,
    Three,
    Seven,
    Eleven
  } have_e;

  have_e have_q;
  logic [10:0] rest_q;  // the lowest ones are the latest

  assign s_ready_o = have_q == Highest || (have_q != Eleven && m_ready_i);
  assign m_valid_o = have_q == Eleven || (have_q != Highest && s_valid_i);
  assign m_zero_o  = have_q == Seven && !s_lowest_i && pair_i && s_row_i[10:3] == '0;
  assign m_last_o  = have_q == Seven && s_lowest_i;

  always_comb begin
    unique case (have_q)
      Eleven:  m_data_o = rest_q[10:3];
      Three:   m_data_o = {rest_q[2:0], s_row_i[11:7]};
      default: m_data_o = {rest_q[6:0], s_lowest_i ? s_row_i[0] : s_row_i[11]};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (s_valid_i && s_ready_o) rest_q <= s_row_i[10:0];
    if (clear_i) begin
      have_q <= Highest;
    end else begin
      unique case (have_q)
        Highest: if (s_valid_i) have_q <= HeadBits == 7 ? Seven : Three;
        Three:   if (s_valid_i && m_ready_i) have_q <= Seven;
        Seven:   if (s_valid_i && m_ready_i) have_q <= s_lowest_i ? Highest : m_zero_o ? Three : Eleven;
        default: if (m_ready_i) have_q <= Three;
      endcase
    end
  end

endmodule

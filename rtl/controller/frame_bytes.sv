// SPDX-License-Identifier: Apache-2.0
//
// The rows of a frame, the highest first, as the bytes of the configuration port. Two rows of twelve bits are three
// bytes; the highest row and the bits that fill the first byte are 7 bits or 3, the lowest row is one bit. So bytes
// and rows are never apart by another number of bits.
//
// Clocks: one a byte, or one a row where a byte that a row brings whole is zero and may come with the one before it;
// one for the highest row.
module frame_bytes
  import load_pkg::*;
#(
  // Bits of the highest row, and those in front of it that fill the first byte: 3 or 7 together.
  parameter int unsigned HeadBits = 7
) (
  input logic clk_i,
  // The next row is a frame's highest.
  input logic clear_i,
  // A byte that is zero may come with the one before it.
  input logic pair_i,

  input  row_t s_i,
  output logic s_ready_o,

  output byte_t m_o,
  output logic  zero_o,
  input  logic  m_ready_i
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
  assign m_o.valid = have_q == Eleven || (have_q != Highest && s_i.valid);
  assign zero_o = have_q == Seven && !s_i.lowest && pair_i && s_i.bits[10:3] == '0;
  assign m_o.last = have_q == Seven && s_i.lowest;

  always_comb begin
    unique case (have_q)
      Eleven:  m_o.data = rest_q[10:3];
      Three:   m_o.data = {rest_q[2:0], s_i.bits[11:7]};
      default: m_o.data = {rest_q[6:0], s_i.lowest ? s_i.bits[0] : s_i.bits[11]};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (s_i.valid && s_ready_o) rest_q <= s_i.bits[10:0];
    if (clear_i) begin
      have_q <= Highest;
    end else begin
      unique case (have_q)
        Highest: if (s_i.valid) have_q <= HeadBits == 7 ? Seven : Three;
        Three:   if (s_i.valid && m_ready_i) have_q <= Seven;
        Seven:   if (s_i.valid && m_ready_i) have_q <= s_i.lowest ? Highest : zero_o ? Three : Eleven;
        default: if (m_ready_i) have_q <= Three;
      endcase
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The bits of a stream: the next four, of which one, three or four are taken at a time. Bytes come as two halves. Two
// of them wait behind the four bits, and as these begin in a half's first, second, third or fourth bit, what follows
// them is one of four choices for each bit.
//
// Clocks: none besides those of who takes. Three times four bits have to be taken before the first ones are there.
module config_window (
  input logic clk_i,
  input logic clear_i,

  output logic       s_ready_o,
  input  logic [7:0] s_data_i,
  input  logic       s_behind_i,

  // Bits are taken, four or three of them, else one. Only while there is a byte.
  input  logic       move_i,
  input  logic       four_i,
  input  logic       three_i,
  // The next bits, the first one highest.
  output logic [3:0] bits_o,
  // The next bit is a byte's first, and lies behind the stream.
  output logic       aligned_o,
  output logic       behind_o,
  // Of the half that move_i leaves: it lies behind the stream.
  output logic       beyond_o
);

  logic half_q;  // the byte's second half is next
  logic [3:0] half, next_q, later_q, bits_q, follow;
  logic [1:0] at_q, at;  // of the first bit in its half
  logic behind_q, behind_next_q, behind_later_q;
  logic leave, advance;  // the first bit will be in the next half
  logic [6:0] both;

  assign half = half_q ? s_data_i[3:0] : s_data_i[7:4];
  assign both = {next_q, later_q[3:1]};
  always_comb begin
    unique case (at_q)
      2'd0: follow = both[6:3];
      2'd1: follow = both[5:2];
      2'd2: follow = both[4:1];
      default: follow = both[3:0];
    endcase
  end

  // One or three more.
  assign at[0] = at_q[0] ^ !four_i;
  assign at[1] = at_q[1] ^ (!four_i && (three_i ^ at_q[0]));
  assign leave = four_i || (three_i ? at_q != 2'd0 : at_q == 2'd3);
  assign advance = move_i && leave;
  assign s_ready_o = advance && half_q;

  always_ff @(posedge clk_i) begin
    if (move_i) begin
      if (four_i) bits_q <= follow;
      else if (three_i) bits_q <= {bits_q[0], follow[3:1]};
      else bits_q <= {bits_q[2:0], follow[3]};
    end
    if (advance) begin
      next_q  <= later_q;
      later_q <= half;
    end
    if (clear_i) begin
      at_q <= '0;
      half_q <= 1'b0;
      behind_q <= 1'b0;
      behind_next_q <= 1'b0;
      behind_later_q <= 1'b0;
    end else begin
      if (move_i) at_q <= at;
      if (advance) begin
        half_q <= !half_q;
        behind_q <= behind_next_q;
        behind_next_q <= behind_later_q;
        behind_later_q <= s_behind_i;
      end
    end
  end

  assign bits_o    = bits_q;
  // Three halves are ahead of the one that the first bit is in.
  assign aligned_o = at_q == '0 && half_q;
  assign behind_o  = behind_q;
  assign beyond_o  = leave && behind_q;

endmodule

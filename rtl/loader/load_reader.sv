// SPDX-License-Identifier: Apache-2.0
//
// Bytes of the library's memory, from any address on. The memory takes addresses of 32-bit words and gives the words
// back in order, after any time; at most two are asked for in advance, so that nothing has to be held back. Behind the
// last byte there are zeros without an end.
//
// Latency: a byte waits for a clock in a queue of two. Throughput: a byte a clock, if the memory answers within four.
module load_reader
  import load_pkg::*;
#(
  // Bits of an address and of a length, in bytes.
  parameter int unsigned AddressBits = 24
) (
  input logic clk_i,
  input logic rst_ni,

  // Begins anew; words that were asked for before are dropped.
  input  logic                   start_i,
  input  logic [AddressBits-1:0] address_i,
  input  logic [AddressBits-1:0] length_i,
  // Of the next byte, and how many there are from it on, while none is taken. A start with these goes on where reading
  // was left.
  output logic [AddressBits-1:0] address_o,
  output logic [AddressBits-1:0] left_o,

  output logic                   r_valid_o,
  input  logic                   r_ready_i,
  output logic [AddressBits-3:0] r_address_o,
  input  logic                   r_valid_i,
  input  logic [           31:0] r_data_i,

  output read_t m_o,
  input  logic  m_ready_i
);

  logic [AddressBits-1:0] address_q, left_q;
  logic [AddressBits-3:0] ask_q;  // the next word to ask for
  logic [AddressBits-2:0] wanted_q;  // words from there on
  logic want_q;  // there are some
  // Words that are there or were asked for, those that are there, those that are to be dropped.
  logic [1:0] ours_q, there_q, waiting_q, dropped_q;
  logic [1:0][31:0] word_q;
  logic ask, take, drop, pop, give;
  logic begin_q;  // how many words there are is computed from what the start has left
  logic final_q, behind_q;  // the next byte is the last one; is behind it
  logic [2:0] ends;  // bytes that are not whole words, at both ends
  logic [1:0] more;  // words that they lie in
  logic room, some;  // of the queue: for a byte, bytes
  logic [1:0] queued;
  logic [7:0] data;

  assign r_valid_o   = want_q && ours_q != 2'd2 && dropped_q == '0;
  assign r_address_o = ask_q;
  assign ask         = r_valid_o && r_ready_i;
  assign drop        = r_valid_i && dropped_q != '0;
  assign take        = r_valid_i && dropped_q == '0;

  assign ends        = {1'b0, left_q[1:0]} + {1'b0, address_q[1:0]};
  assign more        = ends == '0 ? 2'd0 : ends > 3'd4 ? 2'd2 : 2'd1;
  assign address_o   = address_q - AddressBits'(queued);
  assign left_o      = left_q + AddressBits'(queued);
  assign m_o.behind  = behind_q && !some;
  assign m_o.valid   = behind_q || some;
  assign m_o.data    = data & {8{some}};
  assign give        = room && there_q != '0 && !behind_q;
  assign pop         = give && (address_q[1:0] == 2'd3 || final_q);

  clear_entry #(
    .Width(8)
  ) u_queue (
    .clk_i,
    .clear_i  (start_i),
    .s_valid_i(there_q != '0 && !behind_q),
    .s_ready_o(room),
    .s_data_i (word_q[0][8*address_q[1:0]+:8]),
    .m_valid_o(some),
    .m_ready_i(m_ready_i),
    .m_data_o (data),
    .count_o  (queued)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ours_q, there_q, waiting_q, dropped_q} <= '0;
      {wanted_q, want_q, left_q, final_q, begin_q} <= '0;
      behind_q <= 1'b1;
    end else begin
      waiting_q <= waiting_q + 2'(ask) - 2'(r_valid_i);
      begin_q   <= start_i;
      if (start_i) begin
        // A word that is asked for in this clock is one of those before.
        dropped_q <= waiting_q + 2'(ask) - 2'(r_valid_i);
        ours_q <= '0;
        there_q <= '0;
        left_q <= length_i;
        final_q <= 1'b0;
        behind_q <= 1'b0;
        wanted_q <= '0;
        want_q <= 1'b0;
      end else begin
        dropped_q <= dropped_q - 2'(drop);
        ours_q <= ours_q + 2'(ask) - 2'(pop);
        there_q <= there_q + 2'(take) - 2'(pop);
        if (begin_q) wanted_q <= {1'b0, left_q[AddressBits-1:2]} + (AddressBits - 1)'(more);
        else wanted_q <= wanted_q - (AddressBits - 1)'(ask);
        want_q <= begin_q ? left_q != '0 : want_q && !(ask && wanted_q == (AddressBits - 1)'(1));
        if (give) left_q <= left_q - 1'b1;
        final_q  <= give ? left_q == AddressBits'(2) : left_q == AddressBits'(1);
        behind_q <= behind_q || (give && final_q) || (begin_q && left_q == '0);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      address_q <= address_i;
      ask_q <= address_i[AddressBits-1:2];
    end else begin
      if (give) address_q <= address_q + 1'b1;
      ask_q <= ask_q + (AddressBits - 2)'(ask);
    end
    // The first word that is free, after what is popped.
    if (pop) word_q[0] <= word_q[1];
    if (take) word_q[there_q==2'(pop)?0 : 1] <= r_data_i;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// From what was decoded to rows: the dictionary in its block RAM, whose output register they come from. Rows are
// checked on their way out.
//
// The entries stand at the end of the memory, so that each class begins where its prefix says and a code with its
// prefix is the address, but for a few bits. In front of them are zeros, for rows that are zero, and places in which
// literals are written: what a port of the memory writes, it reads.
//
// Latency: 3 clocks. Nothing waits.
module config_rows #(
  // Bits of a frame's highest row.
  parameter int unsigned HighestBits = 5
) (
  input logic clk_i,
  input logic clear_i,

  // Bits are taken, of which the value at hand is made: these four, or 1011 in their place.
  input logic       move_i,
  input logic       short_i,
  input logic [3:0] bits_i,
  // A row or a value begins: it is an entry or not; its class, entries 0 to 15, 16 to 79, 80 to 335, 336 and above;
  // a row that is no entry is a literal or zero (class 1 or 0).
  input logic       begin_i,
  input logic       entry_i,
  input logic [1:0] class_i,
  input logic       literal_i,
  // Of the dictionary an entry is complete, or a row is; the value may be zero only if that is not used; which row.
  input logic       write_i,
  input logic [9:0] place_i,
  input logic       row_i,
  input logic       used_i,
  input logic       lowest_i,

  output logic        valid_o,
  output logic [11:0] row_o,
  output logic        lowest_o,
  output logic        wrong_o
);

  if (HighestBits < 2 || HighestBits > 11) begin : gen_check_highest
    $error("HighestBits has to be 2 to 11");
  end

  logic [11:0] value_q;
  logic entry_q, literal_q;
  logic [1:0] class_q;
  logic [9:0] address, place_q;
  logic write_q;
  logic highest_q;  // the next row is the highest of its frame
  logic row_q, used_q, lowest_q, highest_row_q;
  logic read_q, used_read_q, lowest_read_q, highest_read_q;
  logic valid_q, used_out_q, lowest_out_q, highest_out_q;
  logic [11:0] read, row_out_q;
  (* ram_style = "block", no_rw_check *)
  logic [11:0] entries[1024];

  initial begin
    for (int unsigned i = 0; i < 1024; i++) entries[i] = '0;
  end

  // From 512, 256, 192 or 176 on; zeros from 0, literals from 64.
  assign address[9]   = entry_q && class_q == 2'd3;
  assign address[8]   = entry_q && class_q[1] && (value_q[8] || !class_q[0]);
  assign address[7]   = entry_q && (value_q[7] || class_q == 2'd1);
  assign address[6]   = entry_q ? value_q[6] || class_q == 2'd1 : class_q[0];
  assign address[5:0] = value_q[5:0];

  always_ff @(posedge clk_i) begin
    if (literal_q) begin
      entries[address] <= value_q;
      read <= value_q;
    end else begin
      read <= entries[address];
    end
    row_out_q <= read;
  end
  always_ff @(posedge clk_i) begin
    if (write_q) entries[place_q] <= value_q;
  end

  always_ff @(posedge clk_i) begin
    if (move_i) value_q[11:4] <= value_q[7:0];
    if (short_i) value_q[3:0] <= 4'b1011;
    else if (move_i) value_q[3:0] <= bits_i;
    if (begin_i) begin
      entry_q   <= entry_i;
      class_q   <= class_i;
      literal_q <= literal_i;
    end
    place_q <= place_i;
    write_q <= write_i;
    if (clear_i) highest_q <= 1'b1;
    else if (row_i) highest_q <= lowest_i;
    used_q <= used_i;
    lowest_q <= lowest_i;
    highest_row_q <= highest_q;
    used_read_q <= used_q;
    lowest_read_q <= lowest_q;
    highest_read_q <= highest_row_q;
    used_out_q <= used_read_q;
    lowest_out_q <= lowest_read_q;
    highest_out_q <= highest_read_q;
    if (clear_i) begin
      row_q   <= 1'b0;
      read_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      row_q   <= row_i;
      read_q  <= row_q;
      valid_q <= read_q;
    end
  end

  assign valid_o  = valid_q;
  assign row_o    = row_out_q;
  assign lowest_o = lowest_out_q;

  // Bits that the frame has not, a value of zero.
  logic upper, lower, wrong;
  assign upper = |row_o[11:HighestBits];
  assign lower = |row_o[HighestBits-1:1];
  always_comb begin
    if (upper || lower) wrong = lowest_out_q || (highest_out_q && upper);
    else wrong = used_out_q && !row_o[0];
  end
  assign wrong_o = valid_q && wrong;

endmodule

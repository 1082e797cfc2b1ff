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
module config_rows
  import load_pkg::*;
#(
  // Bits of a frame's highest row.
  parameter int unsigned HighestBits = 5
) (
  input logic clk_i,
  input logic clear_i,

  input part_t       part_i,
  // Of the entry of the dictionary.
  input logic  [9:0] place_i,

  output row_t m_o,
  output logic wrong_o
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
    if (part_i.move) value_q[11:4] <= value_q[7:0];
    if (part_i.brief) value_q[3:0] <= 4'b1011;
    else if (part_i.move) value_q[3:0] <= part_i.bits;
    if (part_i.starts) begin
      entry_q   <= part_i.entry;
      class_q   <= part_i.class_of;
      literal_q <= part_i.literal;
    end
    place_q <= place_i;
    write_q <= part_i.write;
    if (clear_i) highest_q <= 1'b1;
    else if (part_i.row) highest_q <= part_i.lowest;
    used_q <= part_i.used;
    lowest_q <= part_i.lowest;
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
      row_q   <= part_i.row;
      read_q  <= row_q;
      valid_q <= read_q;
    end
  end

  assign m_o = '{valid: valid_q, lowest: lowest_out_q, bits: row_out_q};

  // Bits that the frame has not, a value of zero.
  logic upper, lower, wrong;
  assign upper = |row_out_q[11:HighestBits];
  assign lower = |row_out_q[HighestBits-1:1];
  always_comb begin
    if (upper || lower) wrong = lowest_out_q || (highest_out_q && upper);
    else wrong = used_out_q && !row_out_q[0];
  end
  assign wrong_o = valid_q && wrong;

endmodule

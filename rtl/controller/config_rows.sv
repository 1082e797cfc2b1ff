// SPDX-License-Identifier: Apache-2.0
//
// From what was decoded to rows: the index of an entry or a literal, the dictionary in its block RAM, the memory's
// output register. Rows are checked on their way out.
//
// Latency: 3 clocks. Bubbles close up, so that the decoder may take its time while rows wait.
module config_rows #(
  // Bits of a frame's highest row.
  parameter int unsigned HighestBits = 5
) (
  input logic clk_i,
  input logic clear_i,

  // An entry of the dictionary is complete, or a row is; the bits that it ends with come a clock later.
  input  logic       entry_i,
  input  logic       row_i,
  // A clock later there is room for it.
  output logic       ready_o,
  // It is not zero, and which row it is.
  input  logic       used_i,
  input  logic       lowest_i,
  // The first part of a value stands in the window.
  input  logic       part_i,
  // The window, its last bit in front. With it come class and kind of the value that ends there.
  input  logic [7:0] past_i,
  input  logic [1:0] class_i,
  input  logic       literal_i,
  // Place of the entry that is complete.
  input  logic [9:0] place_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [11:0] row_o,
  output logic        lowest_o,
  output logic        wrong_o,
  output logic        empty_o
);

  if (HighestBits < 2 || HighestBits > 11) begin : gen_check_highest
    $error("HighestBits has to be 2 to 11");
  end

  logic [3:0] hold_q;
  logic [9:0] entry, write_at_q;
  logic write_q;
  logic move_read, move_out;
  logic highest_q;  // the row at hand is the highest of its frame
  logic take_q, used_take_q, lowest_take_q, highest_take_q;
  logic read_q, used_read_q, lowest_read_q, highest_read_q, entry_read_q;
  logic valid_q, used_out_q, lowest_out_q, highest_out_q, entry_out_q;
  logic [11:0] literal_read_q, literal_out_q, entry_second_q, entry_out;
  (* ram_style = "block", no_rw_check *)
  logic [11:0] entries[1024];

  assign move_out  = !valid_q || ready_i;
  assign move_read = !read_q || move_out;
  assign ready_o   = !take_q || move_read;

  // The entries stand at the end of the memory, so that each class begins where its prefix says.
  always_comb begin
    unique case (class_i)
      2'd0: entry = {6'b001011, past_i[3:0]};
      2'd1: entry = {4'b0011, hold_q[0], past_i[4:0]};
      2'd2: entry = {2'b01, hold_q[2:0], past_i[4:0]};
      default: entry = {1'b1, hold_q, past_i[4:0]};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (write_q) entries[write_at_q] <= {hold_q, past_i};
    if (move_read) entry_second_q <= entries[entry];
    if (move_out) entry_out <= entry_second_q;
  end

  always_ff @(posedge clk_i) begin
    if (part_i) hold_q <= past_i[3:0];
    write_at_q <= place_i;
    write_q <= entry_i;
    if (clear_i) highest_q <= 1'b1;
    else if (row_i) highest_q <= lowest_i;
    if (ready_o) begin
      used_take_q <= used_i;
      lowest_take_q <= lowest_i;
      highest_take_q <= highest_q;
    end
    if (move_read) begin
      used_read_q <= used_take_q;
      lowest_read_q <= lowest_take_q;
      highest_read_q <= highest_take_q;
      entry_read_q <= used_take_q && !literal_i;
      if (!(used_take_q && literal_i)) literal_read_q <= '0;
      else literal_read_q <= {hold_q, past_i};
    end
    if (move_out) begin
      used_out_q <= used_read_q;
      lowest_out_q <= lowest_read_q;
      highest_out_q <= highest_read_q;
      entry_out_q <= entry_read_q;
      literal_out_q <= literal_read_q;
    end
    if (clear_i) begin
      take_q  <= 1'b0;
      read_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (ready_o) take_q <= row_i;
      if (move_read) read_q <= take_q;
      if (move_out) valid_q <= read_q;
    end
  end

  assign valid_o  = valid_q;
  assign row_o    = (entry_out & {12{entry_out_q}}) | literal_out_q;
  assign lowest_o = lowest_out_q;

  // Bits that the frame has not, a value of zero.
  logic upper, lower, wrong, wrong_q;
  assign upper = |row_o[11:HighestBits];
  assign lower = |row_o[HighestBits-1:1];
  always_comb begin
    if (upper || lower) wrong = lowest_out_q || (highest_out_q && upper);
    else wrong = used_out_q && !row_o[0];
  end
  always_ff @(posedge clk_i) wrong_q <= valid_q && wrong;
  assign wrong_o = wrong_q;
  assign empty_o = !(take_q || read_q || valid_q || wrong_q);

endmodule

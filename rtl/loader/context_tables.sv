// SPDX-License-Identifier: Apache-2.0
//
// The tables of small streams, in block RAMs: of each of the 106 frames of a column the parents of twelve bits and of
// whether a row is zero, the *flag*, and 112 probabilities. They come as they stand in the file; a parent is kept as a
// frame, 0 for the one at hand, and a bit of its row.
//
// Clocks: a byte, and of a parent one for each twelve in it. Parents and a probability are there two clocks after what
// chooses them.
module context_tables
  import load_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  // Tables come, one byte after the other, and all are there; or they are none.
  input  logic  load_i,
  input  read_t s_i,
  output logic  s_ready_o,
  output logic  entry_o,
  output logic  done_o,
  output logic  wrong_o,

  // A frame of this column begins; otherwise the parents of which item are read, a bit or, 12, the flag.
  input  logic        frame_i,
  input  logic [ 6:0] column_i,
  input  logic [ 3:0] next_i,
  output logic [20:0] parents_o,
  // What was chosen of which item.
  input  logic [ 3:0] item_i,
  input  logic [ 3:0] choice_i,
  output logic [ 7:0] zero_o
);

  localparam logic [3:0] Flag = 4'd12;
  localparam logic [6:0] LastColumn = 7'd105;

  logic [6:0] column_q;
  logic [13:0] first_q;  // where the probabilities of the column begin
  (* ram_style = "block", no_rw_check *)
  logic [20:0] parents[2048];
  (* ram_style = "block", no_rw_check *)
  logic [7:0] zeros[12288];
  logic [7:0] zero_q, zero_out_q;
  logic [20:0] parents_q;

  // What is loaded.
  logic converts_q;  // a parent becomes what is kept of it
  logic [13:0] given_q;  // the parents so far
  logic [20:0] given;
  logic [4:0] byte_q;  // of an item
  logic [3:0] item_q;
  logic [6:0] parent_q;
  logic [2:0] age_q;
  logic entry, of_flag, is_parent, converted, last_byte, wrong, own, none, done_q, wrong_q;

  function automatic logic right_flag(logic [3:0] parent);
    return parent < Flag || parent == 4'd15;
  endfunction

  assign entry     = load_i && s_i.valid && s_ready_o;
  assign s_ready_o = load_i && !converts_q && !done_q;
  assign of_flag   = item_q == Flag;
  assign is_parent = byte_q < (of_flag ? 5'd2 : 5'd3);
  assign last_byte = byte_q == (of_flag ? 5'd17 : 5'd10);
  assign none      = parent_q == 7'd127;
  assign own       = parent_q >= 7'd84;
  assign converted = converts_q && (own || parent_q < 7'd12);
  always_comb begin
    if (of_flag) given = {5'd0, given_q[7:0], s_i.data};
    else if (none) given = {given_q, 3'd0, 4'd15};
    else if (own) given = {given_q, 3'd0, 4'(parent_q - 7'd84)};
    else given = {given_q, age_q, parent_q[3:0]};
    // A bit knows those above it; and no probability is zero.
    wrong = 1'b0;
    if (entry) begin
      if (!is_parent) wrong = s_i.data == '0;
      else if (!of_flag) wrong = s_i.data[7];
      else wrong = !right_flag(s_i.data[7:4]) || !right_flag(s_i.data[3:0]);
      if (s_i.behind) wrong = 1'b1;
    end
    if (converted && own && !none) wrong = parent_q > 7'd95 || 4'(parent_q - 7'd84) <= item_q;
  end

  // One address for what is written and what is read.
  logic [3:0] item, number;
  logic [13:0] zeros_at;
  always_comb begin
    item = load_i ? item_q : item_i;
    number = load_i ? 4'(byte_q - (of_flag ? 5'd2 : 5'd3)) : choice_i;
    zeros_at = first_q + {7'd0, item == Flag ? {3'b110, number} : {item, number[2:0]}};
  end

  always_ff @(posedge clk_i) begin
    if (converted || (entry && is_parent && of_flag)) parents[{column_q, item_q}] <= given;
    parents_q <= parents[frame_i?{column_i, Flag} : {column_q, next_i}];
    if (entry && !is_parent) zeros[zeros_at] <= s_i.data;
    zero_q <= zeros[zeros_at];
    zero_out_q <= zero_q;
  end

  always_ff @(posedge clk_i) begin
    converts_q <= (entry && is_parent && !of_flag) || (converts_q && !converted);
    parent_q   <= entry ? s_i.data[6:0] : parent_q - 7'd12;
    age_q      <= entry ? 3'd1 : age_q + 1'b1;
    if (converted || (entry && of_flag)) given_q <= given[13:0];
    if (converted || (entry && (!is_parent || of_flag))) begin
      byte_q <= last_byte ? '0 : byte_q + 1'b1;
      if (last_byte) item_q <= of_flag ? 4'd11 : item_q == '0 ? Flag : item_q - 1'b1;
    end
    if (frame_i) begin
      column_q <= column_i;
      first_q  <= {column_i, 7'd0} - {3'd0, column_i, 4'd0};
    end else if (entry && last_byte && of_flag) begin
      column_q <= column_q + 1'b1;
      first_q  <= first_q + 14'd112;
      if (column_q == LastColumn) done_q <= 1'b1;
    end
    if (wrong) wrong_q <= 1'b1;
    if (clear_i) begin
      column_q <= '0;
      first_q <= '0;
      item_q <= 4'd11;
      byte_q <= '0;
      converts_q <= 1'b0;
      done_q <= 1'b0;
      wrong_q <= 1'b0;
    end
  end

  assign entry_o   = entry;
  assign done_o    = done_q;
  assign wrong_o   = wrong_q;
  assign parents_o = parents_q;
  assign zero_o    = zero_out_q;

endmodule

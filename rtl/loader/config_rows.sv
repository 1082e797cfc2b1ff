// SPDX-License-Identifier: Apache-2.0
//
// From what was decoded to rows: the dictionary in its block RAM, and the cells that rows make. Rows are checked on
// their way out.
//
// The entries stand at the end of the memory, so that each class begins where its prefix says and a code with its
// prefix is the address, but for a few bits.
//
// Latency: 4 clocks. Nothing waits.
module config_rows
  import load_pkg::*;
(
  input logic clk_i,
  input logic clear_i,

  input part_t       part_i,
  // Of the entry of the dictionary.
  input logic  [9:0] place_i,

  output cell_t m_o,
  output logic  wrong_o
);

  part_t part_q;
  logic [9:0] place_q, address;
  logic [15:0] code;
  logic literal, zero;

  assign code = part_q.warm ? part_q.bits[15:0] : part_q.bits[16:1];
  assign literal = part_q.value && &code[15:12];
  assign zero = !part_q.value;
  always_comb begin
    // From 512, 256, 192 or 176 on.
    if (!code[15]) address = {6'b001011, code[14:11]};
    else if (!code[14]) address = {4'b0011, part_q.hot ? code[12:7] : code[13:8]};
    else if (!code[13]) address = {2'b01, code[12:5]};
    else address = {1'b1, code[11:3]};
  end

  // Behind the memory: what the row is, and what becomes of it.
  typedef struct packed {
    logic        row;
    logic        both;
    logic        second;
    kind_e       kind;
    logic        zero;
    logic        literal;
    logic [11:0] bits;
  } way_t;

  way_t read_q, out_q;
  logic [11:0] entry_q, entry_out_q;
  (* ram_style = "block", no_rw_check *)
  logic [11:0] entries[1024];

  always_ff @(posedge clk_i) begin
    if (part_q.entry) entries[place_q] <= part_q.bits[16:5];
    entry_q <= entries[address];
    entry_out_q <= entry_q;
  end

  logic [11:0] row, first_q;
  assign row = out_q.zero ? '0 : out_q.literal ? out_q.bits : entry_out_q;

  cell_t m_q;
  logic wrong_q, alone;
  assign alone = out_q.kind != Pair;

  always_ff @(posedge clk_i) begin
    part_q <= part_i;
    place_q <= place_i;
    read_q <= '{
      row: part_q.row,
      both: part_q.both,
      second: part_q.second,
      kind: part_q.kind,
      zero: zero,
      literal: literal,
      bits: code[11:0]
    };
    out_q <= read_q;
    if (!out_q.second) first_q <= row;
    m_q <= '{
      valid: out_q.row && (alone || out_q.second || out_q.both),
      kind: out_q.kind,
      rows: {out_q.second ? first_q : row, out_q.second ? row : 12'd0}
    };
    // Bits that the frame has not, a value of zero.
    wrong_q <= out_q.row && ((!out_q.zero && row == '0) || (row[11:2] != '0 && out_q.kind == Two) ||
                             (row[11:1] != '0 && (out_q.kind == Head || out_q.kind == Low)));
    if (clear_i) begin
      part_q.row <= 1'b0;
      read_q.row <= 1'b0;
      out_q.row <= 1'b0;
      m_q.valid <= 1'b0;
      wrong_q <= 1'b0;
    end
  end

  assign m_o = m_q;
  assign wrong_o = wrong_q;

endmodule

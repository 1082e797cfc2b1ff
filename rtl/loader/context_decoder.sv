// SPDX-License-Identifier: Apache-2.0
//
// The decompressor of small streams (docs/library-format.md, "The small stream"): bytes of a stream in, rows of frames
// out, as config_decoder has them. It also takes the tables, as they stand in the file, and keeps them in block RAMs.
//
// Of each row the last eight frames lie in a block RAM, in turn: a place in it is `base` for the frame at hand, which
// the oldest had before. So a row is read and written whole, and nothing moves. Frames that were left out make their
// places blank until all rows have been written.
//
// Clocks: 5 a decision, and as many more as it doubles the range more than twice, a byte that is wanted meanwhile
// counting as one; 1 a row, 2 a frame, and 19 besides, with those of the last doublings. Of tables 1 a byte, and of each
// parent one for each twelve in it.
module context_decoder
  import load_pkg::*;
#(
  parameter device_t Device = AnyDevice
) (
  input logic clk_i,

  // The count of frames is who asks's; of tables there is none.
  input  decode_req_t req_i,
  output decode_rsp_t rsp_o,

  // Of the next frame: its place in its column, and how many frames between it and the one before are left out, at
  // most 7. They count when a frame begins.
  input logic [6:0] column_i,
  input logic [2:0] gap_i,

  input  read_t s_i,
  output logic  s_ready_o,

  output cell_t m_o,
  input  logic  m_room_i
);

  localparam int unsigned Cells = cells_of(Device.pairs, Device.one);

  function automatic kind_e kind_at(logic [CellBits-1:0] place);
    kind_at = Pair;
    for (int unsigned i = 0; i < Cells; i++)
    if (place == CellBits'(i)) kind_at = kind_of(Device.pairs, Device.one, i);
  endfunction
  function automatic logic [3:0] highest(kind_e kind);
    return kind == Head || kind == Low ? 4'd0 : kind == Two ? 4'd1 : 4'd11;
  endfunction

  typedef enum logic [3:0] {
    Tables,
    Fill,    // the first bits of a stream
    Frame,
    First,   // its first row
    Select,  // which probability counts; the range is doubled
    Read,
    Take,    // the range has to be doubled as often as it has to be
    Split,   // what a zero takes of it
    Decide,
    Next,    // the row is done
    Settle,  // the range is doubled for the last time
    Done
  } state_e;
  state_e state_q;

  // ---- the row at hand
  logic [CellBits-1:0] cell_q;
  kind_e kind_q;
  logic second_q;  // the lower row of a pair
  logic flag_q;  // whether it is zero is to be decided, not one of its bits
  logic [3:0] bit_q;
  logic [11:0] row_q, row;
  logic ends;  // it is the last one of the frame
  logic select;  // its next decision begins

  assign select = state_q == Select && (!flag_q || (m_room_i && req_i.active));
  // ---- the range
  logic range_ready, filled, normal, set, beyond, at_end;
  logic [7:0] zero;
  context_range u_range (
    .clk_i,
    .clear_i  (req_i.clear),
    .s_i      ('{valid: s_i.valid && state_q != Tables, behind: s_i.behind, data: s_i.data}),
    .s_ready_o(range_ready),
    .fill_i   (state_q == Fill),
    .filled_o (filled),
    .double_i (state_q inside {Select, Read, Take, Settle}),
    .normal_o (normal),
    .zero_i   (zero),
    .decide_i (state_q == Decide),
    .set_o    (set),
    .beyond_o (beyond),
    .at_end_o (at_end)
  );

  // ---- the tables
  localparam logic [3:0] Flag = 4'd12;
  logic tables_ready, entry, tables_done, wrong_tables;
  logic [20:0] read_parents;
  logic [ 3:0] choice_q;
  context_tables u_tables (
    .clk_i,
    .clear_i  (req_i.clear),
    .load_i   (state_q == Tables && req_i.active && !req_i.clear),
    .s_i,
    .s_ready_o(tables_ready),
    .entry_o  (entry),
    .done_o   (tables_done),
    .wrong_o  (wrong_tables),
    .frame_i  (state_q == Frame),
    .column_i,
    .next_i   (flag_q ? highest(kind_q) : bit_q - 4'd1),
    .parents_o(read_parents),
    .item_i   (flag_q ? Flag : bit_q),
    .choice_i (choice_q),
    .zero_o   (zero)
  );

  assign s_ready_o = state_q == Tables ? tables_ready : range_ready;

  // ---- frames before: the row at hand, the one below it, and the memory, which has the one below that
  logic [2:0] base_q;
  logic [7:0] blank_q, blank;
  logic first_q;  // no frame came yet
  logic [2:0] gap;
  logic [7:0][11:0] here_q, below_q, read_q, written;
  logic [7:0] used_q, below_used_q, below_used;
  logic [6:0] at_q, ahead_q;
  logic begins;  // a frame
  logic turn;  // the row below is next
  (* ram_style = "block", no_rw_check *)
  logic [95:0] rows[128];

  localparam int unsigned Rows = rows_of(Device.pairs, Device.one);
  function automatic int unsigned rows_of(logic [3:0][7:0] pairs, logic one);
    rows_of = 1 + 32'(one);
    for (int i = 0; i < 4; i++) if (pairs[i] != '0) rows_of += 1 + 2 * 32'(pairs[i]);
  endfunction
  function automatic logic [6:0] after(logic [6:0] place);
    return place == 7'(Rows - 1) ? '0 : place + 1'b1;
  endfunction

  assign begins = state_q == Frame && req_i.active && m_room_i;
  assign turn = state_q == First || (state_q == Next && !ends);
  assign gap = first_q ? 3'd7 : gap_i;
  always_comb begin
    blank = '0;
    for (int i = 1; i < 8; i++) if (3'(i) <= gap) blank[3'(base_q+3'(i))] = 1'b1;
    for (int i = 0; i < 8; i++) written[i] = base_q == 3'(i) ? row_q : here_q[i];
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Next) rows[at_q] <= written;
    if (turn) read_q <= rows[ahead_q];
  end

  always_ff @(posedge clk_i) begin
    if (turn) begin
      for (int i = 0; i < 8; i++) begin
        here_q[i] <= blank_q[i] ? '0 : below_q[i];
        below_used_q[i] <= read_q[i] != '0;
      end
      used_q <= below_used_q & ~blank_q;
      below_q <= read_q;
      ahead_q <= after(ahead_q);
      at_q <= state_q == First ? '0 : after(at_q);
    end
    if (begins) begin
      base_q  <= base_q + gap + 1'b1;
      blank_q <= blank;
    end
    if (req_i.clear) begin
      first_q <= 1'b1;
      ahead_q <= 7'd2;
      base_q  <= '0;
    end else if (state_q == First) first_q <= 1'b0;
  end

  // ---- what chooses a probability
  logic [2:0] above_q;
  logic [15:0] flag_parents_q;
  logic [2:0][3:0] parent_bit_q;  // of the next bit: which bit, in which frame, or in this one
  logic [2:0][2:0] parent_at_q;
  logic [2:0] parent_own_q;
  logic [15:0] told;  // what the parents of a flag can be
  logic [3:0] choice;

  assign below_used = below_used_q & ~blank_q;
  always_comb begin
    told = '0;
    told[2:0] = above_q;
    for (int i = 1; i < 8; i++) told[i+2] = used_q[3'(base_q-3'(i))];
    told[10] = below_used[3'(base_q-3'd1)] && kind_q != Low;
    told[11] = |told[9:3];
  end

  function automatic logic of_row(logic [11:0] bits, logic [3:0] place);
    logic [15:0] all;
    all = {4'd0, bits};
    return all[place];
  endfunction
  always_comb begin
    choice = '0;
    for (int i = 0; i < 4; i++) if (flag_q) choice[i] = told[flag_parents_q[4*i+:4]];
    for (int i = 0; i < 3; i++) begin
      if (!flag_q) choice[i] = of_row(parent_own_q[i] ? row_q : here_q[parent_at_q[i]], parent_bit_q[i]);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 3; i++) begin
      parent_bit_q[i] <= read_parents[7*i+:4];
      parent_at_q[i]  <= base_q - read_parents[7*i+4+:3];
      parent_own_q[i] <= read_parents[7*i+4+:3] == '0;
    end
    if (state_q == First) flag_parents_q <= read_parents[15:0];
    if (state_q == Select) choice_q <= choice;
  end

  // ---- what happens
  logic fail_q, any;
  assign ends = kind_q == Low;
  assign any  = row_q != '0;
  always_comb begin
    row = row_q;
    // The lowest bit of a row that is not zero is set if no other one is.
    if (flag_q) row[0] = set && highest(kind_q) == '0;
    else begin
      for (int i = 0; i < 12; i++) if (bit_q == 4'(i)) row[i] = set;
      if (bit_q == 4'd1 && !any && !set) row[0] = 1'b1;
    end
  end

  state_e decided;  // what a decision leads to
  always_comb begin
    if (flag_q) decided = set && highest(kind_q) != '0 ? Select : Next;
    else decided = bit_q == '0 || (bit_q == 4'd1 && !any && !set) ? Next : Select;
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Tables:  if (tables_done) state_q <= Done;
      Fill:    if (filled) state_q <= Frame;
      Frame:   if (begins) state_q <= First;
      First:   state_q <= Select;
      Select:  if (select) state_q <= Read;
      Read:    state_q <= Take;
      Take:    if (normal) state_q <= Split;
      Split:   state_q <= Decide;
      Decide:  state_q <= decided;
      Next:    state_q <= !ends ? Select : req_i.last ? Settle : Frame;
      Settle:  if (normal) state_q <= Done;
      default: ;
    endcase
    if (state_q == First || state_q == Next) begin
      row_q  <= '0;
      flag_q <= 1'b1;
    end else if (state_q == Decide) begin
      row_q  <= row;
      flag_q <= 1'b0;
      bit_q  <= flag_q ? highest(kind_q) : bit_q - 1'b1;
    end
    if (state_q == Frame) above_q <= '0;
    else if (state_q == Next) above_q <= {above_q[1:0], any};
    if (state_q == Frame) begin
      cell_q   <= '0;
      kind_q   <= Head;
      second_q <= 1'b0;
    end else if (state_q == Next) begin
      second_q <= kind_q == Pair && !second_q;
      if (kind_q != Pair || second_q) begin
        cell_q <= cell_q + 1'b1;
        kind_q <= kind_at(cell_q + 1'b1);
      end
    end
    // Too short or too long, or tables that are none.
    if (beyond || wrong_tables || (state_q == Settle && normal && !at_end)) fail_q <= 1'b1;
    if (req_i.clear) begin
      state_q <= req_i.dictionary ? Tables : Fill;
      fail_q  <= 1'b0;
      flag_q  <= 1'b1;
    end
  end

  logic [11:0] higher_q;
  cell_t m_q;
  always_ff @(posedge clk_i) begin
    if (state_q == Next && !second_q) higher_q <= row_q;
    m_q <= '{
      valid: state_q == Next && !req_i.clear && (kind_q != Pair || second_q),
      kind: kind_q,
      rows: {second_q ? higher_q : row_q, second_q ? row_q : 12'd0}
    };
  end

  assign m_o = m_q;
  assign rsp_o = '{
      next: state_q == Next && ends || entry,
      done: state_q == Done && !m_q.valid,
      error: fail_q
    };

endmodule

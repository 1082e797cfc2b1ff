// SPDX-License-Identifier: Apache-2.0
//
// When rows were used: for each row of a frame, in which of the last seven frames; the rows of a cell together. They
// lie in a block RAM and are read two cells ahead of the one that is decoded.
module config_ages
  import load_pkg::*;
#(
  parameter device_t Device = AnyDevice
) (
  input logic clk_i,

  // No row was ever used, and the first cell of a frame is next.
  input logic clear_i,
  // The rows of a cell are decoded, and which of them are not zero: the higher one is bit 1.
  input logic step_i,
  input logic [1:0] used_i,

  // What the cell is. Its lower row was used: in one of the frames (or its age is 7), in the last one (age 0).
  output kind_e kind_o,
  output logic  lower_used_o,
  output logic  lower_last_o,
  // The same of the higher row of the cell behind it.
  output logic  next_used_o,
  output logic  next_last_o
);

  localparam int unsigned Cells = cells_of(Device.pairs, Device.one);
  localparam logic [CellBits-1:0] Last = CellBits'(Cells - 1);
  if (Cells < 8 || Cells > (1 << CellBits)) begin : gen_check_cells
    $error("frames have 8 to 64 cells");
  end

  logic [CellBits-1:0] ahead_q, second_q, next_q, cell_q, write_q;
  logic write_uses_q;
  logic fresh_ahead_q, fresh_second_q, fresh_next_q;  // of the first frame
  // The last frame is bit 0; the higher row is in the upper half.
  logic [1:0][6:0] uses_second_q, uses_next_q, uses_next, uses_q, new_uses_q;
  kind_e kind_q;
  logic lower_used_q;
  (* ram_style = "block", no_rw_check *)
  logic [13:0] uses[1<<CellBits];

  function automatic logic [CellBits-1:0] after(logic [CellBits-1:0] place);
    return place == Last ? '0 : place + 1'b1;
  endfunction
  function automatic kind_e kind_at(logic [CellBits-1:0] place);
    kind_at = Pair;
    for (int unsigned i = 0; i < Cells; i++)
    if (place == CellBits'(i)) kind_at = kind_of(Device.pairs, Device.one, i);
  endfunction

  assign uses_next    = fresh_next_q ? '0 : uses_next_q;
  assign kind_o       = kind_q;
  assign lower_used_o = lower_used_q;
  assign lower_last_o = uses_q[0][0];
  assign next_used_o  = uses_next[1] != '0;
  assign next_last_o  = uses_next[1][0];

  always_ff @(posedge clk_i) begin
    if (write_uses_q) uses[write_q] <= new_uses_q;
    if (step_i) begin
      uses_second_q <= uses[ahead_q];
      uses_next_q   <= uses_second_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      ahead_q <= CellBits'(3);
      second_q <= CellBits'(2);
      next_q <= CellBits'(1);
      cell_q <= '0;
      kind_q <= Head;
      fresh_ahead_q <= 1'b1;
      fresh_second_q <= 1'b1;
      fresh_next_q <= 1'b1;
      uses_q <= '0;
      lower_used_q <= 1'b0;
    end else if (step_i) begin
      ahead_q <= after(ahead_q);
      second_q <= ahead_q;
      next_q <= second_q;
      cell_q <= next_q;
      kind_q <= kind_at(next_q);
      fresh_ahead_q <= fresh_ahead_q && ahead_q != Last;
      fresh_second_q <= fresh_ahead_q;
      fresh_next_q <= fresh_second_q;
      uses_q <= uses_next;
      lower_used_q <= uses_next[0] != '0;
    end
    write_uses_q <= step_i;
    write_q <= cell_q;
    new_uses_q <= {uses_q[1][5:0], used_i[1], uses_q[0][5:0], used_i[0]};
  end

endmodule

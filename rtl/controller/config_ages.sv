// SPDX-License-Identifier: Apache-2.0
//
// When rows were used: for each row of a frame, in which of the last seven frames. They lie in a block RAM and are read
// four rows ahead of the one that is decoded.
module config_ages #(
  // Rows of a frame.
  parameter int unsigned Rows = 72
) (
  input logic clk_i,

  // No row was ever used, and the one at hand is the lowest of the frame before the first.
  input logic clear_i,
  // A row is decoded, and whether it is not zero.
  input logic step_i,
  input logic used_i,

  // It is the lowest row of its frame.
  output logic lowest_o,
  // Of the next row: used in none of the frames (age 7), used in the frame before (age 0).
  output logic quiet_o,
  output logic hot_o
);

  // Any order of places will do, so it is that of a shift register with feedback, which goes another way than usual
  // behind one place, so that it comes back to the first one after as many places as there are rows.
  typedef logic [6:0] place_t;

  function automatic place_t step(place_t place);
    return {place[5:0], place[6] ^ place[5]};
  endfunction
  // The place behind which it goes another way: from there it is Rows - 1 steps back to it.
  function automatic place_t find_last();
    place_t last, place;
    find_last = '0;
    last = 7'd1;
    for (int unsigned i = 0; i < 127; i++) begin
      place = step(last) ^ 7'd1;
      for (int unsigned j = 1; j < Rows; j++) place = step(place);
      if (place == last) find_last = last;
      last = step(last);
    end
  endfunction
  localparam place_t Last = find_last();
  function automatic place_t place_of(int unsigned number);
    place_of = step(Last) ^ 7'd1;
    for (int unsigned i = 0; i < number; i++) place_of = step(place_of);
  endfunction
  if (Last == '0) begin : gen_check_last
    $error("no cycle of so many places");
  end

  // The row to be read, those that are on their way, the next one, the one that is decoded, the one that is written.
  place_t ahead_q, third_q, second_q, next_q, row_q, write_q;
  logic lowest_ahead, lowest_third_q, lowest_second_q, lowest_next_q, lowest_q;
  logic fresh_ahead_q, fresh_third_q, fresh_second_q;  // of the first frame
  logic write_uses_q, used_next_q;
  // The last frame is bit 0.
  logic [6:0] uses_third_q, uses_second_q, new_uses_q;
  logic [5:0] uses_next_q, uses_q;

  (* ram_style = "block", no_rw_check *)
  logic [6:0] uses[128];

  assign lowest_ahead = ahead_q == Last;
  assign lowest_o = lowest_q;
  assign quiet_o = !used_next_q;
  assign hot_o = uses_next_q[0];

  always_ff @(posedge clk_i) begin
    if (write_uses_q) uses[write_q] <= new_uses_q;
    if (step_i) begin
      uses_third_q  <= uses[ahead_q];
      uses_second_q <= uses_third_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      ahead_q <= place_of(3);
      third_q <= place_of(2);
      second_q <= place_of(1);
      next_q <= place_of(0);
      row_q <= Last;
      lowest_third_q <= 1'b0;
      lowest_second_q <= 1'b0;
      lowest_next_q <= 1'b0;
      lowest_q <= 1'b1;
      fresh_ahead_q <= 1'b1;
      fresh_third_q <= 1'b1;
      fresh_second_q <= 1'b1;
    end else if (step_i) begin
      ahead_q <= step(ahead_q) ^ {6'd0, lowest_ahead};
      third_q <= ahead_q;
      second_q <= third_q;
      next_q <= second_q;
      row_q <= next_q;
      lowest_third_q <= lowest_ahead;
      lowest_second_q <= lowest_third_q;
      lowest_next_q <= lowest_second_q;
      lowest_q <= lowest_next_q;
      fresh_ahead_q <= fresh_ahead_q && !lowest_ahead;
      fresh_third_q <= fresh_ahead_q;
      fresh_second_q <= fresh_third_q;
    end
    // Before they are moved, those of the first frame are as if no row had been used.
    if (fresh_second_q) begin
      uses_next_q <= '0;
      used_next_q <= 1'b0;
    end else if (step_i) begin
      uses_next_q <= uses_second_q[5:0];
      used_next_q <= |uses_second_q;
    end
    if (step_i) uses_q <= uses_next_q;
    write_uses_q <= step_i;
    write_q <= row_q;
    new_uses_q <= {uses_q, used_i};
  end

endmodule

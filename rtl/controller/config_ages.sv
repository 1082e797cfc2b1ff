// SPDX-License-Identifier: Apache-2.0
//
// How long rows have been zero: for each row of a frame, how many frames ago it was last used, 0 to 7. They lie in a
// block RAM and are read three rows ahead of the one that is decoded.
module config_ages #(
  // Rows of a frame.
  parameter int unsigned Rows = 72
) (
  input logic clk_i,

  // All rows are as if they had never been used.
  input logic clear_i,
  // A row is decoded, and whether it is not zero.
  input logic step_i,
  input logic used_i,

  // It is the lowest row of its frame.
  output logic lowest_o,
  // Of the next row: age 7, age 0.
  output logic quiet_o,
  output logic hot_o
);

  // Any order of places will do, so it is that of a shift register with feedback.
  typedef logic [6:0] place_t;
  localparam place_t First = 7'd1;

  function automatic place_t step(place_t place);
    return {place[5:0], place[6] ^ place[5]};
  endfunction
  function automatic place_t place_of(int unsigned number);
    place_of = First;
    for (int unsigned i = 0; i < number; i++) place_of = step(place_of);
  endfunction
  localparam place_t Last = place_of(Rows - 1);

  // The row to be read, the two that are on their way, the one that is decoded, the one that is written.
  place_t ahead_q, second_q, next_q, row_q, write_q;
  logic lowest_ahead, lowest_second_q, lowest_next_q, lowest_q;
  logic fresh_ahead_q, fresh_second_q, fresh_next_q;  // of the first frame
  logic write_age_q, quiet_q;
  logic [2:0] age_second_q, age_next_q, age_q, new_age_q;

  (* ram_style = "block", no_rw_check *)
  logic [2:0] ages[128];

  assign lowest_ahead = ahead_q == Last;
  assign lowest_o = lowest_q;
  assign quiet_o = fresh_next_q || age_next_q == 3'd7;
  assign hot_o = !fresh_next_q && age_next_q == '0;

  always_ff @(posedge clk_i) begin
    if (write_age_q) ages[write_q] <= new_age_q;
    if (step_i) begin
      age_second_q <= ages[ahead_q];
      age_next_q   <= age_second_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) ahead_q <= place_of(3);
    else if (step_i) ahead_q <= lowest_ahead ? First : step(ahead_q);
    if (clear_i) begin
      second_q <= place_of(2);
      next_q <= place_of(1);
      row_q <= First;
      lowest_second_q <= 1'b0;
      lowest_next_q <= 1'b0;
      lowest_q <= 1'b0;
      fresh_ahead_q <= 1'b1;
      fresh_second_q <= 1'b1;
      fresh_next_q <= 1'b1;
      quiet_q <= 1'b1;
    end else if (step_i) begin
      second_q <= ahead_q;
      next_q <= second_q;
      row_q <= next_q;
      lowest_second_q <= lowest_ahead;
      lowest_next_q <= lowest_second_q;
      lowest_q <= lowest_next_q;
      fresh_ahead_q <= fresh_ahead_q && !lowest_ahead;
      fresh_second_q <= fresh_ahead_q;
      fresh_next_q <= fresh_second_q;
      quiet_q <= quiet_o;
    end
    if (step_i) age_q <= age_next_q;
    write_age_q <= step_i;
    write_q <= row_q;
    if (used_i) new_age_q <= '0;
    else new_age_q <= quiet_q ? 3'd7 : age_q + 1'b1;
  end

endmodule

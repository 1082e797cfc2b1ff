// SPDX-License-Identifier: Apache-2.0
//
// Residence table and control store: microcode of up to fifteen words in four places, two for what stays (as long as
// there is room for what asks to) and two for what comes and goes, the older of which is replaced.
//
// Clocks: a look-up takes one; the word at an index is there at once.
module molen_residence
  import molen_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // Is it there, and where?
  input  word_t       address_i,
  output logic        hit_o,
  output logic  [1:0] place_o,

  // A place for new microcode, which may ask to stay; it is there when it is filled.
  input  logic       stays_i,
  output logic [1:0] free_o,
  input  logic       begin_i,
  input  logic       filled_i,

  input  logic        write_i,
  input  logic  [5:0] write_at_i,
  input  word_t       data_i,
  input  logic  [5:0] read_at_i,
  output word_t       data_o
);

  (* ram_style = "distributed" *) word_t store[64];
  word_t [3:0] tag_q;
  logic [3:0] valid_q;
  logic older_q;  // of the places 2 and 3, the one that is replaced

  always_comb begin
    hit_o   = 1'b0;
    place_o = '0;
    for (int unsigned p = 0; p < 4; p++) begin
      if (valid_q[p] && tag_q[p] == address_i) begin
        hit_o   = 1'b1;
        place_o = 2'(p);
      end
    end
  end

  always_comb begin
    free_o = {1'b1, older_q};
    if (stays_i && !valid_q[1]) free_o = 2'd1;
    if (stays_i && !valid_q[0]) free_o = 2'd0;
  end

  logic [1:0] filling_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      older_q <= 1'b0;
    end else begin
      if (begin_i) valid_q[free_o] <= 1'b0;
      if (begin_i && free_o[1]) older_q <= !older_q;
      if (filled_i) valid_q[filling_q] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begin_i) filling_q <= free_o;
    if (filled_i) tag_q[filling_q] <= address_i;
    if (write_i) store[write_at_i] <= data_i;
  end

  assign data_o = store[read_at_i];

endmodule

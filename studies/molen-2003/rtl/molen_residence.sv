// SPDX-License-Identifier: Apache-2.0
//
// Residence table and control store: microcode of up to fifteen words in eight places, four for what stays (as long as
// there is room for what asks to) and four for what comes and goes, the oldest of which is replaced.
//
// Clocks: a look-up takes one; the word at an index is there at once.
module molen_residence
  import molen_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // Is it there, and where?
  input  word_t  address_i,
  output logic   hit_o,
  output place_t place_o,

  // A place for new microcode, which may ask to stay; it is there when it is filled.
  input  logic   stays_i,
  output place_t free_o,
  input  logic   begin_i,
  input  logic   filled_i,

  input  logic      write_i,
  input  store_at_t write_at_i,
  input  word_t     data_i,
  input  store_at_t read_at_i,
  output word_t     data_o
);

  (* ram_style = "distributed" *) word_t store[16*Places];
  word_t [Places-1:0] tag_q;
  logic [Places-1:0] valid_q;
  logic [1:0] oldest_q;  // of the places 4 to 7, the one that is replaced

  always_comb begin
    hit_o   = 1'b0;
    place_o = '0;
    for (int unsigned p = 0; p < Places; p++) begin
      if (valid_q[p] && tag_q[p] == address_i) begin
        hit_o   = 1'b1;
        place_o = place_t'(p);
      end
    end
  end

  always_comb begin
    free_o = {1'b1, oldest_q};
    for (int p = 3; p >= 0; p--) if (stays_i && !valid_q[p]) free_o = place_t'(p);
  end

  place_t filling_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      oldest_q <= '0;
    end else begin
      if (begin_i) valid_q[free_o] <= 1'b0;
      if (begin_i && free_o[2]) oldest_q <= oldest_q + 2'd1;
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

// SPDX-License-Identifier: Apache-2.0
//
// The last lookup of one byte of g, with its share of the MDS matrix: the table of an S-box that a key makes, and
// behind it, in the same block memory, the last layer, which all keys share. A lookup takes one clock; the
// clock-to-out of the memory is what it is (no output register).
module twofish_table
  import twofish_pkg::*;
#(
  parameter bit Which = 1'b0  // the q of the last layer
) (
  input logic clk_i,

  input logic      write_i,
  input byte_t     write_at_i,
  input products_t write_data_i,

  input  logic      last_layer_i,  // and not the table
  input  byte_t     a_i,
  output products_t y_o
);

  typedef products_t [511:0] entries_t;

  function automatic entries_t make_entries();
    entries_t made;
    for (int unsigned n = 0; n < 512; n++) made[n] = n < 256 ? '0 : products(q(Which, 8'(n)));
    return made;
  endfunction

  localparam entries_t Entries = make_entries();

  (* ram_style = "block", no_rw_check *)
  products_t entries[512];

  initial begin
    for (int unsigned i = 0; i < 512; i++) entries[i] = Entries[i];
  end

  always_ff @(posedge clk_i) begin
    if (write_i) entries[{1'b0, write_at_i}] <= write_data_i;
    y_o <= entries[{last_layer_i, a_i}];
  end

endmodule

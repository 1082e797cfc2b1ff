// SPDX-License-Identifier: Apache-2.0
//
// Four S-boxes looked up at once, each a block RAM of 256 words. The address registers are those of the
// memories: a lookup comes out in the clock after its address.
module cast_lookup
  import cast_pkg::*;
  import cast_tables_pkg::*;
#(
  parameter tables_t Tables = RoundTables
) (
  input  logic        clk_i,
  // The most significant byte is for the first table.
  input  word_t       address_i,
  output word_t [3:0] entry_o
);

  for (genvar t = 0; t < 4; t++) begin : gen_table
    // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
    // array in simulation.
    (* rom_style = "block" *)
    word_t rom[256];

    initial begin
      for (int unsigned i = 0; i < 256; i++) rom[i] = Tables[3-t][255-i];
    end

    always_ff @(posedge clk_i) entry_o[t] <= rom[address_i[31-8*t-:8]];
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Two lookups in the S-box (ECP5: two DP16KD, a lookup at each port of both). The 512 entries fill half of
// the block RAM; what stands in the other half spares gates behind it. The address registers have no reset.
//
// Cycles: the word comes in the clock after its address.
module mars_sbox
  import mars_pkg::*;
#(
  // The second half: 1: the complement of the first, so that a word can be subtracted; 0: 128 repair words,
  // entry {2 bits, 5 bits} being S[265 + 2 bits] rotated left by 5 bits, then 128 times all zeros, and 256
  // times all ones.
  parameter bit Complement = 1'b0
) (
  input  logic        clk_i,
  input  logic  [9:0] a_i,
  input  logic  [9:0] b_i,
  output word_t       a_o,
  output word_t       b_o
);

  typedef logic [1023:0][31:0] table_t;

  function automatic table_t make_table();
    table_t words;
    for (int unsigned i = 0; i < 512; i++) begin
      words[i] = SBox[i];
      if (Complement) words[512+i] = ~SBox[i];
      else if (i >= 256) words[512+i] = '1;
      else if (i >= 128) words[512+i] = '0;
      else words[512+i] = rotate(SBox[RepairBase+i/32], 5'(i));
    end
    return words;
  endfunction

  localparam table_t Table = make_table();

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  word_t rom[1024];

  initial begin
    for (int unsigned i = 0; i < 1024; i++) rom[i] = Table[i];
  end

  always_ff @(posedge clk_i) begin
    a_o <= rom[a_i];
    b_o <= rom[b_i];
  end

endmodule

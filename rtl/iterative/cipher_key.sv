// SPDX-License-Identifier: Apache-2.0
//
// The key of a frame on its way to the core, for one clock and no longer, and whether the core has a whole one.
module cipher_key
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // take_i: the beat is one of the key.
  input request_t frame_i,
  input logic take_i,

  // The core has a whole key.
  output logic kept_o,

  output logic        key_valid_o,
  output logic [63:0] key_o,
  output logic [ 2:0] key_index_o,
  output logic        key_last_o
);

  always_ff @(posedge clk_i) begin
    if (!take_i) key_o <= '0;
    else key_o <= frame_i.beat;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {kept_o, key_valid_o, key_last_o, key_index_o} <= '0;
    else begin
      key_valid_o <= take_i;
      key_last_o  <= frame_i.last;
      if (frame_i.start) key_index_o <= '0;
      else if (key_valid_o) key_index_o <= key_index_o + 3'd1;
      if (clear_i.active) kept_o <= 1'b0;
      else if (take_i) kept_o <= frame_i.last;
    end
  end

endmodule

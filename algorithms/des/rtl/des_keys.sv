// SPDX-License-Identifier: Apache-2.0
//
// The keys of triple DES as they came, but for permuted choice 1: the first is the third too until that comes.
module des_keys
  import core_pkg::*;
  import des_pkg::*;
(
  input  logic            clk_i,
  input  clear_t          clear_i,
  input  core_req_t       req_i,
  output key_t      [2:0] keys_o,
  // There is more than one: three stages.
  output logic            three_o
);

  logic unused;
  assign unused = ^req_i;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      keys_o  <= '0;
      three_o <= 1'b0;
    end else if (req_i.key_valid) begin
      three_o <= req_i.key_index != 3'd0;
      if (req_i.key_index == 3'd0) keys_o[0] <= permuted_choice_1(req_i.key);
      if (req_i.key_index == 3'd1) keys_o[1] <= permuted_choice_1(req_i.key);
      if (req_i.key_index != 3'd1) keys_o[2] <= permuted_choice_1(req_i.key);
    end
  end

endmodule

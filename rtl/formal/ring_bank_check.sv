// SPDX-License-Identifier: Apache-2.0
//
// ring_bank: rings that stand side by side never give results in the same clock, of which one would be lost.
module ring_bank_check
  import core_pkg::*;
#(
  parameter int unsigned Rings = 1
) (
  input logic clk_i,
  input clear_t clear_i,
  input ring_rsp_t [Rings-1:0] ring_rsp_i
);

  logic [Rings-1:0] valid;

  for (genvar i = 0; i < Rings; i++) begin : gen_valid
    assign valid[i] = ring_rsp_i[i].result_valid;
  end

  always_ff @(posedge clk_i) begin
    if (!clear_i.active) begin
      assert ($onehot0(valid))
      else $error("two rings give a result in the same clock");
    end
  end

endmodule

bind ring_bank ring_bank_check #(.Rings(Rings)) u_check (.*);

// SPDX-License-Identifier: Apache-2.0
//
// The one event that forgets (clear_t), as long as a slot's slowest part needs it: from a reset on, and from the clock
// after forget_i on.
//
// Clocks: ClearCycles.
module slot_clear
  import core_pkg::*;
#(
  // The deepest memory's words and the registers behind it. With less than four the shell would judge the next frame
  // by what is just being forgotten.
  parameter int unsigned ClearCycles = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic   forget_i,
  output clear_t clear_o
);

  if (ClearCycles < 4 || ClearCycles > 2 ** ClearBits) begin : gen_illegal_cycles
    $error("slot_clear: ClearCycles must be from 4 to 8192");
  end

  localparam int unsigned IndexBits = $clog2(ClearCycles);
  typedef logic [IndexBits-1:0] index_t;

  logic   active_q;
  index_t index_q;

  assign clear_o = '{active: active_q, index: ClearBits'(index_q)};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b1;
      index_q  <= '0;
    end else begin
      active_q <= forget_i || (active_q && index_q != index_t'(ClearCycles - 1));
      index_q  <= forget_i || !active_q ? '0 : index_q + index_t'(1);
    end
  end

endmodule

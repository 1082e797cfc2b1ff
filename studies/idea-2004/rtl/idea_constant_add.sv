// SPDX-License-Identifier: Apache-2.0
//
// A sum with a constant, which is in the contents of kept LUTs and nowhere else. Clocks: none.
module idea_constant_add #(
  parameter logic [15:0] K = '0
) (
  input  logic [15:0] x_i,
  output logic [15:0] y_o
);

  logic [15:0] constant;

  for (genvar b = 0; b < 16; b++) begin : gen_bit
    // What is at the inputs does not matter; no pin of a kept LUT may be constant.
    (* keep *)
    init_lut #(
      .Init({16{K[b]}})
    ) u_key (
      .in_i (x_i[3:0]),
      .out_o(constant[b])
    );
  end

  assign y_o = x_i + constant;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A LUT of four inputs whose contents variants change without placing and routing anew. Synthesis does not look
// inside: the flow's pass `kept` makes a LUT4 of every instance and gives it a place of its own, so that all of them
// share a few frames. Instances carry (* keep *), and their Init must not shape anything else.
module init_lut #(
  // Output for every value of in_i.
  parameter logic [15:0] Init = '0
) (
  input  logic [3:0] in_i,
  output logic       out_o
);
  assign out_o = Init[in_i];
endmodule

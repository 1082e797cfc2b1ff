// SPDX-License-Identifier: Apache-2.0
//
// A tile whose network can be seen, for flow/model/array_bench.cpp.
module array_bench
  import array_pkg::*;
(
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [                     2:0] target_i,
  input  logic                            rotate_i,
  input  logic [                     3:0] lane_i,
  input  logic [                     8:0] at_i,
  input  logic [                    63:0] data_i,
  input  logic [         KeyWordBits-1:0] key_base_i,
  input  logic [          StreamBits-1:0] read_at_i,
  output logic                            start_o,
  output logic [32*(Sources+Outputs)-1:0] seen_o
);

  write_t write;
  logic [Outputs-1:0][31:0] words;

  assign write = '{
      target: target_e'(target_i),
      way: 1'b0,
      rotate: rotate_i,
      lane: lane_i,
      at: at_i,
      data: data_i
    };
  assign seen_o = {words, u_tile.gen_way[0].u_way.sources};

  array_tile u_tile (
    .clk_i,
    .rst_ni,
    .clear_i('0),
    .write_i(write),
    .start_o,
    .key_base_i,
    .input_base_o(),
    .output_base_o(),
    .bank_o(),
    .read_at_i,
    .words_o(words)
  );

endmodule

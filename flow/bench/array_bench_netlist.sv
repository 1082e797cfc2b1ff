// SPDX-License-Identifier: Apache-2.0
//
// The tile's netlist beside its RTL, for flow/model/array_bench.cpp: what can be seen outside of a tile is the
// netlist's, the network is the RTL's. Where another pin differs, so does what is seen.
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

  localparam int unsigned Pins = 2 + 2 * StreamBits;

  write_t write;
  logic [Outputs-1:0][31:0] words, unused_words;
  logic [1:0][Pins-1:0] pins;

  assign write = '{
      target: target_e'(target_i),
      way: 1'b0,
      rotate: rotate_i,
      lane: lane_i,
      at: at_i,
      data: data_i
    };
  assign start_o = pins[0][0];
  assign seen_o = {words ^ {(32 * Outputs) {pins[0] != pins[1]}}, u_tile.gen_way[0].u_way.sources};

  array_tile u_tile (
    .clk_i,
    .rst_ni,
    .clear_i('0),
    .write_i(write),
    .start_o(pins[1][0]),
    .key_base_i,
    .input_base_o(pins[1][2+:StreamBits]),
    .output_base_o(pins[1][2+StreamBits+:StreamBits]),
    .bank_o(pins[1][1]),
    .read_at_i,
    .words_o(unused_words)
  );

  array_tile_netlist u_netlist (
    .clk_i,
    .rst_ni,
    .clear_i('0),
    .write_i(write),
    .start_o(pins[0][0]),
    .key_base_i,
    .input_base_o(pins[0][2+:StreamBits]),
    .output_base_o(pins[0][2+StreamBits+:StreamBits]),
    .bank_o(pins[0][1]),
    .read_at_i,
    .words_o(words)
  );

endmodule

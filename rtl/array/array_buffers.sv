// SPDX-License-Identifier: Apache-2.0
//
// What lanes have in memories: a buffer each, a state each (of a hash, or an AEAD's counter and sum), and the store of the
// states that hashes begin with.
//
// Latency of each read: 2 clocks. What is written into a state is there for reads of 2 clocks later, into a buffer for those
// of the next clock.
module array_buffers
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
#(
  parameter int unsigned Lanes = 16
) (
  input logic   clk_i,
  input clear_t clear_i,

  // A beat into a lane's buffer, or into its state, which has four.
  input logic         write_i,
  input logic         to_state_i,
  input lane_t        write_lane_i,
  input at_t          write_at_i,
  input logic  [63:0] write_data_i,

  input  lane_t        read_lane_i,
  input  at_t          read_at_i,
  output logic  [63:0] beat_o,

  input  lane_t        state_lane_i,
  input  logic  [ 1:0] state_index_i,
  output logic  [63:0] lane_state_o,

  // The store: what the loader writes goes first.
  input  logic         bits_write_i,
  input  lane_t        bits_lane_i,
  input  logic         bits_run_i,
  input  logic  [63:0] bits_i,
  output logic         bits_ready_o,
  input  logic         store_write_i,
  input  logic  [ 6:0] store_at_i,
  input  logic  [63:0] store_data_i,
  input  logic  [ 6:0] store_read_i,
  output logic  [63:0] store_o
);

  localparam int unsigned LaneBits = $clog2(Lanes);

  ram_block #(
    .Width(64),
    .Depth(Lanes << BeatBits)
  ) u_buffers (
    .clk_i,
    .clear_i,
    .write_i     (write_i && !to_state_i),
    .write_at_i  ({write_lane_i[LaneBits-1:0], write_at_i}),
    .write_data_i(write_data_i),
    .read_i      (1'b1),
    .read_at_i   ({read_lane_i[LaneBits-1:0], read_at_i}),
    .read_data_o (beat_o)
  );

  // Too small for block memory; the clear and the clocks of a read are those of ram_block.
  (* ram_style = "distributed" *)
  logic [63:0] states[Lanes << 2];
  logic [63:0] state_q;
  logic state_write_q;
  logic [LaneBits+1:0] state_at_q;
  logic [63:0] state_data_q;

  always_ff @(posedge clk_i) begin
    state_write_q <= clear_i.active || (write_i && to_state_i);
    state_at_q    <= clear_i.active ? clear_i.index[LaneBits+1:0] : {write_lane_i[LaneBits-1:0], write_at_i[1:0]};
    state_data_q <= clear_i.active ? '0 : write_data_i;
    state_q <= states[{state_lane_i[LaneBits-1:0], state_index_i}];
    lane_state_o <= state_q;
  end
  always_ff @(posedge clk_i) begin
    if (state_write_q) states[state_at_q] <= state_data_q;
  end

  // States that hashes begin with: the first one of each bank's set, and the inner and the outer one of each of its keys;
  // and bits so far. First states are no secret, and outlast a clear.
  logic store_write;
  logic [6:0] store_write_at;
  logic [63:0] store_data;
  clear_t no_clear;

  assign no_clear     = '0;
  assign bits_ready_o = !store_write_i && !clear_i.active;
  always_ff @(posedge clk_i) begin
    store_write <= store_write_i || bits_write_i || (clear_i.active && clear_i.index[3:2] != StateFirst);
    store_write_at <= clear_i.active ? clear_i.index[6:0] : store_write_i ? store_at_i : bits_at(
      bits_run_i, bits_lane_i
    );
    store_data <= clear_i.active ? '0 : store_write_i ? store_data_i : bits_i;
  end

  ram_block #(
    .Width(64),
    .Depth(128)
  ) u_store (
    .clk_i,
    .clear_i     (no_clear),
    .write_i     (store_write),
    .write_at_i  (store_write_at),
    .write_data_i(store_data),
    .read_i      (1'b1),
    .read_at_i   (store_read_i),
    .read_data_o (store_o)
  );

endmodule

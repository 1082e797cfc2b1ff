// SPDX-License-Identifier: Apache-2.0
//
// The lanes' parts of the output buffer: results in, counted for each lane, and words out.
//
// Latency of a read: 2 clocks. A result is counted a clock after it came, and can be read a clock later.
module lane_results
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input lane_block_t result_i,

  // How many of a lane there are, counted without end.
  input  lane_t   find_i,
  output blocks_t find_done_o,

  input  place_t read_at_i,
  output block_t read_data_o
);

  localparam int unsigned Sides = Shape.block_bytes / 8;

  typedef logic [Shape.ptr_bits:0] count_t;

  logic [Shape.lane_bits-1:0] result_lane;
  count_t done_of_result;

  assign result_lane = result_i.lane[Shape.lane_bits-1:0];

  // Counts of results, once for each reader.
  for (genvar i = 0; i < 2; i++) begin : gen_done
    count_t data;

    ram_logic #(
      .Width(Shape.ptr_bits + 1),
      .Depth(Shape.lanes)
    ) u_done (
      .clk_i,
      .clear_i,
      .write_i     (result_i.valid),
      .write_at_i  (result_lane),
      .write_data_i(done_of_result + count_t'(1)),
      .read_at_i   (i == 0 ? result_lane : find_i[Shape.lane_bits-1:0]),
      .read_data_o (data)
    );
  end

  assign done_of_result = gen_done[0].data;
  assign find_done_o    = blocks_t'(gen_done[1].data);

  // A register in front of the buffer: it is far from the core, and a clear needs no gate behind it.
  logic store_q;
  logic [Shape.lane_bits+Shape.ptr_bits-1:0] store_at_q;
  logic [Shape.block_bits-1:0] store_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_q    <= 1'b0;
      store_at_q <= '0;
    end else begin
      store_q    <= result_i.valid;
      store_at_q <= {result_lane, done_of_result[Shape.ptr_bits-1:0]};
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) store_data_q <= '0;
    else store_data_q <= result_i.block[Shape.block_bits-1:0];
  end

  logic [Shape.block_bits-1:0] read_data;
  assign read_data_o = block_t'(read_data);

  for (genvar h = 0; h < Sides; h++) begin : gen_side
    ram_block #(
      .Width(64),
      .Depth(Shape.lanes * Shape.lane_blocks),
      .Quiet(1'b1)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i     (store_q),
      .write_at_i  (store_at_q),
      .write_data_i(store_data_q[64*h+:64]),
      .read_i      (1'b1),
      .read_at_i   ({read_at_i.lane[Shape.lane_bits-1:0], read_at_i.block[Shape.ptr_bits-1:0]}),
      .read_data_o (read_data[64*h+:64])
    );
  end

endmodule

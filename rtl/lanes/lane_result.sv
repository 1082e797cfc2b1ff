// SPDX-License-Identifier: Apache-2.0
//
// Results of the core: adds the mask that lane_chain left for the block's ticket, and hands the block on to
// lane_outlet's buffer and, in CBC encryption, to lane_chain.
//
// Latency: 1 clock.
module lane_result
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape,

  localparam int unsigned BlockBits = 8 * Shape.block_bytes,
  localparam int unsigned TicketWidth = Shape.tickets > 1 ? $clog2(Shape.tickets) : 1,
  localparam int unsigned LaneBits = $clog2(Shape.lanes)
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A block enters the core.
  input logic                   enter_i,
  input logic [TicketWidth-1:0] enter_ticket_i,
  input logic [  BlockBits-1:0] mask_i,
  input logic [   LaneBits-1:0] lane_i,
  input logic                   feedback_i,

  // A block leaves it.
  input logic                   leave_i,
  input logic [TicketWidth-1:0] leave_ticket_i,
  input logic [  BlockBits-1:0] block_i,

  output logic                 valid_o,
  output logic [ LaneBits-1:0] lane_o,
  output logic                 feedback_o,
  output logic [BlockBits-1:0] block_o
);

  logic [BlockBits-1:0] mask;
  logic [LaneBits-1:0] lane;
  logic feedback;

  ram_logic #(
    .Width(BlockBits + LaneBits + 1),
    .Depth(2 ** TicketWidth),
    // A clear empties what the mask comes from, and there is no block.
    .Quiet(1'b1)
  ) u_masks (
    .clk_i,
    .clear_i,
    .write_i     (enter_i),
    .write_at_i  (enter_ticket_i),
    .write_data_i({feedback_i, lane_i, mask_i}),
    .read_at_i   (leave_ticket_i),
    .read_data_o ({feedback, lane, mask})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o    <= 1'b0;
      lane_o     <= '0;
      feedback_o <= 1'b0;
    end else begin
      valid_o    <= leave_i;
      lane_o     <= lane;
      feedback_o <= feedback && leave_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) block_o <= '0;
    else block_o <= block_i ^ mask;
  end

endmodule

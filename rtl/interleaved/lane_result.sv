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
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // What was left for the block at the core's door, which enters when the core is ready.
  input  lane_block_t mask_i,
  input  ring_rsp_t   rsp_i,
  output lane_block_t result_o
);

  localparam int unsigned TicketWidth = Shape.tickets > 1 ? $clog2(Shape.tickets) : 1;

  logic [Shape.block_bits-1:0] mask, mixed_q;
  logic [Shape.lane_bits-1:0] lane, lane_q;
  logic feedback, valid_q, feedback_q;

  ram_logic #(
    .Width(Shape.block_bits + Shape.lane_bits + 1),
    .Depth(2 ** TicketWidth),
    // A clear empties what the mask comes from, and there is no block.
    .Quiet(1'b1)
  ) u_masks (
    .clk_i,
    .clear_i,
    .write_i     (mask_i.valid && rsp_i.block_ready),
    .write_at_i  (rsp_i.block_ticket[TicketWidth-1:0]),
    .write_data_i({mask_i.feedback, mask_i.lane[Shape.lane_bits-1:0], mask_i.block[Shape.block_bits-1:0]}),
    .read_at_i   (rsp_i.result_ticket[TicketWidth-1:0]),
    .read_data_o ({feedback, lane, mask})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid_q, lane_q, feedback_q} <= '0;
    else begin
      valid_q    <= rsp_i.result_valid;
      lane_q     <= lane;
      feedback_q <= feedback && rsp_i.result_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) mixed_q <= '0;
    else mixed_q <= rsp_i.result[Shape.block_bits-1:0] ^ mask;
  end

  assign result_o = '{
      valid: valid_q,
      feedback: feedback_q,
      lane: lane_t'(lane_q),
      block: block_t'(mixed_q)
    };

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Results of the core: adds the mask that lane_chain left for the slot of the ring, and hands the block on to
// lane_outlet's buffer and, in CBC encryption, to lane_chain. The masks are overwritten by a sweep.
//
// Latency: 1 clock.
module lane_result #(
  parameter int unsigned BlockBytes = 16,
  parameter int unsigned Slots = 4,
  parameter int unsigned Lanes = 8,

  localparam int unsigned BlockBits = 8 * BlockBytes,
  localparam int unsigned SlotBits  = Slots > 1 ? $clog2(Slots) : 1,
  localparam int unsigned LaneBits  = $clog2(Lanes)
) (
  input logic clk_i,
  input logic rst_ni,

  input logic                sweep_i,
  input logic [SlotBits-1:0] sweep_slot_i,

  // A block enters the core.
  input logic                 enter_i,
  input logic [ SlotBits-1:0] enter_slot_i,
  input logic [BlockBits-1:0] mask_i,
  input logic [ LaneBits-1:0] lane_i,
  input logic                 feedback_i,

  // A block leaves it.
  input logic                 leave_i,
  input logic [ SlotBits-1:0] leave_slot_i,
  input logic [BlockBits-1:0] block_i,

  output logic                 valid_o,
  output logic [ LaneBits-1:0] lane_o,
  output logic                 feedback_o,
  output logic [BlockBits-1:0] block_o
);

  logic [BlockBits-1:0] mask;
  logic [LaneBits-1:0] lane;
  logic feedback;

  lane_ram #(
    .Width(BlockBits + LaneBits + 1),
    .Depth(2 ** SlotBits)
  ) u_masks (
    .clk_i,
    .write_i     (enter_i || sweep_i),
    .write_at_i  (sweep_i ? sweep_slot_i : enter_slot_i),
    // In a sweep all of this is zero.
    .write_data_i({feedback_i, lane_i, mask_i}),
    .read_at_i   (leave_slot_i),
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
    if (sweep_i) block_o <= '0;
    else block_o <= block_i ^ mask;
  end

endmodule

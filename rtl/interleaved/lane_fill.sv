// SPDX-License-Identifier: Apache-2.0
//
// The IV of a frame on its way to the chaining values, and its payload into the lane's part of the input buffer,
// from which lane_issue reads whole blocks. How many of them there are is counted for each lane. A payload longer
// than the buffer waits for the lane's answers to leave.
module lane_fill
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // A frame starts in a lane; then beats of its IV and of its payload. `last` ends a section.
  input logic    start_i,
  input lane_t   lane_i,
  input stream_t beat_i,
  input logic    in_iv_i,
  input logic    is_payload_i,
  // Its key is not ready.
  input logic    key_pending_i,

  // The lane has no room for another block; has one and is not armed yet; may be worked on from now on.
  output logic full_o,
  output logic begun_o,
  output logic arm_o,

  output lane_block_t iv_o,
  input  logic        iv_ready_i,

  // The buffer.
  input  buffer_req_t req_i,
  output buffer_rsp_t rsp_o
);

  localparam int unsigned SideBits = Shape.block_bytes == 16 ? 1 : 0;
  localparam bit Wide = Shape.block_bytes == 16;

  logic [Shape.lane_bits-1:0] lane;
  logic iv_valid_q;
  logic [Shape.block_bits-1:0] iv_q;
  logic second_q;  // the second beat of a block comes next
  logic block_end;  // this beat completes a block
  logic write;
  logic block_end_q;
  // A clock old, so rather too few; a lane that begins is empty.
  logic [Shape.ptr_bits:0] sent_q;
  logic [Shape.ptr_bits:0] written_q, room_used;

  assign lane      = lane_i[Shape.lane_bits-1:0];
  assign write     = beat_i.valid && is_payload_i;
  assign block_end = write && (!Wide || second_q || beat_i.last);
  assign room_used = written_q - sent_q;

  logic [Shape.ptr_bits:0] lane_written;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {second_q, sent_q, written_q, full_o, iv_valid_q, begun_o, block_end_q} <= '0;
    else begin
      if (start_i) second_q <= 1'b0;
      else if (beat_i.valid) second_q <= Wide && !second_q && !beat_i.last;
      sent_q <= req_i.sent[Shape.ptr_bits:0];
      if (start_i) written_q <= lane_written;
      else if (block_end) written_q <= written_q + (Shape.ptr_bits + 1)'(1);
      block_end_q <= block_end;
      full_o <= room_used[Shape.ptr_bits] || (block_end && room_used[Shape.ptr_bits-1:0] == '1);
      iv_valid_q <= (beat_i.valid && !is_payload_i && beat_i.last) || (iv_valid_q && !iv_ready_i);
      begun_o    <= block_end_q || (begun_o && !arm_o);
    end
  end

  // The lane may be worked on as soon as there is a block and its IV has arrived.
  assign arm_o = begun_o && !iv_valid_q && !key_pending_i;

  always_ff @(posedge clk_i) begin
    for (int unsigned h = 0; h <= SideBits; h++) begin
      if (clear_i.active) iv_q[64*h+:64] <= '0;
      else if (in_iv_i && second_q == 1'(h)) iv_q[64*h+:64] <= beat_i.data;
    end
  end

  assign iv_o = '{valid: iv_valid_q, feedback: 1'b0, lane: lane_i, block: block_t'(iv_q)};

  // Counts of blocks, once for each reader.
  for (genvar i = 0; i < 3; i++) begin : gen_written
    logic [Shape.lane_bits-1:0] at;
    logic [Shape.ptr_bits:0] data;

    ram_logic #(
      .Width(Shape.ptr_bits + 1),
      .Depth(Shape.lanes)
    ) u_written (
      .clk_i,
      .clear_i,
      .write_i     (block_end_q),
      .write_at_i  (lane),
      .write_data_i(written_q),
      .read_at_i   (at),
      .read_data_o (data)
    );
  end

  assign gen_written[0].at = lane;
  assign gen_written[1].at = req_i.issue_lane[Shape.lane_bits-1:0];
  assign gen_written[2].at = req_i.outlet_lane[Shape.lane_bits-1:0];
  assign lane_written      = gen_written[0].data;

  logic [Shape.block_bits-1:0] read_data;

  assign rsp_o = '{
      issue_written: blocks_t'(gen_written[1].data),
      outlet_written: blocks_t'(gen_written[2].data),
      read_data: block_t'(read_data)
    };

  // A register in front of the buffer: it is far from the entrance, and a clear needs no gate behind it.
  logic [SideBits:0] store_q;
  logic [Shape.lane_bits+Shape.ptr_bits-1:0] store_at_q;
  logic [63:0] store_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_q    <= '0;
      store_at_q <= '0;
    end else begin
      for (int unsigned h = 0; h <= SideBits; h++) store_q[h] <= write && second_q == 1'(h);
      store_at_q <= {lane, written_q[Shape.ptr_bits-1:0]};
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) store_data_q <= '0;
    else store_data_q <= beat_i.data;
  end

  for (genvar h = 0; h <= SideBits; h++) begin : gen_side
    ram_block #(
      .Width(64),
      .Depth(Shape.lanes * Shape.lane_blocks),
      .Quiet(1'b1)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i     (store_q[h]),
      .write_at_i  (store_at_q),
      .write_data_i(store_data_q),
      .read_i      (req_i.read),
      .read_at_i   ({req_i.read_at.lane[Shape.lane_bits-1:0], req_i.read_at.block[Shape.ptr_bits-1:0]}),
      .read_data_o (read_data[64*h+:64])
    );
  end

endmodule

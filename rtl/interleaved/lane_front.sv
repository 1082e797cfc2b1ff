// SPDX-License-Identifier: Apache-2.0
//
// All of an interleaved cipher slot but its core: many frames at a time, each in a lane of its own, share a
// core that is a ring of pipeline stages, so that even CBC encryption, whose blocks wait for each other, keeps
// it full. Frames are answered in the order in which they finish, told apart by their tags; with respect to
// keys they behave as if they came one after the other, and a frame that wipes is alone in the slot.
//
//   s_axis -> lane_intake -> lane_issue (lane_chain) -> core -> lane_result -> lane_outlet -> m_axis
//                                                 lane_table
//
// After a reset, after the answer to a frame that wipes, and after a key that was cut short (once all frames in front of
// it are answered) everything is forgotten, the buffers too: the next frame starts ClearCycles + 4 clocks later, where
// ClearCycles is what the buffers take, Lanes x LaneBytes / BlockBytes + 8; the core has fewer words.
//
// Clocks per block at full load: the core's, but not less than the beats of a block, nor than 2 in CBC
// encryption; the lanes are enough for that when (core's clocks from block to result + 8 + Lanes) / clocks per
// block <= Lanes. A frame costs its beats and 3 clocks at the entrance, its result beats and 5 at the exit.
module lane_front
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // The algorithm code that frames must carry.
  parameter logic [7:0] Algorithm = AlgAes,
  // 8 or 16.
  parameter int unsigned BlockBytes = 16,
  // Bit n set: a key of n bytes is legal.
  parameter logic [63:0] KeyLengths = 64'h1_0101_0000,
  // 0: the core can only encrypt.
  parameter bit Decrypt = 1'b1,
  // Cores side by side, and the tickets that each gives to blocks.
  parameter int unsigned Rings = 1,
  parameter int unsigned Tickets = 16,
  // Frames in flight. The core holds a key for each: its contexts.
  parameter int unsigned Lanes = UsualLanes,
  // Bytes of payload that a lane holds; a power of two.
  parameter int unsigned LaneBytes = 2048
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // From and to the core, or the cores.
  output clear_t                clear_o,
  output ring_req_t [Rings-1:0] req_o,
  input  ring_rsp_t [Rings-1:0] rsp_i
);

  if (!(BlockBytes inside {8, 16}) || KeyLengths == '0 || KeyLengths[0]) begin : gen_illegal_lengths
    $error("lane_front: BlockBytes must be 8 or 16, and KeyLengths name at least one length and not 0");
  end
  if (!(Lanes inside {4, 8, 16})) begin : gen_illegal_lanes
    $error("lane_front: Lanes must be 4, 8 or 16");
  end
  // No core has memories of more than 64 words for a key, so that it forgets as fast as a buffer of 64 blocks.
  if (LaneBytes < 64 * BlockBytes || LaneBytes > MaxLaneBlocks * BlockBytes || $countones(
      LaneBytes
    ) != 1) begin : gen_illegal_bytes
    $error("lane_front: LaneBytes must be a power of two, at least 64 blocks and at most 256");
  end

  localparam int unsigned LaneBlocks = LaneBytes / BlockBytes;

  localparam shape_t Shape = '{
    algorithm: Algorithm,
    key_lengths: KeyLengths,
    decrypt: Decrypt,
    block_bytes: BlockBytes,
    lanes: Lanes,
    contexts: Lanes,
    tickets: Rings * Tickets,
    lane_blocks: LaneBlocks,
    block_bits: 8 * BlockBytes,
    lane_bits: $clog2(Lanes),
    context_bits: $clog2(Lanes),
    ptr_bits: $clog2(LaneBlocks)
  };

  // -- the event that forgets -----------------------------------------------------------------------------

  localparam int unsigned Words = Lanes * LaneBlocks;
  logic forget;
  slot_clear #(
    // The memories behind their registers, which see word 0 twice.
    .ClearCycles(Words + 8)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o
  );

  // -- the parts ------------------------------------------------------------------------------------------

  frame_t  frame;
  free_t   free;
  look_t   look;
  find_t   find;
  answer_t answer;
  lane_t answer_lane, wait_lane;
  logic quiet, iv_ready, waits, release_lane;
  buffer_req_t buffer_req;
  buffer_rsp_t buffer_rsp;
  lane_block_t iv, mask, result;
  offer_t offer;
  key_beat_t key;
  context_t key_context;
  ring_req_t req;
  ring_rsp_t rsp;

  assign req = '{
      key_valid: key.valid,
      key: key.data,
      key_index: key.index,
      key_last: key.last,
      key_len: key.len,
      key_context: key_context,
      block_valid: offer.valid,
      block: offer.block,
      decrypt: offer.decrypt,
      block_context: offer.key
    };

  ring_bank #(
    .Rings  (Rings),
    .Tickets(Tickets)
  ) u_bank (
    .clk_i,
    .clear_i   (clear_o),
    .req_i     (req),
    .rsp_o     (rsp),
    .ring_req_o(req_o),
    .ring_rsp_i(rsp_i)
  );

  lane_intake #(
    .Shape(Shape)
  ) u_intake (
    .clk_i,
    .rst_ni,
    .s_axis_i,
    .s_axis_ready_o,
    .clear_i      (clear_o),
    .forget_o     (forget),
    .free_i       (free),
    .quiet_i      (quiet),
    .frame_o      (frame),
    .iv_o         (iv),
    .iv_ready_i   (iv_ready),
    .buffer_i     (buffer_req),
    .buffer_o     (buffer_rsp),
    .key_o        (key),
    .key_context_o(key_context),
    .key_busy_i   (rsp.key_busy)
  );

  lane_table #(
    .Shape(Shape)
  ) u_table (
    .clk_i,
    .rst_ni,
    .clear_i      (clear_o),
    .frame_i      (frame),
    .free_o       (free),
    .look_i       (buffer_req.issue_lane),
    .look_o       (look),
    .wait_i       (waits),
    .wait_lane_i  (wait_lane),
    .result_i     (result),
    .find_i       (buffer_req.outlet_lane),
    .find_o       (find),
    .answer_lane_i(answer_lane),
    .answer_o     (answer),
    .release_i    (release_lane)
  );

  lane_issue #(
    .Shape(Shape)
  ) u_issue (
    .clk_i,
    .rst_ni,
    .clear_i      (clear_o),
    .look_o       (buffer_req.issue_lane),
    .look_i       (look),
    .written_i    (buffer_rsp.issue_written),
    .wait_o       (waits),
    .wait_lane_o  (wait_lane),
    .read_o       (buffer_req.read),
    .read_at_o    (buffer_req.read_at),
    .read_data_i  (buffer_rsp.read_data),
    .iv_i         (iv),
    .iv_ready_o   (iv_ready),
    .result_i     (result),
    .block_o      (offer),
    .block_ready_i(rsp.block_ready),
    .mask_o       (mask)
  );

  lane_result #(
    .Shape(Shape)
  ) u_result (
    .clk_i,
    .rst_ni,
    .clear_i (clear_o),
    .mask_i  (mask),
    .rsp_i   (rsp),
    .result_o(result)
  );

  lane_outlet #(
    .Shape(Shape)
  ) u_outlet (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .result_i      (result),
    .find_o        (buffer_req.outlet_lane),
    .find_i        (find),
    .find_written_i(buffer_rsp.outlet_written),
    .lane_o        (answer_lane),
    .answer_i      (answer),
    .release_o     (release_lane),
    .intake_lane_i (frame.lane),
    .intake_sent_o (buffer_req.sent),
    .quiet_o       (quiet),
    .m_axis_o,
    .m_axis_ready_i
  );

endmodule

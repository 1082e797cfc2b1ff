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
// ClearCycles is what the buffers take, Lanes x LaneBytes / BlockBytes + 8, or the core if that is more.
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
  parameter logic [63:0] KeyLengths = 64'd1 << 16,
  // What the core can do. CTR needs Encrypt.
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  // The modes that this configuration has.
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  // Tickets that the core gives to blocks.
  parameter int unsigned Tickets = 4,
  // Frames in flight, and contexts of the core: the keys that it holds; powers of two.
  parameter int unsigned Lanes = 8,
  parameter int unsigned Contexts = 8,
  // Bytes of payload that a lane holds; a power of two.
  parameter int unsigned LaneBytes = 2048,
  // Clocks that the core takes to forget.
  parameter int unsigned ClearCycles = 64,

  localparam int unsigned BlockBits = 8 * BlockBytes,
  localparam int unsigned ContextWidth = $clog2(Contexts),
  localparam int unsigned TicketWidth = Tickets > 1 ? $clog2(Tickets) : 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // From and to the core.
  output clear_t    clear_o,
  output ring_req_t req_o,
  input  ring_rsp_t rsp_i
);

  if (!(BlockBytes inside {8, 16}) || KeyLengths == '0 || KeyLengths[0]) begin : gen_illegal_lengths
    $error("lane_front: BlockBytes must be 8 or 16, and KeyLengths name at least one length and not 0");
  end
  if (!Encrypt && !Decrypt || !(Ecb || Cbc || Ctr) || Ctr && !Encrypt) begin : gen_illegal_modes
    $error("lane_front: no mode left, or CTR without Encrypt");
  end
  if ($countones(
      Lanes
    ) != 1 || $countones(
      Contexts
    ) != 1 || Lanes < 4 || Contexts < 2) begin : gen_illegal_lanes
    $error("lane_front: Lanes and Contexts must be powers of two, and at least 4 and 2");
  end
  if (LaneBytes < 8 * BlockBytes || $countones(LaneBytes) != 1) begin : gen_illegal_bytes
    $error("lane_front: LaneBytes must be a power of two and at least 8 blocks");
  end

  localparam int unsigned LaneBlocks = LaneBytes / BlockBytes;
  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned PtrBits = $clog2(LaneBlocks);

  localparam shape_t Shape = '{
    algorithm: Algorithm,
    key_lengths: KeyLengths,
    encrypt: Encrypt,
    decrypt: Decrypt,
    ecb: Ecb,
    cbc: Cbc,
    ctr: Ctr,
    block_bytes: BlockBytes,
    lanes: Lanes,
    contexts: Contexts,
    tickets: Tickets,
    lane_blocks: LaneBlocks
  };

  typedef logic [LaneBits-1:0] lane_t;

  // -- the event that forgets -----------------------------------------------------------------------------

  localparam int unsigned Words = Lanes * LaneBlocks;
  // The memories behind their registers, which see word 0 twice.
  localparam int unsigned Clocks = (ClearCycles > Words ? ClearCycles : Words) + 8;

  logic forget;
  slot_clear #(
    .ClearCycles(Clocks)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o
  );

  // -- the parts ------------------------------------------------------------------------------------------

  logic [ContextWidth-1:0] key_context, block_context;

  assign req_o.key_context   = context_t'(key_context);
  assign req_o.block_context = context_t'(block_context);

  if (BlockBits < 128) begin : gen_narrow
    assign req_o.block[127:BlockBits] = '0;
  end

  lane_t lane, free_lane, look_lane, find_lane, answer_lane, wait_lane, result_lane, block_lane;
  logic free, free_context_valid, idle, quiet, open, arm, close;
  logic [ContextWidth-1:0] free_context, open_context, look_context;
  way_t open_way, look_way;
  logic [15:0] tag, answer_tag;
  logic [31:0] payload_len, answer_len;
  status_e status, find_status;
  logic iv_valid, iv_ready;
  logic [BlockBits-1:0] iv;
  logic [PtrBits:0] look_written, find_written, sent;
  logic read;
  logic [LaneBits+PtrBits-1:0] read_at;
  logic [BlockBits-1:0] read_data, mask, mixed;
  logic look_ready, waits, block_feedback;
  logic find_active, find_closed, release_lane;
  logic result_valid, result_feedback;

  lane_intake #(
    .Shape(Shape)
  ) u_intake (
    .clk_i,
    .rst_ni,
    .s_axis_tdata        (s_axis_i.data),
    .s_axis_tvalid       (s_axis_i.valid),
    .s_axis_tready       (s_axis_ready_o),
    .s_axis_tlast        (s_axis_i.last),
    .clear_i             (clear_o),
    .forget_o            (forget),
    .free_i              (free),
    .free_lane_i         (free_lane),
    .free_context_valid_i(free_context_valid),
    .free_context_i      (free_context),
    .idle_i              (idle),
    .quiet_i             (quiet),
    .lane_o              (lane),
    .open_o              (open),
    .open_context_o      (open_context),
    .open_way_o          (open_way),
    .tag_o               (tag),
    .payload_len_o       (payload_len),
    .arm_o               (arm),
    .close_o             (close),
    .status_o            (status),
    .iv_valid_o          (iv_valid),
    .iv_ready_i          (iv_ready),
    .iv_o                (iv),
    .issue_lane_i        (look_lane),
    .issue_written_o     (look_written),
    .outlet_lane_i       (find_lane),
    .outlet_written_o    (find_written),
    .sent_i              (sent),
    .read_i              (read),
    .read_at_i           (read_at),
    .read_data_o         (read_data),
    .key_valid_o         (req_o.key_valid),
    .key_o               (req_o.key),
    .key_index_o         (req_o.key_index),
    .key_last_o          (req_o.key_last),
    .key_len_o           (req_o.key_len),
    .key_context_o       (key_context),
    .key_busy_i          (rsp_i.key_busy)
  );

  lane_table #(
    .Shape(Shape)
  ) u_table (
    .clk_i,
    .rst_ni,
    .clear_i             (clear_o),
    .lane_i              (lane),
    .open_i              (open),
    .open_context_i      (open_context),
    .open_way_i          (open_way),
    .tag_i               (tag),
    .payload_len_i       (payload_len),
    .arm_i               (arm),
    .close_i             (close),
    .status_i            (status),
    .free_o              (free),
    .free_lane_o         (free_lane),
    .free_context_valid_o(free_context_valid),
    .free_context_o      (free_context),
    .idle_o              (idle),
    .look_i              (look_lane),
    .look_ready_o        (look_ready),
    .look_way_o          (look_way),
    .look_context_o      (look_context),
    .wait_i              (waits),
    .wait_lane_i         (wait_lane),
    .resume_i            (result_feedback),
    .resume_lane_i       (result_lane),
    .find_i              (find_lane),
    .find_active_o       (find_active),
    .find_closed_o       (find_closed),
    .find_status_o       (find_status),
    .answer_lane_i       (answer_lane),
    .answer_tag_o        (answer_tag),
    .answer_len_o        (answer_len),
    .release_i           (release_lane)
  );

  lane_issue #(
    .Shape(Shape)
  ) u_issue (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .look_o        (look_lane),
    .look_ready_i  (look_ready),
    .look_way_i    (look_way),
    .look_context_i(look_context),
    .look_written_i(look_written),
    .wait_o        (waits),
    .wait_lane_o   (wait_lane),
    .read_o        (read),
    .read_at_o     (read_at),
    .read_data_i   (read_data),
    .iv_valid_i    (iv_valid),
    .iv_ready_o    (iv_ready),
    .iv_i          (iv),
    .iv_lane_i     (lane),
    .result_valid_i(result_feedback),
    .result_lane_i (result_lane),
    .result_i      (mixed),
    .block_valid_o (req_o.block_valid),
    .block_ready_i (rsp_i.block_ready),
    .block_o       (req_o.block[BlockBits-1:0]),
    .decrypt_o     (req_o.decrypt),
    .context_o     (block_context),
    .mask_o        (mask),
    .lane_o        (block_lane),
    .feedback_o    (block_feedback)
  );

  lane_result #(
    .Shape(Shape)
  ) u_result (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .enter_i       (req_o.block_valid && rsp_i.block_ready),
    .enter_ticket_i(rsp_i.block_ticket[TicketWidth-1:0]),
    .mask_i        (mask),
    .lane_i        (block_lane),
    .feedback_i    (block_feedback),
    .leave_i       (rsp_i.result_valid),
    .leave_ticket_i(rsp_i.result_ticket[TicketWidth-1:0]),
    .block_i       (rsp_i.result[BlockBits-1:0]),
    .valid_o       (result_valid),
    .lane_o        (result_lane),
    .feedback_o    (result_feedback),
    .block_o       (mixed)
  );

  lane_outlet #(
    .Shape(Shape)
  ) u_outlet (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_o),
    .result_valid_i(result_valid),
    .result_lane_i (result_lane),
    .result_i      (mixed),
    .find_o        (find_lane),
    .find_active_i (find_active),
    .find_closed_i (find_closed),
    .find_status_i (find_status),
    .find_written_i(find_written),
    .lane_o        (answer_lane),
    .tag_i         (answer_tag),
    .payload_len_i (answer_len),
    .release_o     (release_lane),
    .intake_lane_i (lane),
    .intake_sent_o (sent),
    .quiet_o       (quiet),
    .m_axis_tdata  (m_axis_o.data),
    .m_axis_tvalid (m_axis_o.valid),
    .m_axis_tready (m_axis_ready_i),
    .m_axis_tlast  (m_axis_o.last)
  );

endmodule

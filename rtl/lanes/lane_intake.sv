// SPDX-License-Identifier: Apache-2.0
//
// Frames in: takes a request apart, judges it, opens a lane for it, has its key sent to a place of the core
// (lane_key) and its IV and payload to where lane_issue finds them (lane_fill). Every frame gets a lane, whatever
// is wrong with it: lane_outlet answers from there.
//
// Clocks per frame besides its beats: check, start, close; one beat per clock.
module lane_intake
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in lane_front.
  parameter logic [7:0] Algorithm = AlgAes,
  parameter int unsigned BlockBytes = 16,
  parameter logic [63:0] KeyLengths = 64'd1 << 16,
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter int unsigned Lanes = 8,
  parameter int unsigned Keys = 8,
  parameter int unsigned LaneBlocks = 128,

  localparam int unsigned BlockBits = 8 * BlockBytes,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned KeyBits   = $clog2(Keys),
  localparam int unsigned PtrBits   = $clog2(LaneBlocks)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,

  // All lanes are being cleared: no frame may start, and this lane's count of blocks is zero.
  input logic                sweep_i,
  input logic [LaneBits-1:0] sweep_lane_i,
  // Forget the key.
  input logic                wipe_i,

  // A lane and a key place that are free.
  input logic                free_i,
  input logic [LaneBits-1:0] free_lane_i,
  input logic                free_place_valid_i,
  input logic [ KeyBits-1:0] free_place_i,
  // No lane is at work.
  input logic                idle_i,

  // The lane of this frame; it opens, its key can be used, it closes.
  output logic    [LaneBits-1:0] lane_o,
  output logic                   open_o,
  output logic    [ KeyBits-1:0] open_place_o,
  output way_t                   open_way_o,
  output logic    [        15:0] tag_o,
  output logic    [        31:0] payload_len_o,
  output logic                   wipe_frame_o,
  output logic                   arm_o,
  output logic                   close_o,
  output status_e                status_o,

  // The IV of lane_o.
  output logic                 iv_valid_o,
  input  logic                 iv_ready_i,
  output logic [BlockBits-1:0] iv_o,

  // Whole blocks in the buffer, counted without end, of two lanes.
  input  logic [LaneBits-1:0] issue_lane_i,
  output logic [   PtrBits:0] issue_written_o,
  input  logic [LaneBits-1:0] outlet_lane_i,
  output logic [   PtrBits:0] outlet_written_o,
  // Blocks of lane_o that have been answered.
  input  logic [   PtrBits:0] sent_i,

  // Reads a block, in two clocks.
  input  logic                        read_i,
  input  logic [LaneBits+PtrBits-1:0] read_at_i,
  output logic [       BlockBits-1:0] read_data_o,

  output logic               key_valid_o,
  output logic [       63:0] key_o,
  output logic [        2:0] key_index_o,
  output logic               key_last_o,
  output logic [        5:0] key_len_o,
  output logic [KeyBits-1:0] key_place_o,
  input  logic               key_busy_i
);

  // Where the frame is; at_q has one bit for each place and one of them set.
  typedef enum logic [2:0] {
    Head0,
    Head1,
    Check,
    Start,
    Body,
    Pad,
    Drain,
    Close
  } place_e;

  logic [7:0] at_d, at_q;

  logic in_valid, in_ready, in_last;
  logic [63:0] in_beat;

  stream_entry #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_tvalid),
    .s_ready_o(s_axis_tready),
    .s_data_i ({s_axis_tlast, s_axis_tdata}),
    .m_valid_o(in_valid),
    .m_ready_i(in_ready),
    .m_data_o ({in_last, in_beat})
  );

  // -- the header -----------------------------------------------------------------------------------------

  header_t header;
  logic [63:0] head0_q;
  logic [31:0] payload_len_q;
  logic ended_q;  // tlast came with the header
  logic one_q;  // the header is but one beat
  logic [7:0] upper_q;  // of the upper half of the second beat, digits that are not zero
  logic no_key_q;  // key_len is not zero though there is no fresh key
  logic kept;  // kept_place has a whole key
  status_e verdict, status_d, status_q;

  assign header = header_t'({32'b0, payload_len_q, head0_q});

  cipher_verdict #(
    .Algorithm (Algorithm),
    .BlockBytes(BlockBytes),
    .KeyLengths(KeyLengths),
    .Encrypt   (Encrypt),
    .Decrypt   (Decrypt),
    .Ecb       (Ecb),
    .Cbc       (Cbc),
    .Ctr       (Ctr)
  ) u_verdict (
    .clk_i,
    .rst_ni,
    .header_i  (header),
    .key_kept_i(kept),
    .verdict_o (verdict)
  );

  assign tag_o              = header.tag;
  assign payload_len_o      = payload_len_q;
  assign wipe_frame_o       = header.flags.wipe;
  assign open_way_o.ctr     = Ctr && header.op == OpCtr;
  assign open_way_o.cbc     = Cbc && header.op == OpCbc;
  assign open_way_o.decrypt = Decrypt && header.flags.decrypt && !open_way_o.ctr;

  // -- the beats behind it --------------------------------------------------------------------------------

  section_e section;
  logic last, complete, none;
  logic take;  // a beat is taken
  logic count;  // or made up

  slot_sections u_sections (
    .clk_i,
    .rst_ni,
    .header_i  (header),
    .clear_i   (at_q[Head0]),
    .look_i    (at_q[Check] && at_d[Start]),
    .load_i    (at_q[Start]),
    .take_i    (count),
    .section_o (section),
    .last_o    (last),
    .complete_o(complete),
    .none_o    (none)
  );

  logic is_key, is_payload;
  logic full;  // the lane has no room for another block
  logic begun;  // there is a block in the lane, and it is not armed yet
  assign is_key     = section == SecKey;
  assign is_payload = section == SecPayload;

  // A full lane has nothing but payload to come.
  assign take       = at_q[Body] && in_valid && !full;
  assign count      = take || at_q[Pad];
  assign in_ready   = at_q[Head0] || (at_q[Head1] && !one_q) || at_q[Drain] || (at_q[Body] && !full);

  // -- the frame ------------------------------------------------------------------------------------------

  logic [LaneBits-1:0] lane_q;
  logic [KeyBits-1:0] place_q, kept_place;
  logic key_pending;  // a key is on its way, or being expanded
  logic wiping_q;  // a frame that wipes has a lane
  logic go_q;
  logic good;  // the frame is taken
  logic with_key;

  // A frame that wipes is alone: the others before it are answered, the next waits.
  assign good = status_q == StatusOk && ended_q == none;
  assign with_key = status_q == StatusOk && header.flags.fresh_key;

  logic tail;
  assign tail = at_q[Drain] && in_valid && in_last;

  assign at_d[Head0] = (at_q[Head0] && !in_valid) || at_q[Close];
  assign at_d[Head1] = (at_q[Head0] && in_valid) || (at_q[Head1] && !in_valid && !one_q);
  assign at_d[Check] = (at_q[Head1] && (in_valid || one_q)) || (at_q[Check] && !go_q);
  assign at_d[Start] = at_q[Check] && go_q;
  assign at_d[Body] = (at_q[Start] && good && !ended_q) || (at_q[Body] && !(take && (complete || in_last)));
  // A key that was cut short is completed with zeros: the core waits for it.
  assign at_d[Pad] = (take && in_last && is_key && !last) || (at_q[Pad] && !last);
  assign at_d[Drain] = (at_q[Start] && !good && !ended_q) || (take && complete && !in_last) || (at_q[Drain] && !tail);
  assign at_d[Close] = (at_q[Start] && ended_q) || (take && in_last && !(is_key && !last)) || (at_q[Pad] && last) || tail;

  always_comb begin
    status_d = status_q;
    if (at_q[Check]) begin
      if (one_q) status_d = StatusFrameShort;
      else if (upper_q[7:4] != '0 || header.flags.reserved != '0) status_d = StatusReserved;
      else if (no_key_q) status_d = StatusBadKeyLength;
      else if (upper_q[3:0] != '0) status_d = StatusBadLength;
      else status_d = verdict;
    end else if (at_q[Start]) begin
      if (status_q == StatusOk && !good) status_d = ended_q ? StatusFrameShort : StatusFrameLong;
    end else if (take && complete != in_last) begin
      status_d = in_last ? StatusFrameShort : StatusFrameLong;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q          <= 8'(1 << Head0);
      status_q      <= StatusOk;
      ended_q       <= 1'b0;
      one_q         <= 1'b0;
      upper_q       <= '0;
      no_key_q      <= 1'b0;
      head0_q       <= '0;
      payload_len_q <= '0;
      lane_q        <= '0;
      place_q       <= '0;
      wiping_q      <= 1'b0;
      go_q          <= 1'b0;
    end else begin
      at_q     <= at_d;
      status_q <= status_d;
      no_key_q <= header.key_len != '0 && !header.flags.fresh_key;
      if (at_q[Head0] && in_valid) head0_q <= in_beat;
      if (at_q[Head0]) one_q <= in_last;
      if (at_q[Head0] || (at_q[Head1] && !one_q)) ended_q <= in_last;
      // Nothing of this changes between the clock in which it is true and the start, but by the start.
      go_q <= free_i && !key_pending && !iv_valid_o && !begun && !wiping_q &&!sweep_i && (!header.flags.wipe || idle_i)
          && (!header.flags.fresh_key || (free_place_valid_i && !key_busy_i));
      if (at_q[Head1]) begin
        payload_len_q <= in_beat[31:0];
        for (int unsigned i = 0; i < 8; i++) upper_q[i] <= in_beat[32+4*i+:4] != '0;
      end
      if (at_q[Check] && go_q) lane_q <= free_lane_i;
      if (at_q[Start]) place_q <= open_place_o;
      if (wipe_i) wiping_q <= 1'b0;
      else if (at_q[Start] && header.flags.wipe) wiping_q <= 1'b1;
    end
  end

  assign lane_o       = lane_q;
  assign open_o       = at_q[Start];
  assign open_place_o = with_key ? free_place_i : kept_place;
  assign close_o      = at_q[Close];
  assign status_o     = status_q;

  // -- its sections ---------------------------------------------------------------------------------------

  logic in_key;
  assign in_key      = at_q[Body] && is_key;
  assign key_len_o   = header.key_len[5:0];
  assign key_place_o = place_q;

  lane_key #(
    .Keys(Keys)
  ) u_key (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .start_i     (at_q[Start]),
    .beat_valid_i(count && is_key),
    .beat_i      (in_key ? in_beat : '0),
    .last_i      (last),
    .made_up_i   (at_q[Pad]),
    .place_i     (place_q),
    .kept_o      (kept),
    .kept_place_o(kept_place),
    .pending_o   (key_pending),
    .key_valid_o,
    .key_o,
    .key_index_o,
    .key_last_o,
    .key_busy_i
  );

  lane_fill #(
    .BlockBytes(BlockBytes),
    .Lanes     (Lanes),
    .LaneBlocks(LaneBlocks)
  ) u_fill (
    .clk_i,
    .rst_ni,
    .sweep_i,
    .sweep_lane_i,
    .start_i      (at_q[Start]),
    .lane_i       (lane_q),
    .beat_valid_i (take && !is_key),
    .beat_i       (in_beat),
    .in_iv_i      (at_q[Body] && !is_key && !is_payload),
    .is_payload_i (is_payload),
    .last_i       (last),
    .key_pending_i(key_pending),
    .full_o       (full),
    .begun_o      (begun),
    .arm_o,
    .iv_valid_o,
    .iv_ready_i,
    .iv_o,
    .issue_lane_i,
    .issue_written_o,
    .outlet_lane_i,
    .outlet_written_o,
    .sent_i,
    .read_i,
    .read_at_i,
    .read_data_o
  );

endmodule

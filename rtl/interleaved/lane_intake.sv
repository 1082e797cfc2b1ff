// SPDX-License-Identifier: Apache-2.0
//
// Frames in: takes a request apart, judges it, opens a lane for it, has its key sent to a context of the core
// (lane_key) and its IV and payload to where lane_issue finds them (lane_fill). Every frame gets a lane, whatever
// is wrong with it: lane_outlet answers from there.
//
// Clocks per frame besides its beats: check, start, close; one beat per clock.
module lane_intake
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,

  input  clear_t clear_i,
  // Everything is to be forgotten: a frame that wipes is answered, or a key that was cut short and all in front of it.
  output logic   forget_o,

  // From and to lane_table; no answer is under way.
  input  free_t  free_i,
  input  logic   quiet_i,
  output frame_t frame_o,

  output lane_block_t iv_o,
  input  logic        iv_ready_i,

  // To and from its buffer.
  input  buffer_req_t buffer_i,
  output buffer_rsp_t buffer_o,

  output key_beat_t key_o,
  output context_t  key_context_o,
  input  logic      key_busy_i
);

  // Where the frame is; at_q has one bit for each state and one of them set.
  typedef enum logic [2:0] {
    Head0,
    Head1,
    Check,
    Start,
    Body,
    Pad,
    Drain,
    Close
  } state_e;

  logic [7:0] at_d, at_q;

  stream_t in;
  logic in_ready;

  skid_buffer #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_i.valid),
    .s_ready_o(s_axis_ready_o),
    .s_data_i ({s_axis_i.last, s_axis_i.data}),
    .m_valid_o(in.valid),
    .m_ready_i(in_ready),
    .m_data_o ({in.last, in.data})
  );

  // -- the header -----------------------------------------------------------------------------------------

  header_t header;
  logic ended, one;
  logic kept;  // kept_context has a whole key
  status_e judged, status_d, status_q;

  lane_header #(
    .Shape(Shape)
  ) u_header (
    .clk_i,
    .rst_ni,
    .first_i (at_q[Head0]),
    .second_i(at_q[Head1] && !one),
    .beat_i  (in),
    .header_o(header),
    .one_o   (one),
    .ended_o (ended),
    .kept_i  (kept),
    .status_o(judged)
  );

  way_t way;

  assign way.ctr     = header.op == OpCtr;
  assign way.cbc     = header.op == OpCbc;
  assign way.decrypt = Shape.decrypt && header.flags.decrypt && !way.ctr;

  // -- the beats behind it --------------------------------------------------------------------------------

  section_e section;
  logic last, complete, none;
  logic take;  // a beat is taken
  logic count;  // or made up

  slot_sections u_sections (
    .clk_i,
    .rst_ni,
    .header_i  (header),
    .head_i    (at_q[Head0]),
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
  assign take       = at_q[Body] && in.valid && !full;
  assign count      = take || at_q[Pad];
  assign in_ready   = at_q[Head0] || (at_q[Head1] && !one) || at_q[Drain] || (at_q[Body] && !full);

  // -- the frame ------------------------------------------------------------------------------------------

  logic [Shape.lane_bits-1:0] lane_q;
  logic [Shape.context_bits-1:0] context_q, open_context;
  context_t kept_context;
  logic key_pending;  // a key is on its way, or being expanded
  logic last_q;  // of the frames that are to be forgotten: it wipes, or its key was cut short
  logic go_q;
  logic good;  // the frame is taken
  logic with_key;
  logic arm;

  // A frame that wipes is alone: the others before it are answered, the next waits.
  assign good = status_q == StatusOk && ended == none;
  assign with_key = status_q == StatusOk && header.flags.fresh_key;

  logic tail;
  assign tail = at_q[Drain] && in.valid && in.last;

  assign at_d[Head0] = (at_q[Head0] && !in.valid) || at_q[Close];
  assign at_d[Head1] = (at_q[Head0] && in.valid) || (at_q[Head1] && !in.valid && !one);
  assign at_d[Check] = (at_q[Head1] && (in.valid || one)) || (at_q[Check] && !go_q);
  assign at_d[Start] = at_q[Check] && go_q;
  assign at_d[Body] = (at_q[Start] && good && !ended) || (at_q[Body] && !(take && (complete || in.last)));
  // A key that was cut short is completed with zeros, because the core waits for it, and forgotten with all others.
  assign at_d[Pad] = (take && in.last && is_key && !last) || (at_q[Pad] && !last);
  assign at_d[Drain] = (at_q[Start] && !good && !ended) || (take && complete && !in.last) || (at_q[Drain] && !tail);
  assign at_d[Close] = (at_q[Start] && ended) || (take && in.last && !(is_key && !last)) || (at_q[Pad] && last) || tail;

  always_comb begin
    status_d = status_q;
    if (at_q[Check]) begin
      status_d = judged;
    end else if (at_q[Start]) begin
      if (status_q == StatusOk && !good) status_d = ended ? StatusFrameShort : StatusFrameLong;
    end else if (take && complete != in.last) begin
      status_d = in.last ? StatusFrameShort : StatusFrameLong;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q      <= 8'(1 << Head0);
      status_q  <= StatusOk;
      lane_q    <= '0;
      context_q <= '0;
      last_q    <= 1'b0;
      forget_o  <= 1'b0;
      go_q      <= 1'b0;
    end else begin
      at_q <= at_d;
      status_q <= status_d;
      // Nothing of this changes between the clock in which it is true and the start, but by the start.
      go_q <= free_i.lane_valid && !key_pending && !iv_o.valid && !begun && !last_q && !clear_i.active
          && (!header.flags.wipe || free_i.idle) && (!header.flags.fresh_key || (free_i.key_valid && !key_busy_i));
      if (at_q[Check] && go_q) lane_q <= free_i.lane[Shape.lane_bits-1:0];
      if (at_q[Start]) context_q <= open_context;
      if (clear_i.active) last_q <= 1'b0;
      else if ((at_q[Start] && header.flags.wipe) || at_q[Pad]) last_q <= 1'b1;
      forget_o <= last_q && (at_q[Head0] || at_q[Head1] || at_q[Check]) && free_i.idle && quiet_i
          && !clear_i.active && !forget_o;
    end
  end

  assign open_context = Shape.context_bits'(with_key ? free_i.key : kept_context);
  assign frame_o = '{
      lane: lane_t'(lane_q),
      open: at_q[Start],
      key: context_t'(open_context),
      way: way,
      tag: header.tag,
      payload_len: header.payload_len,
      arm: arm,
      close: at_q[Close],
      status: status_q
    };

  // -- its sections ---------------------------------------------------------------------------------------

  stream_t key_beat, fill_beat;
  assign key_beat = '{valid: count && is_key, last: last, data: at_q[Body] && is_key ? in.data : '0};
  assign fill_beat = '{valid: take && !is_key, last: last, data: in.data};
  assign key_context_o = context_t'(context_q);

  lane_key #(
    .Shape(Shape)
  ) u_key (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_i       (at_q[Start]),
    .beat_i        (key_beat),
    .len_i         (header.key_len[5:0]),
    .made_up_i     (at_q[Pad]),
    .context_i     (context_t'(context_q)),
    .kept_o        (kept),
    .kept_context_o(kept_context),
    .pending_o     (key_pending),
    .key_o,
    .key_busy_i
  );

  lane_fill #(
    .Shape(Shape)
  ) u_fill (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_i      (at_q[Start]),
    .lane_i       (lane_t'(lane_q)),
    .beat_i       (fill_beat),
    .in_iv_i      (at_q[Body] && !is_key && !is_payload),
    .is_payload_i (is_payload),
    .key_pending_i(key_pending),
    .full_o       (full),
    .begun_o      (begun),
    .arm_o        (arm),
    .iv_o,
    .iv_ready_i,
    .req_i        (buffer_i),
    .rsp_o        (buffer_o)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The shell that makes an engine a slot: it takes request frames apart, asks the engine whether it can do
// what the header says, hands it the sections beat by beat, and ends every response with the trailer. A
// frame that lies about its length is drained, the engine drops it, and the trailer says what was wrong.
// While a clear is at work the next frame waits in front of its check. Both streams are registered at the boundary.
//
// Clocks per frame besides the engine's own: 2 header, 1 check, 1 start, 1 trailer. From the first request
// beat at the entrance to the first section beat at the engine: 5 clocks. From the last result beat (with done)
// to the trailer at the exit: 2 clocks. One section beat per clock, one result beat per clock.
module slot_shell
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // A clear is at work; and one is to begin: a frame that wipes is answered, or one ended inside its key.
  input  clear_t clear_i,
  output logic   forget_o,

  // Requests and responses.
  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // The header, stable from the clock after its last beat until the trailer is out. The reserved field
  // and aad_len read as zero: a frame in which they are not is refused here.
  output header_t header_o,
  output request_t  frame_o,
  input  response_t answer_i,
  output logic    answer_ready_o,
  // In the clock behind one in which a beat was taken: a length in it is wrong, and the frame has no result.
  input  logic    refuse_i = 1'b0
);

  // Where the shell is in the frame; at_q has one bit for each place and one of them set.
  typedef enum logic [2:0] {
    Head0,
    Head1,
    Check,
    Start,
    Body,
    Wait,
    Drain,
    Trailer
  } place_e;

  logic [7:0] at_d, at_q;
  status_e status_d, status_q;
  logic head0;  // the first beat of a frame may come: also while the trailer of the one before leaves
  logic start;
  logic abort_d, abort_q;
  logic cut;  // the frame ends inside its key
  logic odd_d, odd_q;  // the frame has just been found to be shorter or longer than announced
  logic       ended_q;  // tlast came with the header
  logic [7:0] upper_q;  // of the upper half of the second beat, digits that are not zero
  logic       no_key_q;  // key_len is not zero though there is no fresh key
  logic       done_q;  // the engine is done before the last beat was handed over
  logic       good_q;  // a frame without fault is being answered

  // -- the boundary ---------------------------------------------------------------------------------------

  logic in_valid, in_ready, in_last;
  logic [63:0] in_beat;

  skid_buffer #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_i.valid),
    .s_ready_o(s_axis_ready_o),
    .s_data_i ({s_axis_i.last, s_axis_i.data}),
    .m_valid_o(in_valid),
    .m_ready_i(in_ready),
    .m_data_o ({in_last, in_beat})
  );

  logic out_ready;
  trailer_t trailer;

  // The engine has no result any more when the trailer's turn comes, and its beat is zero.
  assign answer_ready_o = out_ready;

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i(at_q[Trailer] || answer_i.valid),
    .s_ready_o(out_ready),
    .s_data_i ({65{at_q[Trailer]}} & {1'b1, trailer} | {1'b0, answer_i.beat}),
    .m_valid_o(m_axis_o.valid),
    .m_ready_i(m_axis_ready_i),
    .m_data_o ({m_axis_o.last, m_axis_o.data})
  );

  // -- the header -----------------------------------------------------------------------------------------

  logic [63:0] head0_q;
  logic [31:0] payload_len_q;

  assign header_o = header_t'({32'b0, payload_len_q, head0_q});

  assign trailer = '{
      reserved: '0,
      status: status_q,
      tag: header_o.tag,
      result_len: answer_i.length & {32{good_q}}
    };

  // -- the beats behind it --------------------------------------------------------------------------------

  logic take;  // one is handed over
  logic complete;  // it is the last one that the header announces
  logic none;  // the header announces none
  logic valid, last;
  section_e section;

  slot_sections u_sections (
    .clk_i,
    .rst_ni,
    .header_i  (header_o),
    .head_i    (head0),
    .look_i    (at_q[Check]),
    .load_i    (at_q[Start]),
    .take_i    (take),
    .section_o (section),
    .last_o    (last),
    .complete_o(complete),
    .none_o    (none)
  );

  assign valid = at_q[Body] && in_valid && !refuse_i;
  assign take = valid && answer_i.ready;
  assign in_ready = head0 || at_q[Head1] || at_q[Drain] || (at_q[Body] && answer_i.ready && !refuse_i);

  assign frame_o = '{
      start: start,
      drop: abort_q,
      valid: valid,
      section: section,
      last: last,
      beat: in_beat
    };

  // -- the frame ------------------------------------------------------------------------------------------

  // What the header announces has to agree with where the frame ends.
  logic fault_free, refuse, answer_taken;
  assign fault_free = status_q == StatusOk;
  assign start = at_q[Start] && fault_free && ended_q == none;
  assign refuse = at_q[Start] && !(fault_free && ended_q == none);
  assign abort_d = take && complete != in_last;
  assign cut = take && in_last && section == SecKey && !last;
  assign odd_d = abort_d || (at_q[Start] && fault_free && ended_q != none) || (head0 && in_valid && in_last);
  assign answer_taken = at_q[Trailer] && out_ready;
  assign head0 = at_q[Head0] || answer_taken;

  logic brief;  // the frame ends before what its header announces; the status is known a clock later
  logic tail;  // the last beat of the frame goes unheeded
  logic done;
  assign brief = (head0 && in_valid && in_last) || (refuse && ended_q && fault_free) || (take && !complete && in_last);
  assign tail = at_q[Drain] && in_valid && in_last;
  assign done = at_q[Wait] && (answer_i.done || done_q || odd_q);

  assign at_d[Head0] = head0 && !in_valid;
  assign at_d[Head1] = (head0 && in_valid && !in_last) || (at_q[Head1] && !in_valid);
  assign at_d[Check] = (at_q[Head1] && in_valid) || (at_q[Check] && clear_i.active);
  assign at_d[Start] = at_q[Check] && !clear_i.active;
  assign at_d[Body] = (start && !ended_q) || (at_q[Body] && !refuse_i && !(take && (complete || in_last)));
  assign at_d[Wait] = (start && ended_q) || (take && complete && in_last) || brief || (at_q[Wait] && !done);
  assign at_d[Drain] = (refuse && !ended_q) || (at_q[Body] && refuse_i) || (take && complete && !in_last) || (at_q[Drain] && !tail);
  assign at_d[Trailer] = (refuse && ended_q && !fault_free) || tail || done || (at_q[Trailer] && !answer_taken);

  // A frame of the wrong length is either at its end or has to be drained.
  always_comb begin
    status_d = status_q;
    if (at_q[Check]) begin
      if (upper_q[7:4] != '0 || header_o.flags.reserved != '0) status_d = StatusReserved;
      else if (no_key_q) status_d = StatusBadKeyLength;
      else if (upper_q[3:0] != '0) status_d = StatusBadLength;
      else status_d = answer_i.verdict;
    end else if (refuse_i) begin
      status_d = StatusBadLength;
    end else if (odd_q) begin
      status_d = at_q[Wait] ? StatusFrameShort : StatusFrameLong;
    end else if (head0) begin
      status_d = StatusOk;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q          <= 8'(1 << Head0);
      status_q      <= StatusOk;
      abort_q       <= 1'b0;
      odd_q         <= 1'b0;
      forget_o      <= 1'b0;
      good_q        <= 1'b0;
      done_q        <= 1'b0;
      ended_q       <= 1'b0;
      upper_q       <= '0;
      no_key_q      <= 1'b0;
      head0_q       <= '0;
      payload_len_q <= '0;
    end else begin
      at_q     <= at_d;
      status_q <= status_d;
      abort_q  <= abort_d || (at_q[Body] && refuse_i);
      odd_q    <= odd_d;
      forget_o <= cut || (answer_taken && header_o.flags.wipe);
      good_q   <= (at_q[Wait] && !odd_q) || (at_q[Trailer] && good_q && !answer_taken);
      done_q   <= !at_q[Check] && (done_q || answer_i.done);
      no_key_q <= header_o.key_len != '0 && !header_o.flags.fresh_key;
      if (head0 && in_valid) head0_q <= in_beat;
      if (at_q[Head1]) begin
        payload_len_q <= in_beat[31:0];
        ended_q       <= in_last;
        for (int unsigned i = 0; i < 8; i++) upper_q[i] <= in_beat[32+4*i+:4] != '0;
      end
    end
  end

endmodule

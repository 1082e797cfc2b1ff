// SPDX-License-Identifier: Apache-2.0
//
// What docs/slot.md says of a slot's two streams and of what the shell and its engine tell each other. The beats of
// the sections are counted in slot_sections_check.
module slot_shell_check
  import core_pkg::*;
  import slot_pkg::*;
#(
  // Clocks in which nothing moves though nobody outside holds it up.
  parameter int unsigned Quiet = 6
) (
  input logic clk_i,
  input logic rst_ni,
  input clear_t clear_i,
  input stream_t s_axis_i,
  input logic s_axis_ready_o,
  input stream_t m_axis_o,
  input logic m_axis_ready_i,
  input header_t header_o,
  input request_t frame_o,
  input response_t answer_i,
  input logic answer_ready_o,
  input logic refuse_i,
  input logic [7:0] at_q
);

  logic s_taken, m_taken, beat_taken, result_taken;
  assign s_taken      = s_axis_i.valid && s_axis_ready_o;
  assign m_taken      = m_axis_o.valid && m_axis_ready_i;
  assign beat_taken   = frame_o.valid && answer_i.ready;
  assign result_taken = answer_i.valid && answer_ready_o;

  // -- offers stay ----------------------------------------------------------------------------------------

  stream_rules #(
    .Width(65),
    .Zero (1'b1)
  ) u_response (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (m_axis_o.valid),
    .ready_i (m_axis_ready_i),
    .data_i  ({m_axis_o.last, m_axis_o.data})
  );

  stream_rules #(
    .Width(67)
  ) u_beat (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (frame_o.valid),
    .ready_i (answer_i.ready),
    .data_i  ({frame_o.section, frame_o.last, frame_o.beat})
  );

  engine_rules u_engine (
    .clk_i,
    .rst_ni,
    .frame_i(frame_o),
    .answer_i,
    .ready_i(answer_ready_o)
  );

  // -- frames ---------------------------------------------------------------------------------------------

  // At the entrance: a frame is under way, and how many came whole and are not answered.
  logic partial_q;
  logic [3:0] owed_q;
  // At the engine: it has a frame and is not done; beats may come; the last of them came in the clock before.
  logic engaged_q, body_q, closed_q, aborted_q;
  logic taken_q;  // in the clock before a beat came that is not the last one of its section
  header_t header_q;
  status_e verdict_q;
  logic [3:0] quiet_q;

  logic final_beat;  // the last beat that the header announces
  logic moves, blamed;

  assign final_beat = frame_o.last && (frame_o.section == SecPayload || header_o.payload_len == '0 && (frame_o.section == SecIv
      || header_o.iv_len == '0));
  assign moves = s_taken || m_taken || beat_taken || result_taken || frame_o.start || frame_o.drop || answer_i.done;
  assign blamed = (!s_axis_i.valid && (partial_q || owed_q == '0)) || (m_axis_o.valid && !m_axis_ready_i)
      || (frame_o.valid && !answer_i.ready) || (engaged_q && !body_q) || clear_i.active;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {partial_q, owed_q, engaged_q, body_q, closed_q, aborted_q} <= '0;
      taken_q <= 1'b0;
      header_q <= '0;
      verdict_q <= StatusOk;
      quiet_q <= '0;
    end else begin
      if (s_taken) partial_q <= !s_axis_i.last;
      owed_q    <= owed_q + 4'(s_taken && s_axis_i.last) - 4'(m_taken && m_axis_o.last);
      engaged_q <= (frame_o.start || engaged_q) && !frame_o.drop && !answer_i.done;
      if (frame_o.start)
        body_q <= header_o.key_len != '0 || header_o.iv_len != '0 || header_o.payload_len != '0;
      else if (frame_o.drop || (beat_taken && final_beat)) body_q <= 1'b0;
      closed_q  <= beat_taken && final_beat;
      aborted_q <= frame_o.drop;
      taken_q   <= beat_taken && !frame_o.last;
      header_q  <= header_o;
      verdict_q <= answer_i.verdict;
      quiet_q   <= moves || blamed ? '0 : quiet_q + 4'd1;
    end
  end

  trailer_t trailer;
  assign trailer = trailer_t'(m_axis_o.data);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (owed_q <= 4'd6)
      else $error("more frames are in the slot than it has space for");
      if (m_axis_o.valid) begin
        assert (owed_q != '0 || partial_q)
        else $error("a response to no request");
        if (m_axis_o.last) begin
          assert (owed_q != '0)
          else $error("a trailer before the end of the request");
          assert (trailer.reserved == '0 && trailer.status <= StatusReserved)
          else $error("a trailer with an unknown status");
          assert (trailer.status == StatusOk || trailer.result_len == '0)
          else $error("a trailer with a fault and a length");
        end
      end

      if (frame_o.start) begin
        assert (!engaged_q && !body_q && !frame_o.drop)
        else $error("a frame starts in the middle of another");
        assert (verdict_q == StatusOk && header_o.flags.reserved == '0)
        else $error("a frame starts that was refused");
        assert (header_o.key_len == '0 || header_o.flags.fresh_key)
        else $error("a key section without a fresh key");
      end
      if (frame_o.start || engaged_q || frame_o.valid) begin
        assert (!clear_i.active)
        else $error("a frame is under way while a clear is at work");
      end
      if (frame_o.start || engaged_q || body_q) begin
        assert (header_o == header_q)
        else $error("the header changes under the engine");
      end
      if (frame_o.valid) begin
        assert (body_q)
        else $error("a beat outside of a frame");
      end
      if (refuse_i) begin
        assert (taken_q)
        else $error("a length is said to be wrong behind a beat that ends its section, or behind none");
      end
      if (frame_o.drop) begin
        assert ((body_q || closed_q) && !aborted_q)
        else $error("an abort without a frame");
      end
      if (at_q[7]) begin
        assert (!answer_i.valid)
        else $error("a result when the trailer's turn has come");
      end
      if (answer_i.done) begin
        assert (engaged_q || frame_o.start)
        else $error("the engine is done with nothing");
      end
      assert (quiet_q <= 4'(Quiet))
      else $error("nothing moves, and nobody holds it up");
    end
  end

endmodule

bind slot_shell slot_shell_check u_check (.*);

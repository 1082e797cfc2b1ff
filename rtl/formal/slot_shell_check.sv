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
  input status_e verdict_i,
  input logic start_o,
  input logic beat_valid_o,
  input logic beat_ready_i,
  input logic [63:0] beat_o,
  input section_e section_o,
  input logic beat_last_o,
  input logic abort_o,
  input logic result_valid_i,
  input logic result_ready_o,
  input logic [63:0] result_i,
  input logic done_i
);

  logic s_taken, m_taken, beat_taken, result_taken;
  assign s_taken      = s_axis_i.valid && s_axis_ready_o;
  assign m_taken      = m_axis_o.valid && m_axis_ready_i;
  assign beat_taken   = beat_valid_o && beat_ready_i;
  assign result_taken = result_valid_i && result_ready_o;

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
    .valid_i (beat_valid_o),
    .ready_i (beat_ready_i),
    .data_i  ({section_o, beat_last_o, beat_o})
  );

  engine_rules u_engine (
    .clk_i,
    .rst_ni,
    .start_i (start_o),
    .abort_i (abort_o),
    .valid_i (result_valid_i),
    .ready_i (result_ready_o),
    .result_i(result_i),
    .done_i
  );

  // -- frames ---------------------------------------------------------------------------------------------

  // At the entrance: a frame is under way, and how many came whole and are not answered.
  logic partial_q;
  logic [3:0] owed_q;
  // At the engine: it has a frame and is not done; beats may come; the last of them came in the clock before.
  logic engaged_q, body_q, closed_q, aborted_q;
  header_t header_q;
  status_e verdict_q;
  logic [3:0] quiet_q;

  logic final_beat;  // the last beat that the header announces
  logic moves, blamed;

  assign final_beat = beat_last_o && (section_o == SecPayload || header_o.payload_len == '0 && (section_o == SecIv
      || header_o.iv_len == '0));
  assign moves = s_taken || m_taken || beat_taken || result_taken || start_o || abort_o || done_i;
  assign blamed = (!s_axis_i.valid && (partial_q || owed_q == '0)) || (m_axis_o.valid && !m_axis_ready_i)
      || (beat_valid_o && !beat_ready_i) || (engaged_q && !body_q) || clear_i.active;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      partial_q <= 1'b0;
      owed_q    <= '0;
      engaged_q <= 1'b0;
      body_q    <= 1'b0;
      closed_q  <= 1'b0;
      aborted_q <= 1'b0;
      header_q  <= '0;
      verdict_q <= StatusOk;
      quiet_q   <= '0;
    end else begin
      if (s_taken) partial_q <= !s_axis_i.last;
      owed_q    <= owed_q + 4'(s_taken && s_axis_i.last) - 4'(m_taken && m_axis_o.last);
      engaged_q <= (start_o || engaged_q) && !abort_o && !done_i;
      if (start_o) body_q <= header_o.key_len != '0 || header_o.iv_len != '0 || header_o.payload_len != '0;
      else if (abort_o || (beat_taken && final_beat)) body_q <= 1'b0;
      closed_q  <= beat_taken && final_beat;
      aborted_q <= abort_o;
      header_q  <= header_o;
      verdict_q <= verdict_i;
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

      if (start_o) begin
        assert (!engaged_q && !body_q && !abort_o)
        else $error("a frame starts in the middle of another");
        assert (verdict_q == StatusOk && header_o.flags.reserved == '0)
        else $error("a frame starts that was refused");
        assert (header_o.key_len == '0 || header_o.flags.fresh_key)
        else $error("a key section without a fresh key");
      end
      if (start_o || engaged_q || beat_valid_o) begin
        assert (!clear_i.active)
        else $error("a frame is under way while a clear is at work");
      end
      if (start_o || engaged_q || body_q) begin
        assert (header_o == header_q)
        else $error("the header changes under the engine");
      end
      if (beat_valid_o) begin
        assert (body_q)
        else $error("a beat outside of a frame");
      end
      if (abort_o) begin
        assert ((body_q || closed_q) && !aborted_q)
        else $error("an abort without a frame");
      end
      if (done_i) begin
        assert (engaged_q || start_o)
        else $error("the engine is done with nothing");
      end
      assert (quiet_q <= 4'(Quiet))
      else $error("nothing moves, and nobody holds it up");
    end
  end

endmodule

bind slot_shell slot_shell_check u_check (.*);

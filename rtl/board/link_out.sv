// SPDX-License-Identifier: Apache-2.0
//
// Answers into the transmit queue: the link's own, and those of slots in segments. Beats go behind the place of the
// head, the head follows them, and one write of the pointer commits the frame. Each slot numbers its segments by itself.
// While a slot pauses in a segment and somebody else waits, the segment ends where it is.
//
// Clocks per frame besides its beats: 10. A beat of an answer of the link's own takes two.
module link_out
  import board_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Slots = 1,
  parameter int unsigned AddressBits = 9,
  // A segment may end when its slot has paused for 2^PauseBits clocks.
  parameter int unsigned PauseBits = 6,
  localparam int unsigned SlotBits = Slots > 1 ? $clog2(Slots) : 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic clear_i,

  input  logic   reply_i,
  input  reply_e kind_i,
  output logic   replied_o,

  input stream_t [Slots-1:0] m_axis_i,
  output logic [Slots-1:0] m_axis_ready_o,
  output logic [Slots-1:0] trailer_o,  // the beat of the clock before was a slot's last one: write_data_o

  // Which half of which word is asked for; it comes two clocks later.
  output logic                own_o,     // the frame is an answer of the link's own
  output logic                head_o,    // of the head, and not of the beats
  output logic [         3:0] index_o,
  input  logic [        31:0] half_i,
  // What the head says.
  output logic [SlotBits-1:0] slot_o,
  output logic [         7:0] beats_o,
  output logic [        15:0] number_o,
  output logic                first_o,
  output logic                last_o,

  output logic                   write_o,
  output logic [AddressBits-1:0] write_at_o,
  output logic [           63:0] write_data_o,
  output logic [AddressBits-1:0] committed_o,
  input  logic [AddressBits-1:0] read_i,
  output logic                   empty_o
);

  typedef enum logic [2:0] {
    Wait,
    Body,
    Own,
    Head,
    Commit
  } state_e;

  localparam logic [AddressBits-1:0] Room = AddressBits'(MaxBeats + HeadWords + 1);

  state_e state_q;
  logic [AddressBits-1:0] place_q, end_q;
  logic [3:0] last_index_q;
  logic [PauseBits-1:0] pause_q;
  logic [SlotBits-1:0] slot_q;
  logic room_q, half_q, word_q, more_q, others_q;
  logic [31:0] low_q;
  logic [Slots-1:0] fresh_q;  // the slot's next segment is a first one
  logic [Slots-1:0][15:0] number_q;
  stream_t beat;
  logic others, take;

  always_comb begin
    beat     = '0;
    number_o = '0;
    first_o  = own_o;
    others   = reply_i;
    for (int unsigned s = 0; s < Slots; s++) begin
      m_axis_ready_o[s] = state_q == Body && slot_o == SlotBits'(s);
      if (slot_o == SlotBits'(s)) begin
        beat     = m_axis_i[s];
        number_o = number_q[s];
        first_o  = own_o || fresh_q[s];
      end else others = others || m_axis_i[s].valid;
    end
  end

  assign slot_o    = Slots == 1 ? '0 : slot_q;
  assign take      = state_q == Body && beat.valid;
  assign head_o    = state_q == Head;
  assign last_o    = !more_q;
  assign replied_o = state_q == Commit && own_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Wait;
      place_q      <= '0;
      end_q        <= '0;
      last_index_q <= '0;
      pause_q      <= '0;
      room_q       <= 1'b0;
      half_q       <= 1'b0;
      word_q       <= 1'b0;
      more_q       <= 1'b0;
      others_q     <= 1'b0;
      fresh_q      <= '1;
      number_q     <= '0;
      own_o        <= 1'b0;
      index_o      <= '0;
      slot_q       <= '0;
      beats_o      <= '0;
      write_o      <= 1'b0;
      trailer_o    <= '0;
      committed_o  <= '0;
      empty_o      <= 1'b0;
    end else begin
      room_q   <= AddressBits'(read_i - committed_o - AddressBits'(1)) >= Room && state_q == Wait;
      empty_o  <= read_i == committed_o;
      others_q <= others;
      word_q   <= half_q;
      half_q   <= index_o[0] && (state_q == Own || (state_q == Head && index_o < 4'(2 * HeadWords)));
      write_o  <= take || word_q;
      for (int unsigned s = 0; s < Slots; s++) trailer_o[s] <= take && beat.last && slot_o == SlotBits'(s);
      if (take || word_q) place_q <= place_q + AddressBits'(1);
      unique case (state_q)
        Wait: begin
          place_q      <= committed_o + AddressBits'(HeadWords);
          beats_o      <= '0;
          index_o      <= '0;
          pause_q      <= '0;
          more_q       <= 1'b0;
          own_o        <= reply_i;
          last_index_q <= kind_i == ReplyIdentity ? 4'd15 : 4'd1;
          if (room_q) begin
            if (reply_i) state_q <= kind_i inside {ReplyStale, ReplyStored} ? Head : Own;
            else if (beat.valid) state_q <= Body;
            else slot_q <= slot_o == SlotBits'(Slots - 1) ? '0 : slot_o + SlotBits'(1);
          end
        end
        Body: begin
          pause_q <= beat.valid ? '0 : pause_q + PauseBits'(pause_q != '1);
          if (beat.valid) begin
            beats_o <= beats_o + 8'd1;
            more_q  <= !beat.last;
            if (beat.last || beats_o == 8'(MaxBeats - 1)) state_q <= Head;
          end else if (pause_q == '1 && others_q && beats_o != '0) state_q <= Head;
        end
        Own: begin
          index_o <= index_o + 4'd1;
          if (index_o[0]) beats_o <= beats_o + 8'd1;
          if (index_o == last_index_q) begin
            index_o <= '0;
            state_q <= Head;
          end
        end
        // The last beat has its place by the third clock, and the head's first word comes in the fourth.
        Head: begin
          index_o <= index_o + 4'd1;
          if (index_o == 4'd2) begin
            end_q   <= place_q;
            place_q <= committed_o;
          end
          // All of its words are in the memory when it counts.
          if (index_o == 4'(2 * HeadWords + 1)) state_q <= Commit;
        end
        default: begin
          committed_o <= end_q;
          state_q     <= Wait;
          for (int unsigned s = 0; s < Slots; s++) begin
            if (!own_o && slot_o == SlotBits'(s)) begin
              fresh_q[s]  <= !more_q;
              number_q[s] <= number_q[s] + 16'd1;
            end
          end
        end
      endcase
      if (clear_i) begin
        state_q     <= Wait;
        committed_o <= committed_o;
        fresh_q     <= '1;
        number_q    <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    low_q        <= half_i;
    write_at_o   <= place_q;
    write_data_o <= word_q ? {half_i, low_q} : beat.data;
  end

endmodule

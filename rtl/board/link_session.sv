// SPDX-License-Identifier: Apache-2.0
//
// Whose the board is: address and number of the session, and when it ends by itself. With its beginning and its end
// slots are reset, epochs are 0 and the queue of answers is emptied: while clear_o is high. It is from a reset on.
//
// Cycles of a clear: 2^LeastBits and what it takes until the transmit side has passed over all that was committed.
module link_session #(
  // A session ends 2^SessionBits clocks behind the last frame of its host.
  parameter int unsigned SessionBits = 28,
  // Slots are in reset for 2^LeastBits clocks at least.
  parameter int unsigned LeastBits   = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        open_i,
  input logic        end_i,
  input logic        alive_i,   // a frame of the session
  input logic [47:0] source_i,
  input logic [15:0] number_i,

  output logic        opened_o,
  output logic [47:0] host_o,
  output logic [15:0] session_o,
  output logic        clear_o,
  output logic        slots_rst_no,

  // What is committed when flush_o changes does not leave any more; flushed_i follows when that is so.
  output logic flush_o,
  input  logic flushed_i,
  input  logic empty_i
);

  logic [SessionBits:0] quiet_q;
  logic [LeastBits-1:0] least_q;
  logic late;

  // Without a session it is 0, so it needs no reset of its own.
  always_ff @(posedge clk_i) begin
    if (alive_i || !opened_o) quiet_q <= '0;
    else quiet_q <= quiet_q + (SessionBits + 1)'(1);
  end

  assign late = quiet_q[SessionBits] && opened_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opened_o     <= 1'b0;
      host_o       <= '0;
      session_o    <= '0;
      clear_o      <= 1'b1;
      slots_rst_no <= 1'b0;
      flush_o      <= 1'b0;
      least_q      <= '0;
    end else begin
      if (clear_o) begin
        least_q <= least_q + LeastBits'(least_q != '1);
        if (least_q == '1 && flushed_i == flush_o && empty_i) begin
          clear_o      <= 1'b0;
          slots_rst_no <= 1'b1;
        end
      end else if (open_i || end_i || late) begin
        opened_o     <= open_i;
        host_o       <= source_i;
        session_o    <= number_i;
        flush_o      <= !flush_o;
        clear_o      <= 1'b1;
        slots_rst_no <= 1'b0;
        least_q      <= '0;
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The receive queue's writer, on any bytes and beside any reader that keeps to its pointer: no word that is committed and
// not read is written over, and what is committed are the words that were written since. The frames' contents and the CRC
// are free.
module mac_rx_harness
  import board_pkg::*;
#(
  parameter int unsigned AddressBits = 2,
  parameter bit NoFrame = 1'b0
) (
  input logic clk_i,
  input logic valid_i,
  input logic error_i,
  input logic [7:0] byte_i,
  input logic step_i
);

  typedef logic [AddressBits-1:0] at_t;

  logic rst_ni, write;
  at_t write_at, committed, read_q, filled;
  logic [63:0] data;
  tally_t tally;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  assign filled = committed - read_q;

  // The reader goes on as it likes, and not beyond what is committed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_q <= '0;
    else if (step_i && filled != '0) read_q <= read_q + at_t'(1);
  end

  mac_rx #(
    .AddressBits(AddressBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .error_i,
    .byte_i,
    .write_o     (write),
    .write_at_o  (write_at),
    .write_data_o(data),
    .committed_o (committed),
    .read_i      (read_q),
    .tally_o     (tally)
  );

  at_t committed_q, next_q;  // where the next word of a frame goes
  logic [AddressBits:0] count_q;  // words of the frame so far
  logic [6:0] valid_q;  // a frame's last word may come when the next one has begun
  tally_t tally_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      committed_q <= '0;
      next_q      <= '0;
      tally_q     <= '0;
      count_q     <= '0;
      valid_q     <= '0;
    end else begin
      committed_q <= committed;
      tally_q     <= tally;
      valid_q     <= {valid_q[5:0], valid_i};
      if (valid_q[5] && !valid_q[6]) count_q <= '0;
      else if (write && count_q != '1) count_q <= count_q + (AddressBits + 1)'(1);
      if (write) next_q <= write_at + at_t'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (write) begin
        // In front of the reader there is one place that is never filled.
        assert (count_q <= {1'b0, at_t'(~filled)})
        else $error("a word that is not read is written over");
        assert (write_at == (count_q == '0 ? committed : next_q))
        else $error("a word is written beside its place");
      end
      if (committed != committed_q) begin
        assert (tally.whole == tally_q.whole + TallyBits'(1) && tally.bad == tally_q.bad)
        else $error("a frame is committed that is not whole");
        assert (tally.lost == tally_q.lost && tally.other == tally_q.other)
        else $error("a frame is committed that was dropped");
        assert (committed == next_q)
        else $error("other words are committed than were written");
      end
      if (NoFrame) begin
        assert (!write)
        else $error("reached: a word");
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The counters of identity: 32 bits each, in a small memory with one adder. Where things happen they are counted modulo 2^4 and what has come to that is added in turn, every 8 clocks while nobody reads.
// A counter is read in one clock and written in the next.
//
// Cycles of a clear: 9.
module link_counters
  import board_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input tally_t                 received_i,
  input logic   [TallyBits-1:0] dropped_i,   // by the link
  input logic   [TallyBits-1:0] sent_i,
  input logic                   clear_i,

  input  logic        read_i,
  input  logic [ 2:0] read_at_i,
  output logic [31:0] count_o
);

  localparam int unsigned Count = 5;

  typedef struct packed {
    logic [31:0] count;
    logic [TallyBits-1:0] seen;
  } entry_t;

  (* ram_style = "distributed" *)
  entry_t ram[8];
  entry_t entry;
  logic [2:0] turn_q, at;
  logic [Count-1:0] clear_q;
  logic [Count-1:0][TallyBits-1:0] tallies_q;
  logic [TallyBits-1:0] tally, more;

  // As identity has them: 31:0 before 63:32.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tallies_q <= '0;
    else
      tallies_q <= {sent_i, received_i.other + dropped_i, received_i.lost, received_i.bad, received_i.whole};
  end

  logic fresh;
  assign at      = read_i ? read_at_i : turn_q;
  assign entry   = ram[at];
  assign count_o = entry.count;

  always_comb begin
    tally = '0;
    fresh = 1'b0;
    for (int unsigned i = 0; i < Count; i++) begin
      if (turn_q == 3'(i)) begin
        tally = tallies_q[i];
        fresh = clear_q[i];
      end
    end
  end

  entry_t entry_q;
  logic [2:0] at_q;
  logic [TallyBits-1:0] tally_q;
  logic fresh_q, write_q;

  assign more = tally_q - entry_q.seen;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entry_q <= '0;
      at_q    <= '0;
      tally_q <= '0;
      fresh_q <= 1'b0;
      write_q <= 1'b0;
    end else begin
      entry_q <= entry;
      at_q    <= at;
      tally_q <= tally;
      fresh_q <= fresh;
      write_q <= !read_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (write_q) ram[at_q] <= '{count: fresh_q ? '0 : entry_q.count + 32'(more), seen: tally_q};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q  <= '0;
      clear_q <= '1;
    end else begin
      if (!read_i) begin
        turn_q <= turn_q + 3'd1;
        for (int unsigned i = 0; i < Count; i++) begin
          if (turn_q == 3'(i)) clear_q[i] <= 1'b0;
        end
      end
      if (clear_i) clear_q <= '1;
    end
  end

endmodule

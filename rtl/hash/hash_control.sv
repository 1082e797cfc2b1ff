// SPDX-License-Identifier: Apache-2.0
//
// Where a hash core of one message is: it counts the clocks of a block, waits for words of the message that are not
// there, and goes on with the next block or stops when there is none. In front of the first block it counts from
// IdleCount, the clock in which the first word of a state is read.
module hash_control
  import core_pkg::*;
#(
  parameter logic [6:0] IdleCount = 7'd63
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t    clear_i,
  input hash_req_t req_i,

  // Of this count: the next one is 0; it is 0; the last word of the state is being written.
  input logic wrap_i,
  input logic first_i,
  input logic end_i,

  output logic       running_o,
  // The count goes on in this clock; the block under way is left.
  output logic       advance_o,
  output logic       stop_o,
  // The word of this count comes from the message; the state's words are sums after a block, not loaded ones.
  output logic       need_o,
  output logic       after_block_o,
  output logic [6:0] count_o
);

  typedef struct packed {
    logic       running;
    logic       drain;    // no next block: stop when the state is out
    logic       done;
    logic       need;
    logic [6:0] count;
  } place_t;

  localparam place_t Idle = '{count: IdleCount, default: '0};

  place_t at_d, at_q;

  assign running_o = at_q.running;
  assign advance_o = at_q.running && (!at_q.need || req_i.word_valid || first_i);
  assign stop_o    = clear_i.active || req_i.stop;
  assign need_o    = at_q.need;
  assign after_block_o   = at_q.done;
  assign count_o   = at_q.count;

  always_comb begin
    at_d = at_q;
    if (!at_q.running) begin
      at_d         = Idle;
      at_d.running = req_i.start;
    end else if (advance_o) begin
      at_d.count = wrap_i ? '0 : at_q.count + 7'd1;
      if (wrap_i) at_d.need = 1'b1;
      if (at_q.count[3:0] == '1) at_d.need = 1'b0;
      if (first_i) begin
        at_d.drain = !req_i.word_valid;
        at_d.need  = req_i.word_valid;
      end
      if (end_i) begin
        at_d.done = 1'b1;
        if (at_q.drain) at_d.running = 1'b0;
      end
    end
    if (stop_o) at_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) at_q <= Idle;
    else at_q <= at_d;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Several rings of the same kind behind one lane_front: p rings, p times the throughput, until a block comes with every
// second clock, which is what the slot's streams carry. Every ring holds all keys. A block enters the first ring whose
// door is open, and since all of them take the same number of clocks, results come one a clock at the most, in the
// order in which their blocks entered. A ticket is the ring's own with the number of the ring above it.
//
// Clocks: the ring's, and one more to the result if there are several.
module ring_bank
  import core_pkg::*;
#(
  parameter int unsigned Rings   = 1,
  // Tickets of one ring, a power of two.
  parameter int unsigned Tickets = 16
) (
  input logic   clk_i,
  input clear_t clear_i,

  // From and to the front.
  input  ring_req_t req_i,
  output ring_rsp_t rsp_o,

  // To and from the rings.
  output ring_req_t [Rings-1:0] ring_req_o,
  input  ring_rsp_t [Rings-1:0] ring_rsp_i
);

  if (Rings * Tickets > 1 << TicketBits) begin : gen_illegal
    $error("ring_bank: more tickets than the front can tell apart");
  end

  if (Rings == 1) begin : gen_one
    logic unused_one;
    assign unused_one = ^{clk_i, clear_i};

    assign ring_req_o = req_i;
    assign rsp_o      = ring_rsp_i;
  end else begin : gen_several
    localparam int unsigned Own = $clog2(Tickets);

    logic [Rings-1:0] ready, enter;
    logic busy;
    ticket_t ticket, result_ticket;
    logic result_valid, result_valid_q;
    ticket_t result_ticket_q;
    logic [127:0] result, result_q;

    always_comb begin
      busy          = 1'b0;
      ticket        = '0;
      result_valid  = 1'b0;
      result_ticket = '0;
      result        = '0;
      for (int unsigned i = 0; i < Rings; i++) begin
        ready[i] = ring_rsp_i[i].block_ready;
        busy |= ring_rsp_i[i].key_busy;
        // The lowest bit that is set.
        enter[i] = ready[i] && (ready & ((Rings'(1) << i) - Rings'(1))) == '0;
        if (enter[i]) ticket |= ticket_t'(i << Own) | ring_rsp_i[i].block_ticket;
        if (ring_rsp_i[i].result_valid) begin
          result_valid = 1'b1;
          result_ticket |= ticket_t'(i << Own) | ring_rsp_i[i].result_ticket;
          result |= ring_rsp_i[i].result;
        end
        ring_req_o[i] = req_i;
        ring_req_o[i].block_valid = req_i.block_valid && enter[i];
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        result_valid_q  <= 1'b0;
        result_ticket_q <= '0;
        result_q        <= '0;
      end else begin
        result_valid_q  <= result_valid;
        result_ticket_q <= result_ticket;
        result_q        <= result;
      end
    end

    assign rsp_o = '{
        key_busy: busy,
        block_ready: |ready,
        block_ticket: ticket,
        result_valid: result_valid_q,
        result_ticket: result_ticket_q,
        result: result_q
      };
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Several rings of the same kind behind one lane_front: p rings, p times the throughput, until a block comes with every
// second clock, which is what the slot's streams carry. Every ring holds all keys. Of several, blocks wait in front of
// them in a queue of two, so that no door is on the way back to the front; from there a block enters the first ring
// whose door is open. Since all rings take the same number of clocks, results come one a clock at the most, in the order
// in which their blocks came: tickets are given one after the other.
//
// Clocks: the ring's, and two more to the result if there are several.
module ring_bank
  import core_pkg::*;
#(
  parameter int unsigned Rings   = 1,
  // Tickets of one ring, a power of two: for all blocks that are inside and for two more.
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
    localparam int unsigned NumberBits = $clog2(Rings * Tickets);

    typedef struct packed {
      logic [127:0] block;
      logic         decrypt;
      context_t     key;
    } entry_t;

    entry_t asked, entry;
    logic entry_ready;
    logic [Rings-1:0] ready, enter;
    logic busy;
    logic result_valid, result_valid_q;
    logic [127:0] result, result_q;
    logic [NumberBits-1:0] given_q, back_q;

    // A queue of two as skid_buffer, which a clear empties: it is active in the first clock behind a reset.
    logic valid_q;  // at least one block
    logic room_q;  // at most one
    logic write_q, read_q;  // which comes next
    entry_t [1:0] entry_q;
    logic push, pop;

    assign asked = '{block: req_i.block, decrypt: req_i.decrypt, key: req_i.block_context};
    assign push  = req_i.block_valid && room_q;
    assign pop   = valid_q && entry_ready;
    assign entry = entry_q[read_q];

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        valid_q <= 1'b0;
        room_q  <= 1'b0;
        write_q <= 1'b0;
        read_q  <= 1'b0;
      end else begin
        valid_q <= push || (valid_q && !(pop && room_q));
        room_q  <= pop || !valid_q || (room_q && !push);
        write_q <= write_q ^ push;
        read_q  <= read_q ^ pop;
      end
      // The free one follows the front, whether or not a block is there.
      for (int unsigned w = 0; w < 2; w++) begin
        if (clear_i.active || (!valid_q && write_q != 1'(w))) entry_q[w] <= '0;
        else if (room_q && write_q == 1'(w)) entry_q[w] <= asked;
      end
    end

    assign entry_ready = |ready;

    always_comb begin
      busy         = 1'b0;
      result_valid = 1'b0;
      result       = '0;
      for (int unsigned i = 0; i < Rings; i++) begin
        ready[i] = ring_rsp_i[i].block_ready;
        busy |= ring_rsp_i[i].key_busy;
        // The lowest bit that is set.
        enter[i] = ready[i] && (ready & ((Rings'(1) << i) - Rings'(1))) == '0;
        if (ring_rsp_i[i].result_valid) begin
          result_valid = 1'b1;
          result |= ring_rsp_i[i].result;
        end
        ring_req_o[i] = req_i;
        ring_req_o[i].block_valid = valid_q && enter[i];
        ring_req_o[i].block = entry.block;
        ring_req_o[i].decrypt = entry.decrypt;
        ring_req_o[i].block_context = entry.key;
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        result_valid_q <= 1'b0;
        result_q       <= '0;
        given_q        <= '0;
        back_q         <= '0;
      end else begin
        result_valid_q <= result_valid;
        result_q       <= result;
        if (push) given_q <= given_q + NumberBits'(1);
        if (result_valid_q) back_q <= back_q + NumberBits'(1);
      end
    end

    assign rsp_o = '{
        key_busy: busy,
        block_ready: room_q,
        block_ticket: ticket_t'(given_q),
        result_valid: result_valid_q,
        result_ticket: ticket_t'(back_q),
        result: result_q
      };
  end

endmodule

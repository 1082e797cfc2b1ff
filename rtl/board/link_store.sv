// SPDX-License-Identifier: Apache-2.0
//
// The store: words that the host has put there in this session, without gaps, and that a recall gives to a slot
// (docs/link.md, "The store"). A frame's first beat says where. Writing and reading are never under way at once, so the
// memory has one port.
//
// Latency of a recall: 3 clocks. Throughput: one word per clock.
module link_store
  import board_pkg::*;
#(
  // Words: 2^n.
  parameter int unsigned AddressBits = 13
) (
  input logic clk_i,
  input logic rst_ni,

  // The store is empty.
  input logic clear_i,

  // With a frame's first beat, or a word. Whether what the beat says may be is known two clocks later.
  input  to_store_t          store_i,
  input  logic        [63:0] word_i,
  output from_store_t        store_o
);

  if (AddressBits < 1 || AddressBits > 14) begin : gen_illegal_size
    $error("link_store: AddressBits must be from 1 to 14");
  end

  // A place, or a number of words: up to all of them.
  typedef logic [AddressBits:0] place_t;

  // -- where ------------------------------------------------------------------------------------------------

  place_t at_q, count_q, filled_q;
  logic [15:0] end_q;  // behind the frame's last word
  logic sum_q, over_q, none_q, recall_q, grows_q;
  logic gap, beyond, full, bad;

  assign gap    = at_q > filled_q;
  assign beyond = end_q > 16'(filled_q);
  assign full   = end_q > 16'(2 ** AddressBits);
  assign bad    = over_q || (recall_q ? none_q || beyond : gap || full);

  // -- words ------------------------------------------------------------------------------------------------

  place_t left_q;  // words that are still to be read, as a negative number
  logic [AddressBits+1:0] left;
  logic read, there, first_q, first_last_q, valid_q, last_q;

  assign there = left_q[AddressBits];
  assign left  = {1'b0, left_q} + (AddressBits + 2)'(1);
  assign read  = !valid_q || store_i.ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q         <= '0;
      count_q      <= '0;
      end_q        <= '0;
      filled_q     <= '0;
      sum_q        <= 1'b0;
      over_q       <= 1'b0;
      none_q       <= 1'b0;
      recall_q     <= 1'b0;
      grows_q      <= 1'b0;
      left_q       <= '0;
      first_q      <= 1'b0;
      first_last_q <= 1'b0;
      valid_q      <= 1'b0;
      last_q       <= 1'b0;
    end else begin
      sum_q   <= store_i.where;
      grows_q <= beyond;
      if (sum_q) end_q <= 16'(at_q) + (recall_q ? 16'(count_q) : 16'(store_i.left));
      if (store_i.where) begin
        recall_q <= store_i.recall;
        at_q <= word_i[AddressBits:0];
        count_q <= word_i[16+:AddressBits+1];
        none_q <= word_i[31:16] == '0;
        // Bits that say nothing are 0.
        over_q <= word_i[63:32] != '0 || word_i[31:17+AddressBits] != '0
            || word_i[15:AddressBits+1] != '0 || (!store_i.recall && word_i[31:16] != '0);
      end else if (store_i.write || (read && there)) at_q <= at_q + place_t'(1);
      if (store_i.write && store_i.last && grows_q) filled_q <= end_q[AddressBits:0];
      if (store_i.go) left_q <= -count_q;
      else if (read && there) left_q <= left[AddressBits:0];
      if (read) begin
        first_q      <= there;
        first_last_q <= left[AddressBits+1];
        valid_q      <= first_q;
        last_q       <= first_last_q;
      end
      if (clear_i) begin
        filled_q <= '0;
        left_q   <= '0;
        first_q  <= 1'b0;
        valid_q  <= 1'b0;
      end
    end
  end

  // -- memory -----------------------------------------------------------------------------------------------

  // Pieces of 2 bits: a block of 2^13 words each, and nothing to choose from behind them.
  localparam int unsigned Piece = 2;

  logic [63:0] word_q;

  assign store_o = '{bad: bad, valid: valid_q, last: last_q, word: word_q};

  for (genvar part = 0; part < 64 / Piece; part++) begin : gen_part
    (* ram_style = "block", no_rw_check *)
    logic [Piece-1:0] ram[2**AddressBits];
    logic [Piece-1:0] raw_q;

    always_ff @(posedge clk_i) begin
      if (store_i.write) ram[at_q[AddressBits-1:0]] <= word_i[Piece*part+:Piece];
    end

    always_ff @(posedge clk_i) begin
      if (read && !store_i.write) begin
        raw_q                     <= ram[at_q[AddressBits-1:0]];
        word_q[Piece*part+:Piece] <= raw_q;
      end
    end
  end

endmodule

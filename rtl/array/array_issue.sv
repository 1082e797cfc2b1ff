// SPDX-License-Identifier: Apache-2.0
//
// Blocks of lanes into the tile. For every start of the tile and each of its ways a lane is chosen that has a block, the
// first one behind the one that had its turn last; array_words brings its words to where that start reads them. A way
// without a lane computes what nobody takes. The second way's lane is chosen when the beats of the first one's block have
// been read.
//
// Clocks from the last choice to the start: 14, and 2 for each beat that is read but the first.
module array_issue
  import array_pkg::*;
  import array_front_pkg::*;
#(
  parameter int unsigned Lanes = 16,
  parameter int unsigned Ways  = 2
) (
  input logic clk_i,
  input logic rst_ni,
  // That of the bank that runs, which stands while any lane has a block. The tile changes to another
  // bank; that, or it forgets, and nothing is chosen.
  input set_t set_i,
  input logic run_i,
  input logic changing_i,
  input logic hold_i,

  // Lanes that have a block. Of one with its first block, and of one with an outer message.
  input logic  [Lanes-1:0] ready_i,
  input logic  [Lanes-1:0] fresh_i,
  input logic  [Lanes-1:0] outer_i,
  // What admit keeps of a frame.
  input logic              job_write_i,
  input lane_t             job_lane_i,
  input job_t              job_i,

  // A lane was chosen; a clock or so later: its block has begun, and the next one may.
  output logic  chosen_o,
  output lane_t chosen_lane_o,
  output logic  issued_o,
  output lane_t issued_lane_o,
  output logic  again_o,

  // Its words are to be brought.
  output logic   words_valid_o,
  output words_t words_o,

  // The tile, and what begins in it: in the clock behind its start.
  input  logic                                     start_i,
  input  logic   [StreamBits-1:0]                  input_base_i,
  output logic   [      Ways-1:0][KeyWordBits-1:0] key_base_o,
  output logic   [      Ways-1:0]                  started_o,
  output block_t [      Ways-1:0]                  block_o
);

  if (Lanes < 2 || Lanes > 16 || Ways < 1 || Ways > WaysMost) begin : gen_illegal
    $error("array_issue: lanes are from 2 to 16, and ways one or two");
  end

  localparam int unsigned LaneBits = $clog2(Lanes);

  // -- what the set says --------------------------------------------------------------------------------------

  logic [3:0] reads_q;
  logic wide_q, hash_q, single_q;
  logic [4:0] digest_words_q, gap_q;
  logic [6:0] lead_q;
  logic [StreamBits-1:0] stride_q;

  always_ff @(posedge clk_i) begin
    hash_q         <= set_i.hash;
    wide_q         <= set_i.input_words == 6'd4 || set_i.aead;
    digest_words_q <= 5'(set_i.output_words[3:0]);
    stride_q       <= StreamBits'(set_i.input_words);
    // Words of a key take all of an interval to come out.
    single_q       <= Ways == 1 || set_i.keys;
    reads_q        <= reads(set_i);
    gap_q          <= {reads_q, 1'b0} + 5'd4;
    lead_q         <= 7'd12 + 7'({reads_q, 1'b0}) + (Ways == 1 ? 7'd0 : 7'(gap_q));
  end

  logic pulse, first_pulse, way;
  logic [1:0] ahead;
  logic [StreamBits-1:0] base_ahead;

  array_pulse u_pulse (
    .clk_i,
    .rst_ni,
    .last_i      (set_i.last_context),
    .stride_i    (stride_q),
    .lead_i      (lead_q),
    .changing_i,
    .hold_i,
    .start_i,
    .pulse_o     (first_pulse),
    .ahead_o     (ahead),
    .base_ahead_o(base_ahead)
  );

  // The start whose lanes are chosen, and clocks to the choice for its second way.
  logic [1:0] start_q, slot_q;
  logic [StreamBits-1:0] base_q;
  logic [4:0] to_second_q;

  assign way   = to_second_q == 5'd1;
  assign pulse = first_pulse || way;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) to_second_q <= '0;
    else if (hold_i || changing_i) to_second_q <= '0;
    else if (first_pulse && !single_q) to_second_q <= gap_q;
    else if (to_second_q != '0) to_second_q <= to_second_q - 5'd1;
  end
  always_ff @(posedge clk_i) begin
    if (first_pulse) begin
      slot_q <= start_q + ahead;
      base_q <= input_base_i + base_ahead;
    end
  end

  // -- whose turn it is ---------------------------------------------------------------------------------------

  lane_t pick;
  logic pick_valid, choose;

  array_turn #(
    .Lanes(Lanes)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .valid_i(ready_i),
    .taken_i(choose),
    .valid_o(pick_valid),
    .lane_o (pick)
  );

  assign choose        = pulse && pick_valid && !hold_i;
  assign chosen_o      = choose;
  assign chosen_lane_o = pick;

  // -- which block it is --------------------------------------------------------------------------------------

  number_t numbers[Lanes];
  job_t jobs[Lanes];
  logic valid1_q, valid2_q, valid3_q;
  logic way1_q, way2_q, way3_q;
  lane_t lane1_q, lane2_q, lane3_q;
  job_t job2_q, job3_q;
  number_t number2_q, number3_q, next3_q;
  logic outer2_q, outer3_q, first3_q, last3_q;
  at_t at3_q, end3_q;
  logic aad3_q, ends3;
  logic [3:0] tail3;
  logic [KeyWordBits-1:0] key3_q;
  bits_t bits3_q;
  logic seventh;

  always_ff @(posedge clk_i) begin
    if (job_write_i) jobs[job_lane_i[LaneBits-1:0]] <= job_i;
  end
  always_ff @(posedge clk_i) begin
    if (valid3_q) numbers[lane3_q[LaneBits-1:0]] <= next3_q;
  end

  // The bit behind the message comes in the last block, or in the one before if that has no room for the length. An AEAD's
  // last block has nothing but lengths.
  assign seventh = job3_q.length[5:3] == 3'd7;
  assign ends3   = !job3_q.way.partial && (job3_q.way.aead || seventh ?
                   next3_q == (job3_q.way.aead && aad3_q ? number_t'(job3_q.skip) : job3_q.last) : last3_q);
  assign tail3 = aad3_q ? job3_q.aad_len[3:0] : job3_q.length[3:0];

  always_ff @(posedge clk_i) begin
    lane1_q <= pick;
    way1_q <= way;

    lane2_q <= lane1_q;
    way2_q <= way1_q;
    job2_q <= jobs[lane1_q[LaneBits-1:0]];
    outer2_q <= outer_i[lane1_q[LaneBits-1:0]];
    number2_q <= fresh_i[lane1_q[LaneBits-1:0]] ? '0 : numbers[lane1_q[LaneBits-1:0]];
    if (outer_i[lane1_q[LaneBits-1:0]]) begin
      job2_q.length <= 32'({digest_words_q, 2'b0});
      job2_q.last   <= '0;
    end

    lane3_q <= lane2_q;
    way3_q <= way2_q;
    job3_q <= job2_q;
    outer3_q <= outer2_q;
    number3_q <= number2_q;
    next3_q <= number2_q + number_t'(1);
    first3_q <= number2_q == '0;
    last3_q <= number2_q == job2_q.last;
    at3_q     <= hash_q ? at_t'({number2_q, 3'b0}) : at_t'(wide_q ? {number2_q[6:0], 1'b0} : number2_q[7:0])
                 + (job2_q.way.aead ? '0 : at_t'(job2_q.skip));
    // Where a tag lies.
    end3_q <= at_t'({job2_q.skip, 1'b0}) + job2_q.length[10:3] + at_t'(job2_q.length[2:0] != '0);
    aad3_q <= job2_q.way.aead && number2_q < number_t'(job2_q.skip);
    key3_q <= key_base(run_i, job2_q.area, set_i.key_words);
    bits3_q <= {1'b0, job2_q.length, 3'b0} + (job2_q.way.hmac ? 36'd512 : 36'd0);
  end

  assign issued_o      = valid3_q;
  assign issued_lane_o = lane3_q;
  assign again_o       = valid3_q && !job3_q.way.chained && !last3_q;

  // -- its start ----------------------------------------------------------------------------------------------

  // What begins in each way at the next starts, by their numbers modulo four.
  logic [1:0] following;
  logic [Ways-1:0][3:0] next_q;
  block_t block3;

  assign following = start_q + 2'd1;
  assign block3 = '{
      lane: lane3_q,
      at: job3_q.way.aead && last3_q ? end3_q : at3_q,
      mask:
      !
      set_i.hash
      && (
      job3_q.way.ctr
      ||
      job3_q.way.cfb
      ||
      job3_q.way.ofb
      || (
      set_i.decrypt && (job3_q.way.cbc || (job3_q.way.aead && last3_q))
      )
      ),
      back: (job3_q.way.cbc || job3_q.way.cfb) && !job3_q.way.chained,
      twice: job3_q.way.ofb,
      chained: job3_q.way.chained,
      final_block: last3_q,
      inner: job3_q.way.hmac && !outer3_q,
      one_beat: ends3 && !aad3_q && !last3_q && tail3 inside {[4'd1 : 4'd8]},
      tag: job3_q.tag
    };

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    block_t blocks[4];
    logic [KeyWordBits-1:0] keys[4];

    always_ff @(posedge clk_i) begin
      if (valid3_q && 32'(way3_q) == w) begin
        keys[slot_q]   <= key3_q;
        blocks[slot_q] <= block3;
      end
      key_base_o[w] <= keys[following];
      block_o[w]    <= blocks[following];
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        next_q[w]    <= '0;
        started_o[w] <= 1'b0;
      end else begin
        started_o[w] <= start_i && next_q[w][following];
        if (start_i) next_q[w][following] <= 1'b0;
        if (valid1_q && 32'(way1_q) == w) next_q[w][slot_q] <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {valid1_q, valid2_q, valid3_q, start_q} <= '0;
    end else begin
      valid1_q <= choose;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
      if (start_i) start_q <= following;
    end
  end

  // -- its words ----------------------------------------------------------------------------------------------

  assign words_valid_o = valid3_q;
  assign words_o = '{
      way: way3_q,
      base: base_q,
      lane: lane3_q,
      at: at3_q,
      // The block of lengths has the counter itself, the first one of text the next one.
      number:
      !
      job3_q.way.aead
      ?
      number3_q
      :
      last3_q
      ?
      '0
      :
      number_t
      '(
      8'(next3_q[7:0] - 8'(job3_q.skip))
      ),
      first: first3_q,
      outer: outer3_q,
      mode: job3_q.way,
      area: job3_q.area,
      ends: ends3,
      over: seventh && last3_q,
      closes: last3_q && !job3_q.way.partial,
      aad: aad3_q,
      bits: bits3_q,
      end_at: job3_q.length[5:3],
      tail: tail3,
      aad_len: job3_q.aad_len
    };

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Blocks of lanes into the tile. For every start of the tile a lane is chosen that has a block, the first one behind the
// one that had its turn last; its words are read, combined with what its mode wants and written where that start reads
// them. A start without a lane computes what nobody takes.
//
// Clocks from the choice to the start: 13, and 2 for each beat that is read but the first.
module array_issue
  import array_pkg::*;
  import array_front_pkg::*;
#(
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,
  // In other clocks than these it reads the buffers.
  input logic odd_i,

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

  // Memories; words are there two clocks behind their address.
  output lane_t        read_lane_o,
  output at_t          read_at_o,
  output logic  [ 1:0] read_index_o,  // of a lane's state
  output logic  [ 6:0] read_state_o,  // of the store
  input  logic  [63:0] beat_i,
  input  logic  [63:0] lane_state_i,
  input  logic  [63:0] state_i,

  // The tile, and what begins in it: in the clock behind its start.
  input  logic                     start_i,
  input  logic   [ StreamBits-1:0] input_base_i,
  output logic   [KeyWordBits-1:0] key_base_o,
  output write_t                   write_o,
  output logic                     started_o,
  output block_t                   block_o
);

  if (Inputs != 2 || Lanes < 2 || Lanes > 16) begin : gen_illegal
    $error("array_issue: beats are of two words, and lanes from 2 to 16");
  end

  // -- what the set says --------------------------------------------------------------------------------------

  logic [3:0] state_beats_q, reads_q;
  logic wide_q, odd_words_q, hash_q;
  logic [1:0] last_beat_q;
  logic [5:0] lead_q, digest_q;
  logic [StreamBits-1:0] stride_q;

  always_ff @(posedge clk_i) begin
    hash_q        <= set_i.hash;
    wide_q        <= set_i.input_words == 6'd4;
    odd_words_q   <= set_i.hash && set_i.output_words[0];
    state_beats_q <= (set_i.output_words[3:0] + 4'd1) >> 1;
    digest_q      <= {set_i.output_words[3:0], 2'b0};
    stride_q      <= pairs(8'(set_i.input_words));
    last_beat_q   <= 2'((set_i.input_words - 6'd1) >> 1);
    // With a mask, which is the longest.
    if (hash_q) reads_q <= state_beats_q + 4'd8 + 4'(odd_words_q);
    else reads_q <= wide_q || set_i.keys ? 4'd4 : 4'd2;
    lead_q <= 6'd11 + 6'({reads_q, 1'b0});
  end

  logic pulse;
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
    .pulse_o     (pulse),
    .ahead_o     (ahead),
    .base_ahead_o(base_ahead)
  );

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
  lane_t lane1_q, lane2_q, lane3_q;
  logic [1:0] slot1_q, slot2_q, slot3_q, start_q;
  logic [StreamBits-1:0] base1_q, base2_q, base3_q;
  job_t job2_q, job3_q;
  number_t number2_q, number3_q, next3_q;
  logic outer2_q, outer3_q, first3_q, last3_q;
  at_t at3_q;
  logic [KeyWordBits-1:0] key3_q;
  logic [63:0] bits3_q;
  logic seventh;

  always_ff @(posedge clk_i) begin
    if (job_write_i) jobs[job_lane_i] <= job_i;
  end
  always_ff @(posedge clk_i) begin
    if (valid3_q) numbers[lane3_q] <= next3_q;
  end

  // The bit behind the message comes in the last block, or in the one before if that has no room for the length.
  assign seventh = job3_q.length[5:3] == 3'd7;

  always_ff @(posedge clk_i) begin
    lane1_q <= pick;
    slot1_q <= start_q + ahead;
    base1_q <= input_base_i + base_ahead;

    lane2_q <= lane1_q;
    slot2_q <= slot1_q;
    base2_q <= base1_q;
    job2_q <= jobs[lane1_q];
    outer2_q <= outer_i[lane1_q];
    number2_q <= fresh_i[lane1_q] ? '0 : numbers[lane1_q];
    if (outer_i[lane1_q]) begin
      job2_q.length <= 32'(digest_q);
      job2_q.last   <= '0;
    end

    lane3_q <= lane2_q;
    slot3_q <= slot2_q;
    base3_q <= base2_q;
    job3_q <= job2_q;
    outer3_q <= outer2_q;
    number3_q <= number2_q;
    next3_q <= number2_q + number_t'(1);
    first3_q <= number2_q == '0;
    last3_q <= number2_q == job2_q.last;
    at3_q     <= hash_q ? at_t'({number2_q, 3'b0}) : at_t'(wide_q ? {number2_q[6:0], 1'b0} : number2_q[7:0])
                 + at_t'(job2_q.skip);
    key3_q <= key_base(run_i, job2_q.area, set_i.key_words);
    bits3_q <= {29'b0, job2_q.length, 3'b0} + (job2_q.way.hmac ? 64'd512 : 64'd0);
  end

  assign issued_o      = valid3_q;
  assign issued_lane_o = lane3_q;
  assign again_o       = valid3_q && !job3_q.way.chained && !last3_q;

  // -- its start ----------------------------------------------------------------------------------------------

  // What begins at the next starts, by their numbers modulo four.
  block_t blocks[4];
  logic [KeyWordBits-1:0] keys[4];
  logic [3:0] next_q;
  logic [1:0] following;
  logic started_q;
  block_t started_block_q;
  logic [KeyWordBits-1:0] key_base_q;

  assign following  = start_q + 2'd1;
  assign key_base_o = key_base_q;
  assign started_o  = started_q;
  assign block_o    = started_block_q;

  always_ff @(posedge clk_i) begin
    if (valid3_q) begin
      keys[slot3_q] <= key3_q;
      blocks[slot3_q] <= '{
        lane: lane3_q,
        at: at3_q,
        mask: !set_i.hash && (job3_q.way.ctr || (job3_q.way.cbc && set_i.decrypt)),
        back: job3_q.way.cbc && set_i.decrypt,
        chained: job3_q.way.chained,
        final_block: last3_q,
        inner: job3_q.way.hmac && !outer3_q
      };
    end
    key_base_q <= keys[following];
    started_block_q <= blocks[following];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {valid1_q, valid2_q, valid3_q, next_q, start_q, started_q} <= '0;
    end else begin
      valid1_q  <= choose;
      valid2_q  <= valid1_q;
      valid3_q  <= valid2_q;
      started_q <= start_i && next_q[following];
      if (start_i) begin
        start_q           <= following;
        next_q[following] <= 1'b0;
      end
      if (valid1_q) next_q[slot1_q] <= 1'b1;
    end
  end

  // -- its beats ----------------------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    Buffer,
    LaneState,
    Store
  } source_e;

  // Of a message's beat: as it is, with its end in it, behind its end, its length.
  typedef enum logic [1:0] {
    Plain,
    End,
    Zero,
    Length
  } pad_e;

  typedef struct packed {
    logic                  valid;
    source_e               source;
    pad_e                  pad;
    logic                  keep;    // it waits for the next one, which it masks
    logic                  count;
    logic                  first;   // of a counter's beats
    logic                  state;   // words as they are
    logic                  half;    // only the low word, which waits for the next beat
    logic [StreamBits-1:0] at;
  } step_t;

  logic busy_q, outer_q, first_q, ctr_q, hmac_q, masked_q, ends_q, closes_q, over_q;
  lane_t lane_q;
  at_t at_q;
  number_t number_q;
  area_t area_q;
  logic [3:0] step_q, last_step_q;
  logic [StreamBits-1:0] base_q;
  logic [63:0] bits_q;
  logic [2:0] end_at_q;
  logic [7:0] keep_q, mark_q;
  logic stepping;
  step_t step;
  logic [3:0] data_step;
  logic of_state, last_of_state;

  assign stepping      = busy_q && !odd_i;
  assign of_state      = hash_q && step_q < state_beats_q;
  assign last_of_state = step_q + 4'd1 == state_beats_q;
  assign data_step     = step_q - state_beats_q;

  always_comb begin
    step = '0;
    step.valid = stepping;
    step.at = base_q + StreamBits'(step_q);
    if (hash_q) begin
      if (of_state) begin
        step.source = first_q ? Store : LaneState;
        step.state  = 1'b1;
        step.half   = odd_words_q && last_of_state;
      end else begin
        step.at = base_q + StreamBits'(step_q) - StreamBits'(odd_words_q);
        if (closes_q && data_step == 4'd7) step.pad = Length;
        else if (over_q || data_step[3] || (ends_q && data_step > 4'(end_at_q))) step.pad = Zero;
        else if (ends_q && data_step == 4'(end_at_q)) step.pad = End;
      end
    end else if (ctr_q) begin
      step.source = LaneState;
      step.count  = 1'b1;
      step.first  = step_q == '0;
      step.at     = base_q + StreamBits'(wide_q && step_q == '0);
    end else if (masked_q) begin
      step.keep = !step_q[0];
      step.at   = base_q + StreamBits'(step_q[1]);
    end
  end

  // Addresses, a clock behind.
  always_ff @(posedge clk_i) begin
    read_lane_o <= lane_q;
    read_state_o <= {
      run_i, hmac_q ? area_q : 2'b0, hmac_q ? (outer_q ? StateOuter : StateInner) : StateFirst, step_q[1:0]
    };
    read_index_o <= ctr_q ? {1'b0, wide_q && step_q == '0} : step_q[1:0];
    if (hash_q) read_at_o <= at_q + at_t'(data_step[2:0]);
    else if (masked_q) read_at_o <= at_q + at_t'(step_q[1]) - (step_q[0] ? '0 : at_t'({wide_q, !wide_q}));
    else read_at_o <= at_q + at_t'(step_q[1:0]);
  end

  step_t step1_q, step2_q, step3_q, step4_q, step5_q;
  logic [63:0] word, word4_q, word5_q, mask_q, sum;
  number_t number4;
  logic carry, carry_q;

  // A message's beat, with the bit behind its end.
  always_comb begin
    unique case (step3_q.source)
      LaneState: word = lane_state_i;
      Store: word = state_i;
      default: word = beat_i;
    endcase
    unique case (step3_q.pad)
      Length: word = set_i.swap_in ? reversed(bits_q) : bits_q;
      Zero: word = '0;
      End:
      for (int unsigned i = 0; i < 8; i++) begin
        word[8*i+:8] &= {8{keep_q[i]}};
        word[8*i+7] |= mark_q[i];
      end
      default: ;
    endcase
  end

  // A counter is big-endian, from its last beat on.
  assign number4 = step4_q.first ? number_q : number_t'(carry_q);
  assign {carry, sum} = {1'b0, reversed(word4_q)} + 65'(number4);

  always_ff @(posedge clk_i) begin
    word4_q <= step3_q.valid ? word : '0;
    // Steps are two clocks apart.
    if (step4_q.valid) begin
      mask_q  <= step4_q.keep ? word4_q : '0;
      carry_q <= carry && step4_q.count;
    end else if (!step3_q.valid) begin
      mask_q  <= '0;
      carry_q <= 1'b0;
    end
    word5_q <= step4_q.count ? reversed(sum) : word4_q ^ mask_q;
  end

  // -- words into the tile ------------------------------------------------------------------------------------

  // If a state's words are odd in number, each beat behind it is made of two halves.
  logic [63:0] beat;
  logic [31:0] low_q;

  always_comb begin
    beat = word5_q;
    if (!step5_q.state) beat = set_i.permuted ? des_in(word5_q) : swapped_pair(word5_q, set_i.swap_in);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {step1_q, step2_q, step3_q, step4_q, step5_q} <= '0;
      write_o <= '0;
      low_q <= '0;
      {busy_q, step_q} <= '0;
    end else begin
      step1_q <= step;
      step2_q <= step1_q;
      step3_q <= step2_q;
      step4_q <= step3_q;
      step5_q <= step4_q;
      write_o <= '0;
      if (step5_q.valid && !step5_q.keep) begin
        low_q <= step5_q.half ? beat[31:0] : beat[63:32];
        if (!step5_q.half) begin
          write_o.target <= TargetInput;
          write_o.at     <= 9'(step5_q.at);
          write_o.data   <= odd_words_q && !step5_q.state ? {beat[31:0], low_q} : beat;
        end
      end else if (!step5_q.valid && !step4_q.valid) begin
        low_q <= '0;
      end

      if (stepping) begin
        step_q <= step_q + 4'd1;
        busy_q <= step_q != last_step_q;
      end
      if (valid3_q) begin
        busy_q <= 1'b1;
        step_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid3_q) begin
      lane_q   <= lane3_q;
      at_q     <= at3_q;
      base_q   <= base3_q;
      number_q <= number3_q;
      area_q   <= job3_q.area;
      outer_q  <= outer3_q;
      first_q  <= first3_q;
      ctr_q    <= job3_q.way.ctr;
      hmac_q   <= job3_q.way.hmac;
      masked_q <= job3_q.way.cbc && !set_i.decrypt;
      // The message's end is in this block, or in front of it; its length is.
      ends_q   <= seventh ? next3_q == job3_q.last : last3_q;
      over_q   <= seventh && last3_q;
      closes_q <= last3_q;
      bits_q   <= bits3_q;
      end_at_q <= job3_q.length[5:3];
      for (int unsigned i = 0; i < 8; i++) begin
        keep_q[i] <= 3'(i) < job3_q.length[2:0];
        mark_q[i] <= 3'(i) == job3_q.length[2:0];
      end
      if (hash_q) last_step_q <= reads_q - 4'd1;
      else last_step_q <= {2'b0, job3_q.way.cbc && !set_i.decrypt ? {wide_q, 1'b1} : last_beat_q};
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Results out of the tile, in the order of their starts, those of a start way after way, and at a time that the set says:
// into the place of the block in its lane's buffer, or of a hash into the lane's state. CTR combines them with the block,
// CBC decryption with the block before, into whose place they go: the next one still finds its mask. So do results of CFB
// decryption, combined with their block, of which the next one is made. OFB reads a result twice: as it is, it goes into the
// lane's state, and then, combined with the block, into the buffer. A digest goes to the
// buffer's beginning, an inner one as the outer message. Of an AEAD the sum goes into the lane's state and the text into the
// block's place, and of its last block only the tag, into its place behind the text; when decrypting it is compared with
// what came there, and goes nowhere.
//
// A block that waits for the one before is called again before that one's result is here, so early that it is written in
// the clock before array_issue reads it at the earliest.
//
// Clocks: the set's latency, and 1 if that is an odd clock, from a start to the first word; 8 from there into the buffer;
// 2 a beat. What is wrong with a tag is known 2 clocks behind the block's return.
module array_return
  import array_pkg::*;
  import array_front_pkg::*;
#(
  parameter int unsigned Ways = 2
) (
  input logic clk_i,
  input logic rst_ni,
  // In these clocks it writes the buffers, and in the others it may read them.
  input logic odd_i,

  input set_t set_i,

  // Blocks have started in the tile.
  input logic   [      Ways-1:0] started_i,
  input block_t [      Ways-1:0] block_i,
  input logic   [StreamBits-1:0] output_base_i,

  // The tile's words, three clocks behind their address.
  output logic [StreamBits-1:0]                    read_at_o,
  input  logic [      Ways-1:0][Outputs-1:0][31:0] words_i,

  // A beat that masks a result; it is there two clocks behind the address.
  output logic         mask_read_o,
  output lane_t        mask_lane_o,
  output at_t          mask_at_o,
  input  logic  [63:0] mask_i,

  // Into the buffer, or the state.
  output logic         write_o,
  output logic         to_state_o,
  output lane_t        write_lane_o,
  output at_t          write_at_o,
  output logic  [63:0] data_o,

  // The lane's next block may be chosen, though its result is not written.
  output logic   early_o,
  output lane_t  early_lane_o,
  // A block's result is written: its lane, whether it is the last one, and of an HMAC's inner message.
  output logic   returned_o,
  output block_t returned_block_o,
  // A tag is not that of the lane's text.
  output logic   bad_o,
  output lane_t  bad_lane_o
);

  if (Outputs != 1) begin : gen_illegal
    $error("array_return: a beat is read in two clocks");
  end

  typedef struct packed {
    logic [Ways-1:0]       valid;
    block_t [Ways-1:0]     block;
    logic [StreamBits-1:0] base;
    logic [11:0]           due;
  } flight_t;

  // As many as the tile has room for. Nobody looks at one that was written less than three clocks ago.
  (* ram_style = "block", no_rw_check *)
  flight_t flights[1<<FlightBits];
  flight_t raw_q, first_q;
  logic [FlightBits:0] begun_q, over_q;
  logic [11:0] now_q, latency_q;
  logic [1:0] settle_q;
  logic due_q, started;

  assign started = started_i != '0;

  always_ff @(posedge clk_i) begin
    if (started) flights[begun_q[FlightBits-1:0]] <= '{started_i, block_i, output_base_i, now_q + latency_q};
  end

  // -- a start's blocks -------------------------------------------------------------------------------------

  // Clocks between the call and the first word, less one: two for each beat that issue reads before it reads what the block
  // waits for, and of a state, which is there a clock later, one less. A start's second block is called so much later as it
  // comes later.
  logic [4:0] ahead_q, age_q, second_at_q;
  // What is called and read first, and behind it.
  block_t front_q, behind_q;
  logic behind_valid_q, front_way_q;
  logic [StreamBits-1:0] front_base_q;
  logic call, call_behind;
  logic [6:0] step_q, last_step_q;
  logic aead_q;

  always_ff @(posedge clk_i) begin
    raw_q       <= flights[over_q[FlightBits-1:0]];
    first_q     <= raw_q;
    ahead_q     <= set_i.hash ? 5'd14 : set_i.aead ? 5'd10 : 5'd0;
    latency_q   <= set_i.latency - 12'd4 - 12'(ahead_q);
    second_at_q <= aead_q ? 5'd7 : front_q.twice ? {last_step_q[2:0], 2'b11} : {last_step_q[3:0], 1'b1};
    call        <= due_q;
    call_behind <= behind_valid_q && age_q == second_at_q;
  end

  // -- beats ------------------------------------------------------------------------------------------------

  typedef struct packed {
    logic  valid;
    logic  way;
    logic  last;
    logic  mask;
    logic  back;
    logic  half;
    logic  write;
    logic  compare;
    tag_t  tag;
    logic  to_state;
    logic  final_block;
    logic  inner;
    logic  chained;
    lane_t lane;
    at_t   at;
  } step_t;

  logic busy_q, wide_q, stepping, last, hash_q, odd_words_q, permuted_q, decrypt_q, stays_q;
  logic way_q, more_q, compare, of_sum, combined;
  logic [6:0] read_step;
  block_t block_q, next_q;
  logic [StreamBits-1:0] base_q;
  step_t step;
  step_t [6:0] steps_q;

  assign stepping = busy_q && !odd_i;
  assign compare = block_q.mask && step_q[2];
  assign of_sum = step_q[2:1] == '0;
  // Of an AEAD's six beats each block has four: sum and text, or, without one, text and tag. OFB's are read twice.
  assign combined = wide_q ? step_q[1] : step_q[0];
  assign last       = step_q == (aead_q && !block_q.final_block ? 7'd3 :
                                 block_q.twice ? {5'b0, wide_q, 1'b1} : last_step_q);
  assign read_step = block_q.twice ? 7'(step_q[0] && wide_q) : step_q;

  always_comb begin
    step.valid = stepping;
    step.way = way_q;
    step.last = stepping && last;
    step.mask = block_q.mask;
    step.back = block_q.back;
    step.half = last && odd_words_q;
    step.write = stepping;
    step.compare = 1'b0;
    step.tag = block_q.tag;
    step.to_state = hash_q && !block_q.final_block;
    step.final_block = block_q.final_block;
    step.inner = block_q.inner;
    step.chained = block_q.chained;
    step.lane = block_q.lane;
    step.at = at_t'(step_q);
    if (aead_q) begin
      step.mask = compare;
      step.compare = stepping && compare;
      step.write    = stepping && (block_q.final_block ? step_q[2] && !block_q.mask : !(block_q.one_beat && last));
      step.to_state = of_sum;
      step.at = of_sum ? at_t'({1'b1, step_q[0]}) : block_q.at + at_t'(step_q[0]);
    end else if (block_q.twice) begin
      step.mask     = combined;
      step.to_state = !combined;
      step.at       = (combined ? block_q.at : '0) + at_t'(step_q[0] && wide_q);
    end else if (!hash_q) begin
      step.at = block_q.at + at_t'(step_q) - (block_q.back ? at_t'({wide_q, !wide_q}) : '0);
    end
  end

  always_ff @(posedge clk_i) begin
    read_at_o   <= stepping ? base_q + StreamBits'({read_step, 1'b0}) : read_at_o + 1'b1;
    mask_lane_o <= steps_q[0].lane;
    // CFB's is the block's own, and not the one before.
    mask_at_o   <= steps_q[0].at + (steps_q[0].back && !decrypt_q ? at_t'({wide_q, !wide_q}) : '0);
    decrypt_q   <= set_i.decrypt;
    stays_q     <= set_i.hash || set_i.aead;
    wide_q      <= set_i.input_words == 6'd4;
    hash_q      <= set_i.hash;
    aead_q      <= set_i.aead;
    odd_words_q <= set_i.output_words[0];
    last_step_q <= 7'((set_i.output_words - 8'd1) >> 1);
    permuted_q  <= !set_i.hash && set_i.permuted;
  end

  function automatic logic [6:0] first_step(block_t called);
    return aead_q && called.final_block ? 7'd2 : '0;
  endfunction

  assign mask_read_o = steps_q[1].valid && steps_q[1].mask;

  logic [31:0] word, low_q;
  logic [63:0] words, mask_q, mask2_q, data_q;

  always_comb begin
    // The low word comes first.
    word = (steps_q[3].valid ? steps_q[3].way : steps_q[4].way) ? words_i[Ways-1][0] : words_i[0][0];
    // Of the last beat of an odd number of words only one counts.
    words = {steps_q[4].half ? '0 : word, low_q};
    // A state of words stays as it is; a digest is a message.
    words = permuted_q ? des_out(words) :
      swapped_pair(words, set_i.swap_out && !(steps_q[4].to_state && stays_q));
  end

  always_ff @(posedge clk_i) begin
    low_q   <= steps_q[3].valid ? word : '0;
    mask_q  <= mask_i;
    mask2_q <= steps_q[4].valid && steps_q[4].mask ? mask_q : '0;
    data_q  <= steps_q[4].valid ? words : '0;
    data_o  <= data_q ^ mask2_q;
  end

  assign write_o = steps_q[6].write;
  assign to_state_o = steps_q[6].to_state;
  assign write_lane_o = steps_q[6].lane;
  assign write_at_o = steps_q[6].at;
  assign returned_o = steps_q[6].last;
  assign returned_block_o = '{
      lane: steps_q[6].lane,
      chained: steps_q[6].chained,
      final_block: steps_q[6].final_block,
      inner: steps_q[6].inner,
      default: '0
    };

  // A tag's bytes that count.
  logic [3:0] differs_q;
  logic compared_q, compare_ends_q, differed_q;
  lane_t compare_lane_q;

  always_ff @(posedge clk_i) begin
    logic [63:0] difference;
    difference = data_o;
    // The last one of two beats.
    if (steps_q[6].last) difference &= {{32{steps_q[6].tag[1]}}, {32{steps_q[6].tag != '0}}};
    for (int unsigned i = 0; i < 4; i++) differs_q[i] <= difference[16*i+:16] != '0 && steps_q[6].compare;
    compared_q     <= steps_q[6].compare;
    compare_ends_q <= steps_q[6].compare && steps_q[6].last;
    if (compared_q) differed_q <= !compare_ends_q && differs_q != '0;
    bad_o          <= compare_ends_q && (differs_q != '0 || differed_q);
    bad_lane_o     <= compare_lane_q;
    compare_lane_q <= steps_q[6].lane;
  end

  assign early_o      = (call && front_q.chained && !front_q.final_block)
                        || (call_behind && behind_q.chained && !behind_q.final_block);
  assign early_lane_o = call ? front_q.lane : behind_q.lane;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {begun_q, over_q, now_q, settle_q, due_q} <= '0;
      {busy_q, block_q, base_q, step_q, steps_q, way_q, more_q, next_q} <= '0;
      {front_q, front_way_q, front_base_q, behind_q, behind_valid_q} <= '0;
      age_q <= '1;
    end else begin
      now_q <= now_q + 1'b1;
      if (started) begun_q <= begun_q + 1'b1;
      // The first one has a register behind the memory.
      if (begun_q == over_q || due_q) settle_q <= '0;
      else if (settle_q != '1) settle_q <= settle_q + 2'd1;
      due_q   <= settle_q[1] && first_q.due == now_q && !due_q;
      steps_q <= {steps_q[5:0], step};
      if (stepping) begin
        step_q <= step_q + 7'd1;
        if (last) begin
          step_q  <= first_step(next_q);
          busy_q  <= more_q;
          more_q  <= 1'b0;
          way_q   <= !way_q;
          block_q <= next_q;
        end
      end
      if (age_q != '1) age_q <= age_q + 5'd1;
      if (age_q == ahead_q) begin
        busy_q  <= 1'b1;
        step_q  <= first_step(front_q);
        base_q  <= front_base_q;
        block_q <= front_q;
        way_q   <= front_way_q;
        next_q  <= behind_q;
        more_q  <= behind_valid_q;
      end
      if (due_q) begin
        over_q         <= over_q + 1'b1;
        age_q          <= '0;
        front_q        <= first_q.valid[0] ? first_q.block[0] : first_q.block[Ways-1];
        front_way_q    <= !first_q.valid[0];
        front_base_q   <= first_q.base;
        behind_q       <= first_q.block[Ways-1];
        behind_valid_q <= first_q.valid == '1 && Ways > 1;
      end
    end
  end

endmodule

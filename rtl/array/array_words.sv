// SPDX-License-Identifier: Apache-2.0
//
// A block's words into a way of the tile: beats of its lane's buffer, of the lane's state and of the store of states,
// combined with what its mode wants. What the block waits for is read last: a state comes behind the message, a mask behind
// the beat that it masks, an AEAD's sum behind all else. A message's length is added to the bits in front of it.
//
// Clocks: 5 from valid_i to the first beat's address, or 4 in an even clock; 2 a beat; 6 from the last address to the last
// word's write.
module array_words
  import array_pkg::*;
  import array_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // In the clocks behind those in which this is low it reads the buffers.
  input logic odd_i,

  // That of the bank that runs.
  input set_t set_i,
  input logic run_i,

  // The next block comes when all beats of this one have been read, and four clocks later.
  input logic   valid_i,
  input words_t block_i,

  // Memories; words are there two clocks behind their address.
  output lane_t        read_lane_o,
  output at_t          read_at_o,
  output logic  [ 1:0] read_index_o,  // of a lane's state
  output logic  [ 6:0] read_state_o,  // of the store
  input  logic  [63:0] beat_i,
  input  logic  [63:0] lane_state_i,
  input  logic  [63:0] state_i,

  output write_t write_o
);

  if (Inputs != 1) begin : gen_illegal
    $error("array_words: a beat is written in two clocks");
  end

  typedef enum logic [1:0] {
    Buffer,
    LaneState,
    Store
  } source_e;

  // Of a message's beat: as it is, with its end in it, behind its end. Of an AEAD's: bytes that are there, or a mask of them,
  // and the lengths.
  typedef enum logic [2:0] {
    Plain,
    End,
    Zero,
    Length,
    Bytes,
    Mask,
    AadLength
  } pad_e;

  typedef struct packed {
    logic                  valid;
    source_e               source;
    pad_e                  pad;
    logic                  keep;    // it waits for the next one, which it masks
    logic                  count;
    logic                  first;   // of a counter's beats
    logic                  second;  // of an AEAD's text
    logic                  bits;    // of a message's length
    logic                  state;   // words as they are
    logic                  half;    // only the low word
    logic                  way;
    logic [StreamBits-1:0] at;
  } step_t;

  logic wide_q, hash_q, aead_q, odd_words_q;
  logic [4:0] digest_words_q;
  logic [3:0] reads_q;
  logic busy_q, masked_q;
  words_t block_q;
  logic   masks;
  logic [3:0] step_q, last_step_q;
  logic [15:0] keep_q;
  logic [7:0] mark_q;
  logic stepping;
  step_t step;
  logic of_state;
  logic [StreamBits-1:0] beat_at, digest_at;

  always_ff @(posedge clk_i) begin
    hash_q         <= set_i.hash;
    aead_q         <= set_i.aead;
    wide_q         <= set_i.input_words == 6'd4;
    odd_words_q    <= set_i.hash && set_i.output_words[0];
    digest_words_q <= set_i.hash ? 5'(set_i.output_words[3:0]) : '0;
    reads_q        <= reads(set_i);
  end

  // -- beats --------------------------------------------------------------------------------------------------

  assign stepping = busy_q && !odd_i;
  assign of_state = hash_q && step_q[3];

  // Where a beat's words go: of an AEAD's steps counter, text, mask and sum, the counter's second beat first.
  always_comb begin
    digest_at = '0;
    beat_at   = StreamBits'(step_q);
    if (of_state) beat_at = StreamBits'(step_q[1:0]);
    else if (hash_q) digest_at = StreamBits'(digest_words_q);
    else if (aead_q)
      beat_at = StreamBits'({step_q[2], step_q[2] ^ step_q[1], step_q[0] ^ (step_q[2:1] == '0)});
    else if (block_q.mode.ctr) beat_at = StreamBits'(wide_q && step_q == '0);
    else if (masked_q) beat_at = StreamBits'(step_q[1]);
  end

  always_comb begin
    step = '0;
    step.valid = stepping;
    step.way = block_q.way;
    step.at = block_q.base + {beat_at[StreamBits-2:0], 1'b0} + digest_at;
    if (of_state) begin
      // One that came with the frame is bytes.
      step.source = block_q.first && !block_q.mode.resume ? Store : LaneState;
      step.state  = !(block_q.first && block_q.mode.resume);
      step.half   = odd_words_q && step_q == last_step_q;
    end else if (hash_q) begin
      if (block_q.closes && step_q == 4'd7) begin
        step.source = Store;
        step.pad    = block_q.mode.resume ? Plain : Zero;
        step.count  = 1'b1;
        step.bits   = 1'b1;
      end else if (block_q.over || (block_q.ends && step_q > 4'(block_q.end_at))) step.pad = Zero;
      else if (block_q.ends && step_q == 4'(block_q.end_at)) step.pad = End;
    end else if (aead_q) begin
      step.second = step_q[0];
      unique case (step_q[2:1])
        2'd0: begin
          step.source = LaneState;
          step.count  = 1'b1;
          step.first  = !step_q[0];
        end
        2'd1: step.pad = !block_q.closes ? Bytes : step_q[0] ? Length : AadLength;
        2'd2: step.pad = block_q.closes || block_q.aad ? Zero : Mask;
        default: begin
          step.source = LaneState;
          step.pad    = block_q.first ? Zero : Plain;
          step.state  = 1'b1;
        end
      endcase
    end else if (block_q.mode.ctr) begin
      step.source = LaneState;
      step.count  = 1'b1;
      step.first  = step_q == '0;
    end else if (masked_q) begin
      step.keep = !step_q[0];
      // CFB and OFB encipher nothing but what came before.
      if (!step_q[0] && !block_q.mode.cbc) step.pad = Zero;
      if (step_q[0] && block_q.mode.ofb) step.source = LaneState;
    end
  end

  // Addresses, a clock behind.
  always_ff @(posedge clk_i) begin
    read_lane_o <= block_q.lane;
    read_state_o <= {
      run_i,
      block_q.mode.hmac ? block_q.area : 2'b0,
      block_q.mode.hmac ? (block_q.outer ? StateOuter : StateInner) : StateFirst,
      step_q[1:0]
    };
    if (!of_state) read_state_o <= bits_at(run_i, block_q.lane);
    read_index_o <= step_q[1:0];
    if (aead_q && !step_q[2]) read_index_o <= {1'b0, !step_q[0]};
    else if (block_q.mode.ctr) read_index_o <= {1'b0, wide_q && step_q == '0};
    else if (masked_q) read_index_o <= {1'b0, step_q[1]};
    if (hash_q) read_at_o <= block_q.at + at_t'(step_q[2:0]);
    else if (masked_q)
      read_at_o <= block_q.at + at_t'(step_q[1]) - (step_q[0] ? at_t'({wide_q, !wide_q}) : '0);
    else if (aead_q) read_at_o <= block_q.at + at_t'(step_q[0]);
    else read_at_o <= block_q.at + at_t'(step_q[1:0]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, step_q} <= '0;
    else begin
      if (stepping) begin
        step_q <= step_q + 4'd1;
        busy_q <= step_q != last_step_q;
      end
      if (valid_i) begin
        busy_q <= 1'b1;
        step_q <= '0;
      end
    end
  end

  // A block in front of it, or what is in its place, comes with each beat.
  assign masks = (block_i.mode.cbc && block_i.mode.chained) || block_i.mode.cfb || block_i.mode.ofb;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      block_q  <= block_i;
      masked_q <= masks;
      for (int unsigned i = 0; i < 16; i++) begin
        keep_q[i] <= aead_q ? !block_i.ends || block_i.tail == '0 || 4'(i) < block_i.tail :
            3'(i) < block_i.tail[2:0];
      end
      for (int unsigned i = 0; i < 8; i++) mark_q[i] <= 3'(i) == block_i.tail[2:0];
      last_step_q <= reads_q - 4'd1;
      // A cipher's beats, with those that mask them.
      if (!hash_q && !aead_q && !masks) last_step_q <= 4'((set_i.input_words - 6'd1) >> 1);
    end
  end

  // -- what becomes of them -----------------------------------------------------------------------------------

  step_t step1_q, step2_q, step3_q, step4_q, step5_q;
  logic [63:0] word, word4_q, word5_q, mask_q, sum;
  logic [7:0] keep;
  bits_t number4;
  logic carry, carry_q;

  // A message's beat, with the bit behind its end.
  always_comb begin
    unique case (step3_q.source)
      LaneState: word = lane_state_i;
      Store: word = state_i;
      default: word = beat_i;
    endcase
    keep = step3_q.second ? keep_q[15:8] : keep_q[7:0];
    unique case (step3_q.pad)
      Length: word = reversed(64'(block_q.bits));
      AadLength: word = reversed({53'b0, block_q.aad_len, 3'b0});
      Zero: word = '0;
      Mask: for (int unsigned i = 0; i < 8; i++) word[8*i+:8] = {8{keep[i]}};
      Bytes: for (int unsigned i = 0; i < 8; i++) word[8*i+:8] &= {8{keep[i]}};
      End:
      for (int unsigned i = 0; i < 8; i++) begin
        word[8*i+:8] &= {8{keep[i]}};
        word[8*i+7] |= mark_q[i];
      end
      default: ;
    endcase
  end

  // A counter is big-endian, from its last beat on.
  always_comb begin
    number4 = bits_t'(carry_q);
    if (step4_q.first) number4 = bits_t'(block_q.number);
    if (step4_q.bits) number4 = block_q.bits;
  end
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

  // A beat's low word, and a clock later the high one. Bits come as a big-endian number, of which some hashes want the low
  // half first.
  logic [63:0] beat;
  logic [31:0] high_q;
  logic high_valid_q, high_way_q, turned;
  logic [StreamBits-1:0] high_at_q;

  assign turned = step5_q.bits && !set_i.swap_in;

  always_comb begin
    beat = word5_q;
    if (!step5_q.state)
      beat = set_i.permuted ? des_in(word5_q) : swapped_pair(word5_q, set_i.swap_in || step5_q.bits);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {step1_q, step2_q, step3_q, step4_q, step5_q} <= '0;
      write_o <= '0;
      {high_q, high_valid_q, high_way_q, high_at_q} <= '0;
    end else begin
      step1_q      <= step;
      step2_q      <= step1_q;
      step3_q      <= step2_q;
      step4_q      <= step3_q;
      step5_q      <= step4_q;
      write_o      <= '0;
      high_valid_q <= step5_q.valid && !step5_q.keep && !step5_q.half;
      high_way_q   <= step5_q.way;
      high_at_q    <= step5_q.at + StreamBits'(!turned);
      high_q       <= beat[63:32];
      if ((step5_q.valid && !step5_q.keep) || high_valid_q) begin
        write_o.target <= TargetInput;
        write_o.way    <= high_valid_q ? high_way_q : step5_q.way;
        write_o.at     <= 9'(high_valid_q ? high_at_q : step5_q.at + StreamBits'(turned));
        write_o.data   <= 64'(high_valid_q ? high_q : beat[31:0]);
      end
    end
  end

endmodule

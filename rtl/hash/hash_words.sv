// SPDX-License-Identifier: Apache-2.0
//
// The words that hash_modes sends to the core: of the frame, of the key (with ipad, then with opad), of the inner
// digest, and the padding with the length. And the words of a frame that are loaded as states.
//
// Clocks from a beat to its first word at the core: 2. One word per clock.
module hash_words
  import core_pkg::*;
  import hash_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,
  // The frame is over; high in a clear, too.
  input logic   stop_i,

  input header_t header_i,
  input step_t   step_i,

  input request_t frame_i,
  output logic ready_o,
  output went_t went_o,
  // A word that is loaded.
  output word_t load_word_o,
  // The bytes so far are no whole blocks.
  output logic odd_o,

  // The digest: its word is read now, or waits because the result does; and the word read last.
  output logic  digest_o,
  input  word_t digest_i,
  input  logic  result_hold_i,
  output word_t digest_word_o,

  output logic  word_valid_o,
  input  logic  word_ready_i,
  output word_t word_o
);

  localparam int unsigned BlockBits = $clog2(BlockBytes);
  localparam word_t OuterLength = word_t'(8 * (BlockBytes + Shape.digest_bytes));

  function automatic word_t swap(input word_t x);
    return Shape.big_endian ? {x[7:0], x[15:8], x[23:16], x[31:24]} : x;
  endfunction

  source_t source;
  assign source = step_i.source;

  // -- a beat's bytes as a word ---------------------------------------------------------------------------

  logic send_ready, word_there, word_take;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [63:0] so_far;  // the beat that says how many bytes the state has seen
  /* verilator lint_on UNUSEDSIGNAL */
  logic [2:0] last_len;  // bytes in the last beat; 0: 8
  word_t padded;

  always_comb begin
    if (step_i.kind == KeyIn) last_len = header_i.key_len[2:0];
    else if (source.load) last_len = 3'(Shape.state_bytes % 8);
    else last_len = header_i.payload_len[2:0];
  end

  assign word_take   = word_there && (source.load || send_ready);
  assign went_o.take = source.load && word_take;
  assign went_o.load = went_o.take && step_i.counted;
  assign load_word_o = swap(padded);

  hash_beats u_beats (
    .clk_i,
    .rst_ni,
    .clear_i       (stop_i),
    .frame_i,
    .ready_o,
    .last_len_i    (last_len),
    .taking_i      (source.beat || source.load),
    .mark_first_i  (source.mark),
    .mark_inside_i (source.beat && step_i.kind == Message),
    .half_i        (step_i.half),
    .half_o        (went_o.half),
    .word_valid_o  (word_there),
    .word_take_i   (word_take),
    .word_o        (padded),
    .section_end_o (went_o.section_end),
    .ended_inside_o(went_o.ended_inside),
    .count_o       (so_far)
  );

  // -- the length -----------------------------------------------------------------------------------------

  logic [60:BlockBits] blocks_q, sum_q;  // before this frame's payload, and all that are whole
  logic count_take;
  logic [63:0] bits;

  assign count_take = went_o.take && !step_i.counted && !step_i.half;
  assign odd_o      = count_take && so_far[BlockBits-1:0] != '0;

  always_ff @(posedge clk_i) begin
    if (step_i.phase == Idle) blocks_q <= '0;
    else if (count_take) blocks_q <= so_far[60:BlockBits];
    // Known long before it is sent.
    sum_q <= blocks_q + (61 - BlockBits)'(header_i.payload_len[31:BlockBits])
           + (61 - BlockBits)'(header_i.op != OpHash);
  end

  assign bits = {sum_q, header_i.payload_len[BlockBits-1:0], 3'b0};

  // -- the key, between its inner and its outer block -----------------------------------------------------

  // Each word is forgotten as it is read for the outer block: no beat is there then, and plain is zero.
  word_t plain, key_word;

  assign plain = load_word_o ^ (!source.load && step_i.kind == KeyIn ? {4{8'h36}} : '0);

  ram_logic #(
    .Width(32),
    .Depth(16),
    .Quiet(1'b1)
  ) u_key (
    .clk_i,
    .clear_i,
    .write_i     (went_o.sent && !step_i.kind[1]),
    .write_at_i  (step_i.place),
    .write_data_i(plain),
    .read_at_i   (step_i.place),
    .read_data_o (key_word)
  );

  // -- to the core ----------------------------------------------------------------------------------------

  // A word comes to the core from one of four registers, of which the others are zero.
  word_t beat_word_q, digest_word_q, key_word_q, low_word_q;
  logic word_valid_q, outer_length_q;
  logic own, fetch, send_valid, low_part, high_part;

  assign low_part = (Shape.big_endian ? source.length1 : source.length0) && step_i.kind != Outer;
  assign high_part = (Shape.big_endian ? source.length0 : source.length1) && step_i.kind != Outer;

  // The memory is read here, and not by the core: while the core waits for the digest's next word, or idles.
  assign own = source.memory || step_i.phase == Result;
  assign digest_o = own && !word_valid_q;
  assign fetch = digest_o && !result_hold_i;
  assign digest_word_o = swap(digest_word_q);

  assign send_valid = (source.beat && word_there) || (source.memory && !word_valid_q) || source.key || source.mark
                    || source.zero || source.length0 || source.length1;
  assign send_ready = !word_valid_q || word_ready_i;
  assign went_o.sent = send_valid && send_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) word_valid_q <= 1'b0;
    else word_valid_q <= !stop_i && (went_o.sent || (word_valid_q && !word_ready_i));
  end

  // Zero unless it is its turn: a synchronous reset, and no gate per bit.
  always_ff @(posedge clk_i) begin
    if (stop_i) beat_word_q <= '0;
    else if (send_ready) beat_word_q <= plain;

    if (stop_i || (send_ready && !own)) digest_word_q <= '0;
    else if (own ? fetch : send_ready) digest_word_q <= digest_i;

    // The key, or the high part of the length.
    if (stop_i || (send_ready && !source.key && !high_part)) key_word_q <= '0;
    else if (send_ready) key_word_q <= high_part ? bits[63:32] : key_word ^ {4{8'h36 ^ 8'h5c}};

    if (stop_i || (send_ready && !low_part)) low_word_q <= '0;
    else if (send_ready) low_word_q <= bits[31:0];

    if (stop_i) outer_length_q <= 1'b0;
    else if (send_ready)
      outer_length_q <= (Shape.big_endian ? source.length1 : source.length0) && step_i.kind == Outer;
  end

  assign word_o = beat_word_q | digest_word_q | key_word_q | low_word_q | (outer_length_q ? OuterLength : '0);
  assign word_valid_o = word_valid_q;

endmodule

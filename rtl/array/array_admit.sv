// SPDX-License-Identifier: Apache-2.0
//
// Frames into lanes, behind the one slot_shell that they share: judges what a frame asks for, puts its IV and its payload
// into its lane's buffer (a counter and OFB's IV into the lane's state; of an AEAD AAD in front of the payload, from a
// block's beginning each, and the tag behind it; of a hash that goes on, the state into the lane's, and the bits so far into
// the store), and keeps what issue and outlet need to know of it. The shell has its
// answer at once, so that its trailer says whether the frame came as announced; blocks begin behind that. Of a
// frame that is longer than a buffer they begin at once (array_long).
//
// Clocks: 2 a beat.
module array_admit
  import array_front_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // The clocks in which what is written here goes into the memories are those in which this is low.
  input logic odd_i,

  // The set that runs; of the frame on its way, what it may use.
  input set_t      set_i,
  input lane_key_t key_i,

  // The shell.
  input  header_t   header_i,
  input  request_t  frame_i,
  output response_t answer_o,
  input  stream_t   trailer_i,

  // Into the lane's buffer, or its state.
  output logic        write_o,
  output logic        to_state_o,
  output at_t         at_o,
  output logic [63:0] data_o,

  // Into the store, when nobody else writes it: bits in front of what a hash goes on with, as a big-endian number.
  output logic        bits_write_o,
  input  logic        bits_ready_i,
  output logic [63:0] bits_o,

  // In one clock, when the frame has been accepted.
  output logic           job_write_o,
  output job_t           job_o,
  // Bytes that leave the buffer: the answer, or the frame that the result is, with so many beats in front of it.
  output logic    [31:0] length_o,
  // Where a cipher's answer begins.
  output at_t            from_o,
  // Its result is a frame.
  output logic           forward_o,
  output passed_t        passed_o,
  // Bytes between the text and its tag.
  output logic    [ 2:0] gap_o,

  // A frame that is longer than a buffer, until its trailer; a beat of it is there; there is room for one.
  output logic long_o,
  output logic long_beat_o,
  input  logic long_room_i,

  // The frame came as announced, or not. Its blocks may begin; it has none.
  output logic ended_o,
  output logic [7:0] status_o,
  output logic fine_o,
  output logic ready_o,
  output logic done_o
);

  logic known_long_q, accepted_q, started_q, empty_q;
  logic wide_q, write_q, to_state_q;
  at_t count_q, at_q;
  logic [63:0] data_q;

  // It is everywhere, and changes long before a frame's header is judged by it.
  set_t set_q;
  always_ff @(posedge clk_i) set_q <= set_i;

  // -- what is asked ----------------------------------------------------------------------------------------

  // Of the header's first beat, which has been there for a clock when the second one is.
  logic ctr_q, cbc_q, cfb_q, ofb_q, front_q, hmac_q, aead_q, blocks_q, chained_q, resume_q, partial_q;
  logic [4:0] aad_blocks, aad_blocks_q;
  logic [7:0] text_beats;
  tag_t tag;
  logic no_algorithm_q, no_operation_q, no_key_q, bad_iv_q, bad_length_q;
  logic forward_q, wrong_q;
  passed_t passed_q;
  logic [10:0] secret_bytes_q;
  logic [9:0] key_bytes_q;
  logic [5:0] digest_bytes;
  logic whole;
  status_e verdict;
  number_t last_q;

  assign digest_bytes = {set_q.output_words[3:0], 2'b0};
  assign aad_blocks = header_i.aad_len[7:4] + 5'(header_i.aad_len[3:0] != '0);
  assign tag = header_i.result_len[3:2] - 2'd2;
  assign whole = header_i.payload_len[2:0] == '0 && !(wide_q && (header_i.payload_len[3] ^ passed_q[0]));

  always_ff @(posedge clk_i) begin
    logic known, plain, way, forward;
    logic [31:0] less;
    ctr_q <= header_i.op == OpCtr;
    cbc_q <= header_i.op == OpCbc;
    cfb_q <= header_i.op == OpCfb;
    ofb_q <= header_i.op == OpOfb;
    resume_q <= header_i.flags.resume;
    partial_q <= header_i.flags.partial;
    front_q <= header_i.op inside {OpCbc, OpCfb};
    hmac_q <= header_i.op == OpHmacStates;
    aead_q <= set_q.aead;
    wide_q <= set_q.input_words == 6'd4 || set_q.aead;
    // CFB decrypts with a set that encrypts.
    chained_q <= set_q.hash || set_q.aead || header_i.op == OpOfb
        || (header_i.op inside {OpCbc, OpCfb} && !header_i.flags.decrypt);
    blocks_q <= !set_q.hash && !set_q.keys && !set_q.aead && !encrypts(header_i.op);
    if (set_q.aead) known = header_i.op == OpAead;
    else if (set_q.keys) known = header_i.op == OpExpand;
    else if (set_q.hash) known = header_i.op inside {OpHash, OpHmacStates};
    else known = header_i.op inside {OpEcb, OpCbc, OpCtr, OpCfb, OpOfb};
    plain = !((header_i.flags.partial || header_i.flags.resume) && !(set_q.hash && header_i.op == OpHash))
        && !(set_q.hash && header_i.flags.decrypt);
    way = set_q.hash || (encrypts(header_i.op) ? !set_q.decrypt : header_i.flags.decrypt == set_q.decrypt);
    no_algorithm_q <= !set_q.valid || header_i.algorithm != set_q.algorithm;
    // What a cipher says of its result's length is how many beats are passed on in front of it. CBC's IV is among them.
    forward = !set_q.hash && !set_q.aead && (set_q.keys || header_i.result_len != '0);
    forward_q <= forward;
    passed_q  <= '0;
    if (forward) passed_q <= set_q.keys ? passed_t'(2) : header_i.result_len[4:0];
    no_operation_q <= !known || !plain || !way || (forward && set_q.decrypt && !set_q.keys);
    no_key_q <= !(header_i.op inside {OpHash, OpExpand}) && !key_i.key_valid;
    bad_iv_q <= header_i.iv_len != (header_i.flags.resume ? 8'd8 + 8'(digest_bytes) : set_q.aead ? 8'd12 :
                                    encrypts(
      header_i.op
    ) || (header_i.op == OpCbc && !forward) ? (set_q.input_words == 6'd4 ? 8'd16 : 8'd8) : 8'd0);
    // A result that is a state is all of it, that of whole blocks, and of one of them if none came.
    if (set_q.hash)
      bad_length_q <= header_i.result_len == '0 || header_i.result_len > 8'(digest_bytes)
          || (header_i.flags.partial && (header_i.result_len != 8'(digest_bytes) || header_i.payload_len[5:0] != '0
                                         || (header_i.payload_len == '0 && !header_i.flags.resume)));
    else if (set_q.keys) bad_length_q <= header_i.result_len != set_q.output_words;
    else if (set_q.aead)
      bad_length_q <= !(header_i.result_len inside {8'd8, 8'd12, 8'd16}) || header_i.aad_len[15:8] != '0;
    else
      bad_length_q <= forward
          && (header_i.op inside {OpCfb, OpOfb} || header_i.result_len[7:5] != '0 || header_i.result_len[4:0] < 5'd2
              + (header_i.op != OpCbc ? 5'd0 : set_q.input_words == 6'd4 ? 5'd2 : 5'd1));

    // With the room of an IV what a buffer holds, or more.
    known_long_q <= header_i.payload_len[31:4] >= 28'd127;
    empty_q <= header_i.payload_len == '0 && (header_i.flags.partial || (!set_q.hash && !set_q.aead));
    // Of a hash the block with its length, which has no room behind the last 9 bytes of a block.
    less = header_i.payload_len + ~{24'b0, passed_q, 3'b0};
    if (header_i.flags.partial) last_q <= {3'b0, less[31:6]};
    else if (set_q.hash)
      last_q <= {3'b0, header_i.payload_len[31:6]} + number_t'(header_i.payload_len[5:3] == 3'd7);
    else if (set_q.aead)
      last_q <= number_t'(header_i.payload_len[10:4]) + number_t'(header_i.payload_len[3:0] != '0)
          + number_t'(aad_blocks);
    else if (set_q.keys) last_q <= '0;
    else last_q <= wide_q ? {1'b0, less[31:4]} : less[31:3];

    // What is wrong with lengths here is said when the frame has come.
    secret_bytes_q <= 11'd16 + {3'b0, set_q.input_words, 2'b0};
    key_bytes_q <= 10'd16 + {set_q.output_words, 2'b0};
    wrong_q <= forward_q && (known_long_q || (set_q.keys ? header_i.payload_len[10:0] != secret_bytes_q
                                              : header_i.payload_len[10:0] <= {3'b0, passed_q, 3'b0}));
    // A tag of two beats lies behind all else.
    aad_blocks_q <= aad_blocks;
    if (set_q.aead)
      wrong_q <= header_i.payload_len[31:11] != '0
          || 12'(header_i.payload_len[10:0]) + 12'({aad_blocks_q, 4'b0}) > 12'((8 << BeatBits) - 16);
  end

  always_comb begin
    if (no_algorithm_q) verdict = StatusUnknownAlgorithm;
    else if (no_operation_q) verdict = StatusUnknownOperation;
    else if (header_i.flags.fresh_key) verdict = StatusBadKeyLength;
    else if (no_key_q) verdict = StatusMissingKey;
    else if (bad_iv_q) verdict = StatusBadIvLength;
    else if (bad_length_q || (blocks_q && !whole)) verdict = StatusBadLength;
    else verdict = StatusOk;
  end

  assign job_write_o = frame_i.start;
  assign job_o = '{
      way: '{
        chained: chained_q,
        cbc: cbc_q,
        cfb: cfb_q,
        ctr: ctr_q,
        ofb: ofb_q,
        resume: resume_q,
        partial: partial_q,
        hmac: hmac_q,
        aead: aead_q
      },
      area: key_i.area,
      skip: aead_q ? aad_blocks : forward_q ? passed_q : front_q ? passed_t'({wide_q, !wide_q}) : '0,
      length: header_i.payload_len,
      last: last_q,
      aad_len: header_i.aad_len[7:0],
      tag: tag
    };
  always_comb begin
    length_o = header_i.payload_len;
    if (set_q.hash) length_o = 32'(header_i.result_len);
    if (set_q.keys) length_o = 32'(key_bytes_q);
    // A tag begins with a beat of its own.
    if (aead_q && !set_q.decrypt) length_o = 32'({text_beats, 3'b0}) + 32'(header_i.result_len);
  end
  assign text_beats = header_i.payload_len[10:3] + 8'(header_i.payload_len[2:0] != '0);
  assign gap_o = aead_q && !set_q.decrypt ? -header_i.payload_len[2:0] : '0;
  // What CBC and CFB decrypt goes to where the block before lies.
  assign from_o = aead_q ? at_t'({aad_blocks, 1'b0}) :
      front_q && chained_q && !forward_q ? at_t'({wide_q, !wide_q}) : '0;
  assign forward_o = forward_q;
  assign passed_o = passed_q;

  // -- beats ------------------------------------------------------------------------------------------------

  logic ready, take, counter, hashed, bits, odd_bits_q, bits_write_q;
  logic [63:0] bits_q;

  assign ready = odd_i && (!long_o || long_room_i) && !bits_write_q;
  assign take = frame_i.valid && ready;
  // Bytes so far, and a state, which is the answer if nothing follows.
  assign hashed = frame_i.section == SecIv && resume_q;
  assign bits = take && hashed && count_q == '1;
  assign counter = frame_i.section == SecIv && (ctr_q || ofb_q || aead_q);
  assign long_beat_o = take && long_o && frame_i.section == SecPayload;

  assign answer_o = '{
      ready: ready,
      valid: 1'b0,
      done: started_q,
      beat: '0,
      length: length_o,
      verdict: verdict
    };

  assign write_o = write_q;
  assign to_state_o = to_state_q;
  assign at_o = at_q;
  assign data_o = data_q;
  assign bits_write_o = bits_write_q;
  assign bits_o = bits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {write_q, to_state_q, count_q, at_q, data_q} <= '0;
      {accepted_q, started_q, long_o} <= '0;
      {odd_bits_q, bits_write_q, bits_q} <= '0;
    end else begin
      started_q <= frame_i.start;
      write_q <= take;
      to_state_q <= counter || (hashed && !empty_q);
      at_q <= counter ? at_t'(frame_i.last && wide_q) : count_q;
      data_q <= take ? frame_i.beat : '0;
      // A nonce's counter begins with 1.
      if (take && counter && aead_q && frame_i.last) data_q[63:32] <= 32'h0100_0000;
      if (bits) begin
        bits_q       <= reversed({frame_i.beat[60:0], 3'b0});
        bits_write_q <= 1'b1;
        odd_bits_q   <= frame_i.beat[5:0] != '0;
      end else if (bits_ready_i) begin
        {bits_q, bits_write_q} <= '0;
      end
      if (frame_i.start) begin
        accepted_q <= 1'b1;
        long_o     <= known_long_q && !forward_q && !aead_q;
        count_q    <= {8{resume_q}};
      end else begin
        if (take && !counter) count_q <= hashed && frame_i.last ? '0 : count_q + 1'b1;
        // The payload begins with a block.
        if (take && frame_i.section == SecAad && frame_i.last && !count_q[0]) count_q <= count_q + 8'd2;
        if (trailer_i.valid) {accepted_q, long_o, odd_bits_q} <= '0;
      end
    end
  end

  // -- its end ----------------------------------------------------------------------------------------------

  trailer_t trailer;
  assign trailer = trailer_t'(trailer_i.data);
  assign ended_o = trailer_i.valid;
  assign status_o = (trailer.status == 8'(StatusOk) && wrong_q) || odd_bits_q ? 8'(StatusBadLength) : trailer.status;
  assign fine_o = accepted_q && status_o == 8'(StatusOk);
  assign ready_o = ended_o && !long_o && fine_o && !empty_q;
  assign done_o = ended_o && !long_o && !(fine_o && !empty_q);

endmodule

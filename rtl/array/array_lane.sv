// SPDX-License-Identifier: Apache-2.0
//
// One frame at a time behind a slot_shell: blocks of ECB, CBC and CTR, or of a hash or an HMAC with its padding. A
// block is gathered, waits for a start of the tile, and its result goes out before the next one is gathered: what
// keeps a tile busy is that there are several lanes.
//
// A small memory holds all beats: of a cipher the block (0, or 2 in turn for CBC decryption, where the block before is
// the next one's mask), the chaining value or counter (4) and what goes out (6); of a hash the block (0 to 7) and the
// state (8).
//
// Clocks of a block besides the tile's: a cipher's beats five times and 7, in CTR 3 a beat more.
module array_lane
  import array_front_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // The set that runs; what the frame may use of its keys. Both stand while there is a frame.
  input set_t      set_i,
  input lane_key_t key_i,

  // The shell.
  input  header_t   header_i,
  input  request_t  frame_i,
  output response_t answer_o,
  input  logic      answer_ready_i,

  // There is a block for the tile, which takes its beats by their number.
  output logic           block_valid_o,
  input  logic           grant_i,
  input  logic    [ 3:0] take_at_i,
  output logic    [63:0] take_data_o,
  input  result_t        result_i,

  // A state from the store.
  output logic        state_valid_o,
  output state_e      state_o,
  input  state_beat_t state_i,

  // A frame or a block is under way.
  output logic busy_o
);

  typedef enum logic [2:0] {
    Idle,
    State,  // waits for a state
    Fill,   // gathers a block
    Send,   // waits for the tile
    Count,  // adds one to the counter
    Out,    // the result leaves
    Digest  // the inner digest becomes the outer message
  } at_e;

  at_e at_q;
  logic [2:0] beat_q;  // of the block
  logic half_q;  // CBC decryption: which of its two blocks
  logic ended_q;  // all of the payload is in
  logic padded_q;  // the bit behind the message is set
  logic final_q;  // this block is the message's last one
  logic outer_q;
  logic carry_q;
  logic flight_q;  // the tile has a block
  logic done_q;
  logic reading_q, fresh_q;  // the word that leaves is being read; it is there
  logic [31:0] left_q;  // bytes of the answer still to be sent

  // -- what is asked ----------------------------------------------------------------------------------------

  // Of the header's first beat, which has been there for a clock when the second one is.
  logic ctr_q, cbc_q, hmac_q, wide_q, cbc_decrypt_q, blocks_q;
  logic no_algorithm_q, no_operation_q, no_key_q, bad_iv_q, bad_length_q;
  // Of the second one, a clock later.
  logic empty_q;
  logic [7:0] keep_q, mark_q;  // of the message's last beat: bytes, and where the bit behind them is
  logic [63:0] length_q;
  logic [2:0] last_beat_q, digest_last_q, digest_words_q;
  logic [5:0] digest_bytes;
  logic whole;
  status_e verdict;

  assign digest_bytes = {set_i.output_words, 2'b0};
  assign whole = header_i.payload_len[2:0] == '0 && !(wide_q && header_i.payload_len[3]);

  always_ff @(posedge clk_i) begin
    logic known, plain, way;
    ctr_q         <= header_i.op == OpCtr;
    cbc_q         <= header_i.op == OpCbc;
    hmac_q        <= header_i.op == OpHmacStates;
    wide_q        <= set_i.input_words == 6'd4;
    cbc_decrypt_q <= header_i.op == OpCbc && set_i.decrypt;
    blocks_q      <= !set_i.hash && header_i.op != OpCtr;
    known = set_i.hash ? header_i.op inside {OpHash, OpHmacStates} : header_i.op inside {OpEcb, OpCbc, OpCtr};
    plain = !header_i.flags.partial && !header_i.flags.resume && !(set_i.hash && header_i.flags.decrypt);
    way = set_i.hash || (header_i.op == OpCtr ? !set_i.decrypt : header_i.flags.decrypt == set_i.decrypt);
    no_algorithm_q <= !set_i.valid || header_i.algorithm != set_i.algorithm;
    no_operation_q <= !known || !plain || !way;
    no_key_q <= header_i.op != OpHash && !key_i.key_valid;
    bad_iv_q <= header_i.iv_len != (header_i.op inside {OpCtr, OpCbc} ?
                                    (set_i.input_words == 6'd4 ? 8'd16 : 8'd8) : 8'd0);
    bad_length_q <= set_i.hash ? header_i.result_len == '0 || header_i.result_len > 8'(digest_bytes)
        : header_i.result_len != '0;

    empty_q <= header_i.payload_len == '0;
    for (int unsigned i = 0; i < 8; i++) begin
      keep_q[i] <= header_i.payload_len[2:0] == '0 || 3'(i) < header_i.payload_len[2:0];
      mark_q[i] <= header_i.payload_len[2:0] != '0 && 3'(i) == header_i.payload_len[2:0];
    end
    length_q <= {29'b0, outer_q ? 32'(digest_bytes) : header_i.payload_len, 3'b0} + (hmac_q ? 64'd512 : 64'd0);
    last_beat_q <= set_i.hash ? 3'd7 : {2'b0, set_i.input_words == 6'd4};
    digest_words_q <= digest_bytes[5:3];
    digest_last_q <= 3'(digest_bytes[5:3] + 3'(digest_bytes[2:0] != '0) - 3'd1);
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

  // -- the memory -------------------------------------------------------------------------------------------

  // What is decided in one clock is read and put together in the next three and written behind them: whoever reads what
  // was written waits until all of it is in.
  logic write, settled;
  logic [3:0] write_at, read_at;
  logic [63:0] source, sum, data;
  logic mask, count, digest, half;
  typedef struct packed {
    logic        valid;
    logic        mask;
    logic        count;
    logic        digest;
    logic        half;
    logic [3:0]  at;
    logic [63:0] source;
  } write_t;

  write_t next, z_q, a_q;
  logic b_valid_q, carry;
  logic [3:0] b_at_q, read_at_q;
  logic [63:0] read_q, b_data_q, read_data;

  assign next    = '{write, mask, count, digest, half, write_at, source};
  assign settled = !z_q.valid && !a_q.valid && !b_valid_q;

  ram_logic #(
    .Width(64),
    .Depth(16)
  ) u_beats (
    .clk_i,
    .clear_i,
    .write_i     (b_valid_q),
    .write_at_i  (b_at_q),
    .write_data_i(b_data_q),
    .read_at_i   (read_at_q),
    .read_data_o (read_data)
  );

  // Big-endian, from the last beat on.
  assign {carry, sum} = {1'b0, reversed(read_q)} + 65'(carry_q);

  always_comb begin
    data = a_q.source ^ (a_q.mask ? read_q : '0);
    if (a_q.count) data = reversed(sum);
    if (a_q.digest) begin
      data = swapped_pair(read_q, set_i.swap_out);
      if (a_q.half) data = low_bytes(data, 3'd4) | 64'h80 << 32;
    end
  end

  always_ff @(posedge clk_i) begin
    read_at_q <= read_at;
    read_q    <= read_data;
    z_q       <= next;
    a_q       <= z_q;
    b_valid_q <= a_q.valid;
    b_at_q    <= a_q.at;
    b_data_q  <= data;
    if (!rst_ni) {z_q.valid, a_q.valid, b_valid_q} <= '0;
  end

  // -- beats ------------------------------------------------------------------------------------------------

  logic take, iv, pad, full, out_take, out_last, step;

  assign iv   = frame_i.valid && frame_i.section == SecIv;
  assign take = frame_i.valid && frame_i.section == SecPayload && at_q == Fill && !ended_q && settled;
  assign pad  = at_q == Fill && set_i.hash && ended_q;
  assign step = (at_q == Count || at_q == Digest) && settled;
  assign full = beat_q == last_beat_q;

  // A cipher's block, its mask and what leaves.
  logic [2:0] block_at_q, mask_at_q, out_at_q;

  always_ff @(posedge clk_i) begin
    block_at_q <= {1'b0, ctr_q, cbc_decrypt_q && half_q};
    mask_at_q  <= {2'b0, cbc_decrypt_q && !half_q};
    out_at_q   <= {2'b01, !(cbc_q && !cbc_decrypt_q)};
  end

  always_comb begin
    write    = 1'b0;
    write_at = {1'b0, beat_q};
    read_at  = {2'b01, 1'b0, beat_q[0]};
    mask     = 1'b0;
    count    = 1'b0;
    digest   = 1'b0;
    half     = 1'b0;
    unique case (at_q)
      Idle: ;
      State: begin
        write    = state_i.valid;
        write_at = {2'b10, state_i.index};
      end
      Fill: begin
        write = take || pad;
        if (!set_i.hash) write_at = {2'b0, cbc_decrypt_q && half_q, beat_q[0]};
        mask = cbc_q && !cbc_decrypt_q && !set_i.hash;
      end
      Send: begin
        write = result_i.valid;
        write_at = set_i.hash ? {2'b10, result_i.index} : {out_at_q, result_i.index[0]};
        mask = result_i.valid && !set_i.hash && (ctr_q || cbc_decrypt_q);
        // The mask: the data of CTR, the block before of CBC decryption.
        if (result_i.valid) read_at = {mask_at_q, result_i.index[0]};
        else if (set_i.hash) read_at = take_at_i;
        else read_at = {block_at_q, take_at_i[0]};
      end
      Count: begin
        write    = step;
        write_at = {3'b010, beat_q[0]};
        count    = step;
      end
      Out:  read_at = set_i.hash ? {1'b1, beat_q} : {out_at_q, beat_q[0]};
      default: begin
        read_at = {1'b1, beat_q};
        write   = step;
        digest  = step;
        half    = beat_q == digest_words_q;
      end
    endcase
    // IVs come before any block. What CBC decrypts has its in the place of the block before the first one.
    if (iv) begin
      write    = 1'b1;
      write_at = {1'b0, !cbc_decrypt_q, cbc_decrypt_q, frame_i.last && wide_q};
      mask     = 1'b0;
    end
  end

  // A payload's beat, of a message with the bit behind its end; what follows it; a state; a result.
  always_comb begin
    logic [63:0] beat, tail;
    tail = '0;
    if (!padded_q) tail = 64'h80;
    else if (full) tail = set_i.swap_in ? reversed(length_q) : length_q;
    for (int unsigned i = 0; i < 8; i++) begin
      beat[8*i+:8] = frame_i.beat[8*i+:8] & {8{!set_i.hash || !frame_i.last || keep_q[i]}};
      beat[8*i+7] |= set_i.hash && frame_i.last && mark_q[i];
    end
    unique case (at_q)
      State:   source = state_i.data;
      Send:    source = result_i.data;
      Fill:    source = pad ? tail : beat;
      default: source = '0;
    endcase
  end

  assign take_data_o = read_q;
  assign block_valid_o = at_q == Send && !flight_q && settled;
  assign state_valid_o = at_q == State;
  assign state_o = !hmac_q ? StateFirst : outer_q ? StateOuter : StateInner;
  assign busy_o = at_q != Idle || flight_q;

  // -- the answer -------------------------------------------------------------------------------------------

  // Of the bytes that are left, a clock late: a beat is read for two clocks before it leaves.
  logic out_done_q;
  logic [7:0] out_keep_q;
  logic [63:0] out_data;

  always_ff @(posedge clk_i) begin
    out_done_q <= left_q <= 32'd8;
    for (int unsigned i = 0; i < 8; i++) out_keep_q[i] <= left_q > 32'(i);
  end

  always_comb begin
    out_data = set_i.hash ? swapped_pair(read_q, set_i.swap_out) : read_q;
    for (int unsigned i = 0; i < 8; i++) out_data[8*i+:8] &= {8{fresh_q && out_keep_q[i]}};
  end

  assign out_last = out_done_q || full;
  assign out_take = fresh_q && answer_ready_i;

  assign answer_o = '{
      ready: frame_i.section == SecIv || (at_q == Fill && !ended_q && settled),
      valid: fresh_q,
      done: done_q,
      beat: out_data,
      length: set_i.hash ? 32'(header_i.result_len) : header_i.payload_len,
      verdict: verdict
    };

  // -- the frame --------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q      <= Idle;
      beat_q    <= '0;
      half_q    <= 1'b0;
      ended_q   <= 1'b0;
      padded_q  <= 1'b0;
      final_q   <= 1'b0;
      outer_q   <= 1'b0;
      carry_q   <= 1'b0;
      flight_q  <= 1'b0;
      done_q    <= 1'b0;
      fresh_q   <= 1'b0;
      reading_q <= 1'b0;
      left_q    <= '0;
    end else begin
      done_q <= 1'b0;
      reading_q <= at_q == Out && settled && !out_take;
      fresh_q <= at_q == Out && reading_q && !out_take;
      if (grant_i) flight_q <= 1'b1;
      else if (result_i.valid && result_i.last) flight_q <= 1'b0;
      if (a_q.count) carry_q <= carry;

      unique case (at_q)
        Idle:  ;
        State: if (state_i.valid && state_i.index == '1) at_q <= Fill;
        Fill: begin
          if (take || pad) begin
            beat_q <= beat_q + 1'b1;
            if (take && frame_i.last) begin
              ended_q  <= 1'b1;
              padded_q <= header_i.payload_len[2:0] != '0;
            end
            if (pad) padded_q <= 1'b1;
            if (full || (!set_i.hash && frame_i.last)) begin
              at_q    <= Send;
              beat_q  <= '0;
              final_q <= pad && padded_q;
            end
          end
        end
        Send: begin
          if (flight_q && result_i.valid && result_i.last) begin
            carry_q <= 1'b1;
            if (!set_i.hash) at_q <= ctr_q ? Count : Out;
            else if (!final_q) at_q <= Fill;
            else at_q <= hmac_q && !outer_q ? Digest : Out;
            if (!set_i.hash && ctr_q) beat_q <= last_beat_q;
          end
        end
        Count: begin
          if (step) begin
            beat_q <= '0;
            if (beat_q == '0) at_q <= Out;
          end
        end
        Out: begin
          if (out_take) begin
            left_q <= left_q - 32'd8;
            beat_q <= out_last ? '0 : beat_q + 1'b1;
            if (out_last) begin
              at_q   <= out_done_q ? Idle : Fill;
              done_q <= out_done_q;
              half_q <= !half_q;
            end
          end
        end
        default: begin
          if (step) begin
            beat_q <= beat_q + 1'b1;
            if (beat_q == digest_last_q) begin
              at_q     <= State;
              outer_q  <= 1'b1;
              padded_q <= digest_bytes[2:0] != '0;
            end
          end
        end
      endcase

      if (frame_i.start) begin
        beat_q   <= '0;
        half_q   <= 1'b0;
        ended_q  <= empty_q;
        padded_q <= 1'b0;
        final_q  <= 1'b0;
        outer_q  <= 1'b0;
        left_q   <= set_i.hash ? 32'(header_i.result_len) : header_i.payload_len;
        if (set_i.hash) at_q <= State;
        else if (empty_q) done_q <= 1'b1;
        else at_q <= Fill;
      end
      if (frame_i.drop || clear_i.active) begin
        at_q    <= Idle;
        done_q  <= 1'b0;
        fresh_q <= 1'b0;
        reading_q <= 1'b0;
        carry_q <= 1'b0;
        left_q  <= '0;
      end
    end
  end

endmodule

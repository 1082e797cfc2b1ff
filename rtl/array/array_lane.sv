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
// Clocks of a block besides the tile's: a cipher's beats twice and 3, in CTR 2 more.
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
  logic [31:0] left_q;  // bytes of the answer still to be sent

  // -- what is asked ----------------------------------------------------------------------------------------

  logic ctr, cbc, hmac, wide, cbc_decrypt;
  logic [5:0] digest_bytes;
  status_e verdict;

  assign ctr          = header_i.op == OpCtr;
  assign cbc          = header_i.op == OpCbc;
  assign hmac         = header_i.op == OpHmacStates;
  assign wide         = set_i.input_words == 6'd4;
  assign cbc_decrypt  = cbc && set_i.decrypt;
  assign digest_bytes = {set_i.output_words, 2'b0};

  always_comb begin
    logic known, plain, iv_good, whole;
    known = set_i.hash ? header_i.op inside {OpHash, OpHmacStates} : header_i.op inside {OpEcb, OpCbc, OpCtr};
    plain = !header_i.flags.partial && !header_i.flags.resume && !(set_i.hash && header_i.flags.decrypt);
    iv_good = header_i.iv_len == (ctr || cbc ? (wide ? 8'd16 : 8'd8) : 8'd0);
    whole = header_i.payload_len[2:0] == '0 && !(wide && header_i.payload_len[3]);
    if (!set_i.valid || header_i.algorithm != set_i.algorithm) verdict = StatusUnknownAlgorithm;
    else if (!known || !plain || !serves(set_i, header_i)) verdict = StatusUnknownOperation;
    else if (header_i.flags.fresh_key) verdict = StatusBadKeyLength;
    else if (header_i.op != OpHash && !key_i.key_valid) verdict = StatusMissingKey;
    else if (!iv_good) verdict = StatusBadIvLength;
    else if (set_i.hash ? header_i.result_len == '0 || header_i.result_len > 8'(digest_bytes)
        : header_i.result_len != '0 || (!ctr && !whole))
      verdict = StatusBadLength;
    else verdict = StatusOk;
  end

  // -- the memory -------------------------------------------------------------------------------------------

  logic write;
  logic [3:0] write_at, read_at;
  logic [63:0] write_data, read_data;

  ram_logic #(
    .Width(64),
    .Depth(16)
  ) u_beats (
    .clk_i,
    .clear_i,
    .write_i     (write),
    .write_at_i  (write_at),
    .write_data_i(write_data),
    .read_at_i   (read_at),
    .read_data_o (read_data)
  );

  // -- beats ------------------------------------------------------------------------------------------------

  logic [2:0] last_beat;  // of a block
  logic take, out_take, full, out_last, out_done;
  logic [63:0] number, length_bits, out_data, message;
  logic [2:0] digest_rest;

  assign last_beat   = set_i.hash ? 3'd7 : {2'b0, wide};
  assign take        = frame_i.valid && answer_o.ready && frame_i.section == SecPayload;
  assign full        = beat_q == last_beat;
  assign digest_rest = digest_bytes[2:0];

  // Big-endian, from the last beat on.
  assign number      = reversed(read_data) + 64'(carry_q);

  always_comb begin
    length_bits = {29'b0, outer_q ? 32'(digest_bytes) : header_i.payload_len, 3'b0} + (hmac ? 64'd512 : 64'd0);
    if (set_i.swap_in) length_bits = reversed(length_bits);
  end

  // A payload's beat with the bit behind its end.
  assign message = low_bytes(
    frame_i.beat, frame_i.last ? header_i.payload_len[2:0] : 3'd0
  ) | (frame_i.last && header_i.payload_len[2:0] != '0 ? 64'h80 << {header_i.payload_len[2:0], 3'b0} : '0);

  always_comb begin
    write      = 1'b0;
    write_at   = {1'b0, beat_q};
    write_data = '0;
    read_at    = {2'b01, 1'b0, beat_q[0]};
    unique case (at_q)
      Idle: ;
      State: begin
        write      = state_i.valid;
        write_at   = {2'b10, state_i.index};
        write_data = state_i.data;
      end
      Fill: begin
        if (set_i.hash) begin
          write      = take || ended_q;
          write_data = message;
          if (ended_q) begin
            write_data = '0;
            if (!padded_q) write_data = 64'h80;
            else if (full) write_data = length_bits;
          end
        end else begin
          write      = take;
          write_at   = {2'b0, cbc_decrypt && half_q, beat_q[0]};
          write_data = frame_i.beat ^ (cbc && !cbc_decrypt ? read_data : '0);
        end
      end
      Send: begin
        if (result_i.valid) begin
          // The mask: the data of CTR, the block before of CBC decryption.
          read_at = {2'b0, cbc_decrypt && !half_q, result_i.index[0]};
          write = 1'b1;
          write_at   = set_i.hash ? {2'b10, result_i.index} : {2'b01, !(cbc && !cbc_decrypt), result_i.index[0]};
          write_data = result_i.data ^ (!set_i.hash && (ctr || cbc_decrypt) ? read_data : '0);
        end else if (set_i.hash) begin
          read_at = take_at_i;
        end else begin
          read_at = {1'b0, ctr, cbc_decrypt && half_q, take_at_i[0]};
        end
      end
      Count: begin
        write      = 1'b1;
        write_at   = {3'b010, beat_q[0]};
        write_data = reversed(number);
      end
      Out:  read_at = set_i.hash ? {1'b1, beat_q} : {2'b01, !(cbc && !cbc_decrypt), beat_q[0]};
      default: begin
        read_at    = {1'b1, beat_q};
        write      = 1'b1;
        write_data = swapped_pair(read_data, set_i.swap_out);
        if (6'(beat_q) == 6'(digest_bytes[5:3])) write_data = low_bytes(write_data, 3'd4) | 64'h80 << 32;
      end
    endcase
    // IVs come before any block. What CBC decrypts has its in the place of the block before the first one.
    if (frame_i.valid && frame_i.section == SecIv) begin
      write      = 1'b1;
      write_at   = {1'b0, !cbc_decrypt, cbc_decrypt, frame_i.last && wide};
      write_data = frame_i.beat;
    end
  end

  assign take_data_o = read_data;
  assign block_valid_o = at_q == Send && !flight_q;
  assign state_valid_o = at_q == State;
  assign state_o = !hmac ? StateFirst : outer_q ? StateOuter : StateInner;
  assign busy_o = at_q != Idle || flight_q;

  // -- the answer -------------------------------------------------------------------------------------------

  assign out_data = set_i.hash ? swapped_pair(read_data, set_i.swap_out) : read_data;
  assign out_done = left_q <= 32'd8;
  assign out_last = out_done || full;
  assign out_take = at_q == Out && answer_ready_i;

  assign answer_o = '{
      ready: frame_i.section == SecIv || (at_q == Fill && !ended_q),
      valid: at_q == Out,
      done: done_q,
      beat: at_q == Out ? low_bytes(out_data, out_done ? left_q[2:0] : 3'd0) : '0,
      length: set_i.hash ? 32'(header_i.result_len) : header_i.payload_len,
      verdict: verdict
    };

  // -- the frame --------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q     <= Idle;
      beat_q   <= '0;
      half_q   <= 1'b0;
      ended_q  <= 1'b0;
      padded_q <= 1'b0;
      final_q  <= 1'b0;
      outer_q  <= 1'b0;
      carry_q  <= 1'b0;
      flight_q <= 1'b0;
      done_q   <= 1'b0;
      left_q   <= '0;
    end else begin
      done_q <= 1'b0;
      if (grant_i) flight_q <= 1'b1;
      else if (result_i.valid && result_i.last) flight_q <= 1'b0;

      unique case (at_q)
        Idle:  ;
        State: if (state_i.valid && state_i.index == '1) at_q <= Fill;
        Fill: begin
          if (take || (set_i.hash && ended_q)) begin
            beat_q <= beat_q + 1'b1;
            if (take && frame_i.last) begin
              ended_q  <= 1'b1;
              padded_q <= header_i.payload_len[2:0] != '0;
            end
            if (set_i.hash && ended_q) padded_q <= 1'b1;
            if (full || (!set_i.hash && frame_i.last)) begin
              at_q    <= Send;
              beat_q  <= '0;
              final_q <= set_i.hash && ended_q && padded_q;
            end
          end
        end
        Send: begin
          if (flight_q && result_i.valid && result_i.last) begin
            carry_q <= 1'b1;
            if (!set_i.hash) at_q <= ctr ? Count : Out;
            else if (!final_q) at_q <= Fill;
            else at_q <= hmac && !outer_q ? Digest : Out;
            if (!set_i.hash && ctr) beat_q <= last_beat;
          end
        end
        Count: begin
          carry_q <= carry_q && number == '0;
          beat_q  <= '0;
          if (beat_q == '0) at_q <= Out;
        end
        Out: begin
          if (out_take) begin
            left_q <= left_q - 32'd8;
            beat_q <= out_last ? '0 : beat_q + 1'b1;
            if (out_last) begin
              at_q   <= out_done ? Idle : Fill;
              done_q <= out_done;
              half_q <= !half_q;
            end
          end
        end
        default: begin
          beat_q <= beat_q + 1'b1;
          if (6'(beat_q) + 6'd1 == 6'(digest_bytes[5:3]) + 6'(digest_rest != '0)) begin
            at_q     <= State;
            outer_q  <= 1'b1;
            padded_q <= digest_rest != '0;
          end
        end
      endcase

      if (frame_i.start) begin
        beat_q   <= '0;
        half_q   <= 1'b0;
        ended_q  <= header_i.payload_len == '0;
        padded_q <= 1'b0;
        final_q  <= 1'b0;
        outer_q  <= 1'b0;
        left_q   <= set_i.hash ? 32'(header_i.result_len) : header_i.payload_len;
        if (set_i.hash) at_q <= State;
        else if (header_i.payload_len == '0) done_q <= 1'b1;
        else at_q <= Fill;
      end
      if (frame_i.drop || clear_i.active) begin
        at_q    <= Idle;
        done_q  <= 1'b0;
        carry_q <= 1'b0;
        left_q  <= '0;
      end
    end
  end

endmodule

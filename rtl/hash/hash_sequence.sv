// SPDX-License-Identifier: Apache-2.0
//
// What a frame does next, in hash_modes: its key's inner and outer block, the message, the outer hash, the result.
//
// Clocks: see hash_modes.
module hash_sequence
  import core_pkg::*;
  import hash_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input  header_t header_i,
  input  request_t  frame_i,
  // The frame is over, or its data are to be forgotten.
  output logic    stop_o,
  output step_t   step_o,

  // From hash_words, and to and from the core.
  input  went_t     went_i,
  input  logic      word_valid_i,
  output logic      core_stop_o,
  output logic      core_start_o,
  input  hash_rsp_t rsp_i,

  // Of the kept key.
  output logic     drop_o,
  output logic     keep_o,
  output logic     keyed_o,
  output logic     lost_o,
  input  key_rsp_t key_i,

  // A word of the result goes, and the last beat of it.
  input logic result_step_i,
  input logic done_i
);

  step_t step_d, step_q;
  source_t source;
  logic start_q, abort_q, abort2_q;
  logic payload_any_q, key_any_q;  // there are bytes
  logic is_hash, fresh_key, settled, load_last, send_last, last_word;

  assign is_hash = header_i.op == OpHash;
  assign fresh_key = header_i.flags.fresh_key;
  // A core of two ways looks at each of them in every second clock, and begins by itself when it has a block.
  assign core_stop_o = abort_q || (Shape.ways > 1 && abort2_q);
  assign stop_o = clear_i.active || core_stop_o;
  assign core_start_o = step_q.phase == Touch
                      || (Shape.ways == 1 && (word_valid_i || (step_q.phase == Send && step_q.kind != Outer)));
  assign step_o = step_q;

  // A key that is not set up yet is lost with its frame.
  assign lost_o = abort_q && !is_hash && !step_q.kind[1];

  assign last_word = step_q.place == 4'(Shape.state_bytes / 4 - 1);
  assign settled = step_q.phase == Settle && rsp_i.idle[0] && !word_valid_i;
  assign load_last = went_i.load && last_word && (step_q.second || step_q.kind == Message);
  assign send_last = step_q.source.length1 || (step_q.source.beat && went_i.section_end && header_i.flags.partial)
                   || (step_q.place == '1 && !step_q.kind[1]);

  // -- what the word that follows is made from ------------------------------------------------------------

  logic message_end, padding, digest_end;

  assign source = step_q.source;
  assign message_end = source.beat && went_i.section_end;
  assign digest_end = step_q.place == 4'(Shape.digest_bytes / 4 - 1);
  assign padding = (message_end && went_i.ended_inside) || source.mark || source.zero;

  always_comb begin
    step_d.source = '0;
    unique case (step_q.phase)
      Idle:
      if (start_q) begin
        if (fresh_key ? header_i.op == OpHmacStates : header_i.flags.resume) step_d.source.load = 1'b1;
        else begin
          step_d.source.beat = fresh_key && key_any_q;
          step_d.source.zero = fresh_key && !key_any_q;
        end
      end
      Load:    step_d.source.load = source.load && !load_last;
      Send: begin
        if (!went_i.sent) step_d.source = source;
        else if (!send_last) begin
          step_d.source.key = source.key;
          step_d.source.memory = source.memory && !digest_end;
          step_d.source.beat = source.beat && !went_i.section_end;
          step_d.source.mark = (source.memory && digest_end)
                             || (message_end && step_q.kind[1] && !went_i.ended_inside);
          step_d.source.zero = ((message_end && !step_q.kind[1]) || padding)
                             && (step_q.place != 4'd13 || !step_q.kind[1]);
          step_d.source.length0 = padding && step_q.place == 4'd13 && step_q.kind[1];
          step_d.source.length1 = source.length0;
        end
      end
      Settle: begin
        step_d.source.key    = settled && step_q.kind == KeyIn;
        step_d.source.beat   = settled && step_q.kind == KeyOut && payload_any_q;
        step_d.source.mark   = settled && step_q.kind == KeyOut && !payload_any_q && !header_i.flags.partial;
        step_d.source.memory = settled && step_q.kind == Message && !is_hash;
      end
      default: step_d.source = '0;
    endcase
  end

  // -- where the frame is ---------------------------------------------------------------------------------

  always_comb begin
    step_d.phase   = step_q.phase;
    step_d.kind    = step_q.kind;
    step_d.place   = step_q.place;
    step_d.second  = step_q.second;
    step_d.half    = step_q.half;
    step_d.counted = step_q.counted;
    step_d.first   = step_q.first && !rsp_i.state_last;
    step_d.region  = rsp_i.state_last ? Running : step_q.region;
    drop_o         = 1'b0;
    keep_o         = 1'b0;
    keyed_o        = 1'b0;

    unique case (step_q.phase)
      Idle: begin
        step_d.place   = '0;
        step_d.second  = 1'b0;
        step_d.half    = 1'b0;
        step_d.counted = fresh_key;
        step_d.first   = 1'b1;
        step_d.region  = Running;
        if (start_q) begin
          drop_o = fresh_key;
          if (fresh_key) begin
            step_d.kind  = KeyIn;
            step_d.phase = header_i.op == OpHmacStates ? Load : Send;
          end else if (Shape.ways > 1 && !is_hash) begin
            step_d.kind  = KeyOut;
            step_d.phase = Copy;
          end else begin
            step_d.kind  = header_i.flags.resume ? Message : KeyOut;
            step_d.phase = header_i.flags.resume ? Load : Settle;
          end
        end
      end
      Load, Copy: begin
        if (went_i.take) begin
          step_d.half    = went_i.half;
          step_d.counted = step_q.counted || step_q.half;
        end
        if (step_q.phase == Copy ? key_i.next : went_i.load) begin
          step_d.place = step_q.place + 4'd1;
          if (last_word) begin
            step_d.place  = '0;
            step_d.second = 1'b1;
            if (step_q.phase == Copy && step_q.second) step_d.phase = Settle;
          end
        end
        if (step_q.phase == Load && source == '0) begin
          step_d.phase = Settle;
          step_d.kind  = KeyOut;
        end
      end
      Send: begin
        if (went_i.sent) begin
          step_d.place = step_q.place + 4'd1;
          if (source.beat) step_d.half = went_i.half;
        end
        if (source == '0) step_d.phase = Settle;
      end
      Touch: if (!rsp_i.idle[0]) step_d.phase = Settle;
      Settle: begin
        step_d.place = '0;
        step_d.half  = 1'b0;
        if (settled) begin
          step_d.phase = Send;
          unique case (step_q.kind)
            KeyIn: begin
              step_d.kind  = KeyOut;
              step_d.first = 1'b1;
            end
            // The key, if there is one, is kept; the message begins.
            KeyOut: begin
              step_d.kind   = Message;
              keep_o        = !is_hash;
              keyed_o       = 1'b1;
              step_d.first  = is_hash && !header_i.flags.resume;
              step_d.region = is_hash ? Running : OfInner;
              if (header_i.flags.partial && !payload_any_q) step_d.phase = Touch;
            end
            Message: begin
              step_d.kind   = Outer;
              step_d.region = OfOuter;
              if (is_hash) step_d.phase = Result;
            end
            default: step_d.phase = Result;
          endcase
        end
      end
      default: begin
        if (result_step_i) begin
          step_d.half  = !step_q.half;
          step_d.place = step_q.place + 4'd1;
        end
        if (done_i) step_d.phase = Idle;
      end
    endcase
  end

  // The first clock after a reset is one of a clear, and so a synchronous reset is enough for most.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {start_q, abort_q, abort2_q} <= '0;
    else {start_q, abort_q, abort2_q} <= {frame_i.start, frame_i.drop, abort_q};
  end

  always_ff @(posedge clk_i) begin
    payload_any_q <= header_i.payload_len != '0;
    key_any_q     <= header_i.key_len != '0;
    if (clear_i.active || abort_q) step_q <= '{phase: Idle, kind: Message, region: Running, default: '0};
    else step_q <= step_d;
    if (stop_o) step_q.source <= '0;
  end

endmodule

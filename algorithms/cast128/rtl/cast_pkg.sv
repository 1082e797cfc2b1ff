// SPDX-License-Identifier: Apache-2.0
//
// What CAST-128 (RFC 2144) and CAST-256 (RFC 2612) share: words, the three kinds of round function, the
// rotation. Words are big-endian in keys and blocks.
package cast_pkg;

  typedef logic [31:0] word_t;

  // f1, f2 and f3 (RFC 2144, 2.2).
  typedef enum logic [1:0] {
    Kind1 = 2'b00,
    Kind2 = 2'b01,
    Kind3 = 2'b10
  } kind_e;

  // A masking or a rotation that a schedule has made.
  typedef struct packed {
    logic       valid;
    logic       rotation;
    logic [5:0] index;     // of the round key
    word_t      word;
  } made_t;

  // What a round needs of its key.
  typedef struct packed {
    kind_e      kind;
    word_t      mask;
    logic [4:0] rotate;
  } round_key_t;

  // What a round makes: the new word is target ^ f, or target if not live, and what is looked up next comes from
  // feed ^ f, or from feed alone.
  typedef struct packed {
    logic  live;
    word_t target;
    logic  feed_live;
    word_t feed;
  } way_t;

  // CAST-128: of rounds 0 to 15 (RFC 2144, 2.2).
  function automatic kind_e cast128_kind(input logic [3:0] round);
    unique case (round)
      4'd0, 4'd3, 4'd6, 4'd9, 4'd12, 4'd15: return Kind1;
      4'd1, 4'd4, 4'd7, 4'd10, 4'd13: return Kind2;
      default: return Kind3;
    endcase
  endfunction

  // A word from its bytes, the first of which is in bits 7:0.
  function automatic word_t swap(input word_t x);
    return {<<8{x}};
  endfunction

  // Left by r: by bytes, then by bits, which is two wide multiplexers.
  function automatic word_t rotate_left(input word_t x, input logic [4:0] r);
    word_t y;
    unique case (r[4:3])
      2'd0: y = x;
      2'd1: y = {x[23:0], x[31:24]};
      2'd2: y = {x[15:0], x[31:16]};
      default: y = {x[7:0], x[31:8]};
    endcase
    unique case (r[2:0])
      3'd0: return y;
      3'd1: return {y[30:0], y[31]};
      3'd2: return {y[29:0], y[31:30]};
      3'd3: return {y[28:0], y[31:29]};
      3'd4: return {y[27:0], y[31:28]};
      3'd5: return {y[26:0], y[31:27]};
      3'd6: return {y[25:0], y[31:26]};
      default: return {y[24:0], y[31:25]};
    endcase
  endfunction

endpackage

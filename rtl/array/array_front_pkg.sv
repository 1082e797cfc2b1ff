// SPDX-License-Identifier: Apache-2.0
//
// What is between the slot boundary and a tile: the two kinds of frame that only an array knows, why they are
// refused, and what a bank's set says of itself. docs/array.md explains every field.
package array_front_pkg;
  import array_pkg::*;
  import slot_pkg::*;

  // Byte 1 of a frame: the payload is a context set; it is the words of a key; it is what a set makes a key's words of.
  localparam logic [7:0] OpLoad = 8'h51;
  localparam logic [7:0] OpKey = 8'h52;
  localparam logic [7:0] OpExpand = 8'h53;

  // Statuses behind those of slot_pkg.
  localparam logic [7:0] StatusBadSet = 8'd10;  // it contradicts itself, or is of another format
  localparam logic [7:0] StatusOtherArray = 8'd11;  // it was compiled for another shape
  localparam logic [7:0] StatusBadCrc = 8'd12;
  localparam logic [7:0] StatusNotForwarded = 8'd13;  // its result is a frame that no tile takes
  localparam logic [7:0] StatusBadTag = 8'd16;  // the tag is not that of the text

  // Keys of a bank: areas of its part of the key memories, which are 4, 2 or 1 by the words of a key.
  localparam int unsigned KeyRoom = ((1 << KeyWordBits) - (2 << ConstantBits)) / 2;
  localparam int unsigned Areas = 4;

  typedef logic [1:0] area_t;

  // A bank's set.
  typedef struct packed {
    logic valid;
    logic hash;
    logic keys;  // its results are the words of keys
    logic aead;  // its blocks are of counter, text, sum and mask, its results of sum, text and tag
    logic [7:0] algorithm;
    logic decrypt;
    logic swap_in;  // bytes of a word: the highest one first
    logic swap_out;
    logic permuted;  // DES
    logic [7:0] last_context;
    logic [11:0] latency;
    logic [5:0] input_words;
    logic [7:0] output_words;
    logic [7:0] key_words;
    logic [8:0] memory_stride;
  } set_t;

  // Keys of a bank: where the last one lies, if there is one; another bank that serves the same frames had a later one.
  typedef struct packed {
    logic  valid;
    logic  stale;
    area_t area;
  } keys_t;

  // What intake has found out for the frame that a lane is given.
  typedef struct packed {
    logic  key_valid;
    area_t area;
  } lane_key_t;

  // Ways of a tile that a set is for, and as many as a tile may have.
  localparam int unsigned WaysMost = 2;

  // A lane, and a beat of its buffer, which goes round.
  localparam int unsigned BeatBits = 8;
  typedef logic [3:0] lane_t;
  typedef logic [BeatBits-1:0] at_t;

  // What a block of a frame has to be told: that it waits for the one before (CBC and CFB encryption, OFB, a hash, an AEAD's
  // sum); that an IV lies in front of the payload, and in CFB is what is enciphered; that it is a counter, or the last
  // result as it was; that a hash goes on with a state that came, or ends with its state; that an outer hash follows; that
  // AAD lies in front of the payload, and the tag behind it.
  typedef struct packed {
    logic chained;
    logic cbc;
    logic cfb;
    logic ctr;
    logic ofb;
    logic resume;
    logic partial;
    logic hmac;
    logic aead;
  } way_t;

  // Bytes of an AEAD's tag, less 8, in fours.
  typedef logic [1:0] tag_t;

  // Of a frame whose result is a frame as well, beats that are passed on in front of the result.
  typedef logic [4:0] passed_t;

  // A frame's blocks: beats in front of the first one, bytes of the message, and the number of the last one. Of an AEAD
  // blocks of AAD, which are the first ones; its last one is that of lengths.
  typedef logic [28:0] number_t;
  typedef struct packed {
    way_t        way;
    area_t       area;
    passed_t     skip;
    logic [31:0] length;
    number_t     last;
    logic [7:0]  aad_len;
    tag_t        tag;
  } job_t;

  // A block that is in the tile: where it lies in its lane's buffer, whether the result is combined with a beat of the
  // buffer and whether it goes to where the block before lies (CBC and CFB decryption), whether it goes into the lane's
  // state as well, before it is combined (OFB), whether it is the frame's last one, or the last one of an HMAC's inner
  // message. Of an AEAD whether it has but one beat of text, and how long the tag is, which
  // takes the text's place in the last block, or is compared with that place's and goes nowhere.
  typedef struct packed {
    lane_t lane;
    at_t   at;
    logic  mask;
    logic  back;
    logic  twice;
    logic  chained;
    logic  final_block;
    logic  inner;
    logic  one_beat;
    tag_t  tag;
  } block_t;

  typedef logic [35:0] bits_t;

  // A block whose words are to be brought into a way of the tile, from its base on: its place in its lane's buffer, its
  // number or what is to be added to its counter, and whether it is the frame's first one.
  typedef struct packed {
    logic                  way;
    logic [StreamBits-1:0] base;
    lane_t                 lane;
    at_t                   at;
    number_t               number;
    logic                  first;
    // Of a key's states, the outer one.
    logic                  outer;
    way_t                  mode;
    area_t                 area;
    // A message's end is in it, or is in front of it; its length is; and an AEAD's block is of AAD.
    logic                  ends;
    logic                  over;
    logic                  closes;
    logic                  aad;
    // Bits of the payload and of a block in front of it, its beat of the end, and bytes of a last block.
    bits_t                 bits;
    logic [2:0]            end_at;
    logic [3:0]            tail;
    logic [7:0]            aad_len;
  } words_t;

  // Words of the store: a hash's first state, one of a key's two, or bits in front of what a lane's hash goes on with.
  typedef enum logic [1:0] {
    StateInner,
    StateOuter,
    StateFirst,
    StateBits
  } state_e;

  // Where those bits lie: in the bank that runs, of which nobody clears keys.
  function automatic logic [6:0] bits_at(logic run, lane_t lane);
    return {run, lane[1:0], StateBits, lane[3:2]};
  endfunction

  // Blocks that are on their way at once: from a start in the tile to the end of what becomes of its result. A set with more
  // is refused.
  localparam int unsigned FlightBits = StageBits + 1;
  localparam int unsigned FlightClocks = 64;  // behind the latency

  // Tiles are four at most.
  typedef logic [1:0] tile_t;

  // A lane's result is a frame, which is ready to go.
  typedef struct packed {
    logic  valid;
    lane_t lane;
  } ask_t;

  // What a lane's result will be, as the entrance has found out behind the lane's own frame: nothing yet; a frame that
  // somebody takes; of a message the tile that it goes to and the key that it uses there.
  typedef struct packed {
    logic      valid;
    logic      good;
    tile_t     tile;
    lane_key_t key;
  } plan_t;

  // Whose frame it is: the host's, a tile's, or one that will be a tile's.
  typedef enum logic [1:0] {
    Host,
    Tile,
    Plan
  } source_e;

  // What a frame does besides what its lane does with it: it brings a set; it is a key; it wipes; it is expanded to a key;
  // its result is a frame. Of one that is a result itself, that nobody takes it.
  typedef struct packed {
    logic loads;
    logic key;
    logic wipes;
    logic expands;
    logic joins;
    logic wrong;
  } frame_kind_t;

  // Of the set that is being loaded, as soon as it is known.
  typedef struct packed {
    logic       known;
    logic [7:0] algorithm;
  } loading_t;

  function automatic logic [4:0] areas(logic [7:0] key_words, logic hash);
    if (hash || key_words <= 8'(KeyRoom / 4)) return 5'd4;
    return key_words <= 8'(KeyRoom / 2) ? 5'd2 : 5'd1;
  endfunction

  // Where a bank's next key lies.
  function automatic area_t next_area(area_t last, logic [4:0] number);
    return 5'(last) + 5'd1 >= number ? '0 : last + 2'd1;
  endfunction

  // Where the words of a key begin.
  function automatic logic [KeyWordBits-1:0] key_base(logic bank, area_t area, logic [7:0] key_words);
    logic [KeyWordBits-1:0] base;
    base = KeyWordBits'(2 << ConstantBits) + (bank ? KeyWordBits'(KeyRoom) : '0);
    for (int unsigned a = 1; a < Areas; a++) begin
      if (32'(area) == a)
        base += KeyWordBits'(key_words <= 8'(KeyRoom / 4) ? a * KeyRoom / 4 : a * KeyRoom / 2);
    end
    return base;
  endfunction

  // Beats that are read for a block: with a mask, which is the longest; with a hash's state.
  function automatic logic [3:0] reads(set_t set);
    if (set.hash) return 4'd8 + 4'((5'(set.output_words[3:0]) + 5'd1) >> 1);
    if (set.aead) return 4'd8;
    return set.input_words == 6'd2 && !set.keys ? 4'd2 : 4'd4;
  endfunction

  // Modes that encrypt both ways.
  function automatic logic encrypts(logic [7:0] op);
    return op inside {OpCtr, OpCfb, OpOfb};
  endfunction

  // Whether a set is asked for by a frame's first beat. Hashes have no direction. What expands keys
  // does nothing else, and is asked for by the number of words.
  function automatic logic serves(set_t set, header_t head);
    logic way;
    if (encrypts(head.op)) way = !set.decrypt;
    else way = head.flags.decrypt == set.decrypt;
    if (set.keys != (head.op == OpExpand)) way = 1'b0;
    if (head.op != OpKey && set.aead != (head.op == OpAead)) way = 1'b0;
    if (set.keys && head.result_len != set.output_words) way = 1'b0;
    return set.valid && head.algorithm == set.algorithm && (way || (set.hash && !set.keys));
  endfunction

  function automatic logic [31:0] swapped(logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  function automatic logic [63:0] swapped_pair(logic [63:0] words, logic swap);
    return swap ? {swapped(words[63:32]), swapped(words[31:0])} : words;
  endfunction

  function automatic logic [63:0] reversed(logic [63:0] beat);
    for (int unsigned i = 0; i < 8; i++) reversed[8*i+:8] = beat[56-8*i+:8];
  endfunction

  // The block's bit, counted from 1 (FIPS 46-3, IP), that comes to place i.
  function automatic int unsigned initial_bit(int unsigned i);
    case (i / 8)
      0: initial_bit = 58;
      1: initial_bit = 60;
      2: initial_bit = 62;
      3: initial_bit = 64;
      4: initial_bit = 57;
      5: initial_bit = 59;
      6: initial_bit = 61;
      default: initial_bit = 63;
    endcase
    initial_bit = initial_bit - 8 * (i % 8);
  endfunction

  // A beat to the words of DES and back: big-endian, through the permutation, each half turned right by one.
  function automatic logic [63:0] des_in(logic [63:0] beat);
    logic [63:0] block, through;
    block = reversed(beat);
    for (int unsigned i = 0; i < 64; i++) through[63-i] = block[64-initial_bit(i)];
    return {through[0], through[31:1], through[32], through[63:33]};
  endfunction

  function automatic logic [63:0] des_out(logic [63:0] words);
    logic [63:0] through, block;
    through = {words[30:0], words[31], words[62:32], words[63]};
    for (int unsigned i = 0; i < 64; i++) block[64-initial_bit(i)] = through[63-i];
    return reversed(block);
  endfunction

endpackage

// SPDX-License-Identifier: Apache-2.0
//
// The link's numbers and words (docs/link.md): what a frame has in its first three words, and what an answer is.
package board_pkg;

  localparam logic [7:0] Version = 8'd1;
  localparam int unsigned MaxBeats = 184;  // of a segment
  localparam int unsigned HeadWords = 3;  // of a frame, in front of its beats
  localparam int unsigned MaxSlots = 8;

  // Byte 0 of the wire lowest.
  localparam logic [47:0] BoardAddress = 48'h01_00_45_43_41_02;
  localparam logic [15:0] EtherType = 16'hB588;

  typedef enum logic [7:0] {
    KindHello    = 8'h01,
    KindData     = 8'h02,
    KindLoad     = 8'h03,
    KindKey      = 8'h04,
    KindRegister = 8'h05,
    KindBye      = 8'h06,
    KindStore    = 8'h07,
    KindRecall   = 8'h08,
    KindAnswer   = 8'h82
  } kind_e;

  // An answer of the link itself. Bits 2:0 are those of its kind.
  typedef enum logic [2:0] {
    ReplyIdentity = 3'd1,
    ReplyVerdict  = 3'd3,
    ReplyStale    = 3'd4,
    ReplyRegister = 3'd5,
    ReplyRefused  = 3'd6,
    ReplyStored   = 3'd7
  } reply_e;

  // The third word, byte 16 of the frame lowest.
  typedef struct packed {
    logic [15:0] session;
    logic [7:0]  beats;
    logic [7:0]  slot;
    logic [7:0]  keys;
    logic [7:0]  sets;
    logic [15:0] number;
  } third_t;

  // What a frame says of itself in front of its beats.
  typedef struct packed {
    logic        to_all;
    logic [47:0] source;
    logic        first;
    logic        last;
    logic [7:0]  kind;
    third_t      link;
  } head_t;

  // What becomes of a frame.
  typedef enum logic [2:0] {
    ActDrop,
    ActPass,   // its beats to the slot
    ActReply,
    ActValue,  // its first beat is the link's own
    ActOpen,
    ActEnd
  } act_e;

  typedef struct packed {
    act_e       act;
    reply_e     reply;
    logic [2:0] why;    // refused
    logic       cut;    // the slot's frame that is not complete ends before
    logic       alive;  // it is the session's
  } judgement_t;

  // To the store (link_store), with a frame's words beside it, and from it.
  typedef struct packed {
    logic       where;   // the word is a frame's first beat
    logic       recall;  // the frame is one, and none that writes
    logic [7:0] left;    // beats of it that are still to come
    logic       write;   // the word is for the store
    logic       last;    // and the frame's last one
    logic       go;      // words leave from now on
    logic       ready;
  } to_store_t;

  typedef struct packed {
    logic        bad;    // what the first beat says cannot be
    logic        valid;
    logic        last;
    logic [63:0] word;
  } from_store_t;

  // Why a frame is refused.
  localparam logic [2:0] WhyHost = 3'd1;
  localparam logic [2:0] WhySession = 3'd2;
  localparam logic [2:0] WhySlot = 3'd3;
  localparam logic [2:0] WhySegment = 3'd4;
  localparam logic [2:0] WhyStore = 3'd5;

  // Which pairs of bits of two words are the same: a register behind each keeps a comparison short and small.
  function automatic logic [7:0] same_pairs(logic [15:0] a, logic [15:0] b);
    logic [7:0] same;
    for (int unsigned i = 0; i < 8; i++) same[i] = a[2*i+:2] == b[2*i+:2];
    return same;
  endfunction

  // What is counted where frames come in, modulo 2^4: whoever adds it up looks often enough.
  localparam int unsigned TallyBits = 4;
  typedef struct packed {
    logic [TallyBits-1:0] other;
    logic [TallyBits-1:0] lost;
    logic [TallyBits-1:0] bad;
    logic [TallyBits-1:0] whole;
  } tally_t;

  // CRC-32 of IEEE 802.3, the lowest bit first: what the lowest byte, with the next one of the frame added, makes of the
  // rest. A CRC has this byte by itself, so that nothing stands between it and its logic.
  function automatic logic [31:0] crc_of(logic [7:0] data);
    logic [31:0] crc;
    crc = {24'd0, data};
    for (int unsigned i = 0; i < 8; i++) crc = (crc >> 1) ^ (crc[0] ? 32'hEDB8_8320 : 32'd0);
    return crc;
  endfunction

endpackage

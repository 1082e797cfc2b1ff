// SPDX-License-Identifier: Apache-2.0
//
// What the parts of hash_front and pair_front have in common, and what those of hash_modes tell each other.
package hash_pkg;

  // A block is 16 words of 32 bits.
  localparam int unsigned BlockBytes = 64;

  typedef logic [31:0] word_t;

  // What tops tell a front, and that its parts.
  typedef struct packed {
    logic [7:0]  algorithm;     // the code that frames must carry
    int unsigned state_bytes;   // of a chaining state
    int unsigned digest_bytes;  // of the part of it that is the digest
    logic        big_endian;    // the order of bytes in words and in the length
    int unsigned ways;          // messages in the core at a time
  } shape_t;

  localparam shape_t AnyShape = '{
    algorithm: 8'h42,
    state_bytes: 20,
    digest_bytes: 20,
    big_endian: 1'b1,
    ways: 1
  };

  // Load: words of a frame into the memory of states. Copy: the same of the kept key. Touch: only the core's load of
  // the state. Settle: until the core has written the state.
  typedef enum logic [2:0] {
    Idle,
    Copy,
    Load,
    Touch,
    Send,
    Settle,
    Result
  } phase_e;

  // Whose words are sent.
  typedef enum logic [1:0] {
    KeyIn,
    KeyOut,
    Message,
    Outer
  } kind_e;

  // States in the memory.
  typedef enum logic [1:0] {
    Running,
    OfInner,
    OfOuter
  } region_e;

  // What the next word is made from: one bit is set while words are sent or loaded, and none at other times.
  typedef struct packed {
    logic load;    // a section's words go into the memory and not to the core
    logic beat;
    logic key;     // the key that came in
    logic memory;  // the digest of the inner hash
    logic mark;    // the bit that ends the message, and zeros
    logic zero;
    logic length0;
    logic length1;
  } source_t;

  // What the modes say of the kept key: there is none from now on; that of this frame is complete; it came to nothing,
  // and what there is of it is to be forgotten. With two ways besides: no longer than until keyed the frame needs the
  // kept key, or sets it up; its words as they are written, and that they are wanted for a copy.
  typedef struct packed {
    logic       drop;
    logic       keep;
    logic       lost;
    logic       keyed;
    logic       copy;
    logic       write;
    logic [4:0] address;
    word_t      word;
  } key_req_t;

  // There is a kept key; and its word that is copied, which is the one of the address when next is high.
  typedef struct packed {
    logic  kept;
    logic  next;
    word_t word;
  } key_rsp_t;

  // Of the words that are made from a frame: the source's word goes; it is the section's last one; the message ends
  // inside it; half of the beat behind it; a word of a section that is loaded goes; and it is one of a state.
  typedef struct packed {
    logic sent;
    logic section_end;
    logic ended_inside;
    logic half;
    logic take;
    logic load;
  } went_t;

  // Where a frame is.
  typedef struct packed {
    phase_e     phase;
    kind_e      kind;
    source_t    source;
    logic [3:0] place;    // word within block, section or result
    logic       second;   // of two states
    logic       half;     // of the beat
    logic       counted;  // the number of bytes so far has come or will not come
    logic       first;    // the message's first block is not done yet, and starts from the initial state
    region_e    region;   // where the state of that block is
  } step_t;

endpackage

// SPDX-License-Identifier: Apache-2.0
//
// The slot boundary: the layout of request and response frames. docs/slot.md explains every field and
// carries a worked example for each kind of frame.
package slot_pkg;

  // What a frame asks for. Bits 7:4 name the kind of engine, bits 3:0 the mode.
  typedef enum logic [7:0] {
    OpEcb        = 8'h11,
    OpCbc        = 8'h12,
    OpCtr        = 8'h13,
    OpCfb        = 8'h14,  // segments are blocks
    OpCfb8       = 8'h15,  // segments are bytes
    OpOfb        = 8'h16,
    OpHash       = 8'h21,
    OpHmacStates = 8'h31,  // key section: inner chaining state, then outer
    OpHmacKey    = 8'h32,  // key section: the raw key, at most one hash block
    OpAead       = 8'h41
  } op_e;

  // Why a frame has no result.
  typedef enum logic [7:0] {
    StatusOk               = 8'd0,
    StatusUnknownAlgorithm = 8'd1,  // the frame asks for an algorithm this slot is not
    StatusUnknownOperation = 8'd2,  // operation, direction or flag this configuration has not
    StatusBadKeyLength     = 8'd3,
    StatusMissingKey       = 8'd4,  // no fresh key in the frame and none kept
    StatusBadIvLength      = 8'd5,
    StatusBadLength        = 8'd6,  // payload not whole blocks, result or AAD length out of range
    StatusFrameShort       = 8'd7,  // tlast before the last beat that the header announces
    StatusFrameLong        = 8'd8,  // beats after the last one that the header announces
    StatusReserved         = 8'd9   // a reserved bit or field is not zero
  } status_e;

  typedef struct packed {
    logic [2:0] reserved;
    logic       partial;    // hash: no padding, the result is the chaining state
    logic       resume;     // hash: the IV section holds bytes so far (8 bytes) and chaining state
    logic       wipe;       // forget key and state once the frame is answered
    logic       fresh_key;  // the frame has a key section
    logic       decrypt;
  } flags_t;

  // Beat 0 holds bits 63:0, beat 1 holds bits 127:64; byte 0 of the frame is bits 7:0.
  typedef struct packed {
    logic [15:0] reserved;
    logic [15:0] aad_len;      // bytes
    logic [31:0] payload_len;  // bytes
    logic [7:0]  result_len;   // bytes of digest or ICV to return; 0 for a cipher
    logic [7:0]  iv_len;       // bytes
    logic [15:0] tag;          // returned as it came
    logic [7:0]  key_len;      // bytes; 0 unless fresh_key
    flags_t      flags;
    logic [7:0]  op;
    logic [7:0]  algorithm;
  } header_t;

  // A beat of a stream as its source drives it; ready comes back on a wire of its own.
  typedef struct packed {
    logic        valid;
    logic        last;
    logic [63:0] data;
  } stream_t;

  // The last beat of every response.
  typedef struct packed {
    logic [7:0]  reserved;
    logic [7:0]  status;
    logic [15:0] tag;
    logic [31:0] result_len;  // bytes; 0 unless the status is Ok
  } trailer_t;

  // What a gate lets pass (slot_gate), which is all that variants change. Bits 0 to 4 of a cipher: encryption,
  // decryption, ECB, CBC, CTR; bits 5 to 7 of a hash: plain, HMAC with states, HMAC with a key; bits 8 to 10 of a
  // cipher: CFB, CFB with bytes, OFB.
  typedef struct packed {
    logic        present;  // without a gate all that a request asks for is left to the slot behind
    logic [5:0]  key_max;  // bytes, both ends included
    logic [5:0]  key_min;
    logic [15:0] open;
  } gate_t;

  // A number, as the flow's parameters of a top are.
  localparam int unsigned AllOpen = 32'h1FC0_FFFF;

  // The parts of a request behind its header, each starting on a beat of its own, in this order.
  typedef enum logic [1:0] {
    SecKey,
    SecIv,
    SecAad,
    SecPayload
  } section_e;

  // What the shell tells its engine of a frame besides the header: the beats behind it, in order, of which one is taken
  // when the engine is ready.
  typedef struct packed {
    logic        start;    // one clock: the frame is taken; its beats follow
    logic        drop;     // one clock: it is malformed, and what there is of it is to be dropped
    logic        valid;
    section_e    section;
    logic        last;     // of the section
    logic [63:0] beat;
  } request_t;

  // What the engine answers. Verdict and length come from the header; done comes with or after the last beat.
  typedef struct packed {
    logic        ready;    // for a beat of the frame
    logic        valid;
    logic        done;
    logic [63:0] beat;
    logic [31:0] length;   // bytes
    status_e     verdict;
  } response_t;

  // Algorithm codes. The modes are told that of their core by a parameter.
  typedef enum logic [7:0] {
    AlgAes     = 8'h01,
    AlgDes     = 8'h02,  // 8-byte key: DES; 16 or 24: triple DES
    AlgMars    = 8'h03,
    AlgRc6     = 8'h04,
    AlgSerpent = 8'h05,
    AlgTwofish = 8'h06,
    AlgCast128 = 8'h07,
    AlgCast256 = 8'h08,
    AlgIdea    = 8'h09,
    AlgMd5     = 8'h41,
    AlgSha1    = 8'h42
  } algorithm_e;

endpackage

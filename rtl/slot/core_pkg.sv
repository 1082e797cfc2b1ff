// SPDX-License-Identifier: Apache-2.0
//
// What fronts and cores tell each other, one packed struct for each direction: serial cores (cipher_front), rings
// (lane_front) and hash cores (hash_front, pair_front). docs/slot.md explains every field.
package core_pkg;

  // The one event that forgets: after a reset, a frame that wipes and a key that was cut short. The front holds it
  // for as many clocks as its ClearCycles say, and index counts them from 0. While it is active every register goes
  // to the state of a reset and every memory is written with zero at index; nothing comes to a core meanwhile. It is
  // active in the first clock after a reset, so data registers need no reset of their own.
  localparam int unsigned ClearBits = 13;

  typedef struct packed {
    logic                 active;
    logic [ClearBits-1:0] index;
  } clear_t;

  // A core that holds one block. Blocks of 8 bytes are in the lower half, and the upper half of their results is zero.
  typedef struct packed {
    logic         key_valid;
    logic [63:0]  key;
    logic [2:0]   key_index;     // of the beat
    logic         key_last;
    logic [5:0]   key_len;       // bytes
    logic         key_decrypt;   // the first block will be a decryption
    logic         block_valid;
    logic [127:0] block;
    logic         decrypt;
    logic         result_ready;
  } core_req_t;

  typedef struct packed {
    logic         block_ready;
    logic         result_valid;
    logic [127:0] result;
  } core_rsp_t;

  // A ring of pipeline stages, in which a block goes by the ticket that it was given at the door.
  localparam int unsigned ContextBits = 5;
  localparam int unsigned TicketBits = 7;
  // Keys that a ring holds, where nothing else is said.
  localparam int unsigned UsualContexts = 8;

  typedef logic [ContextBits-1:0] context_t;
  typedef logic [TicketBits-1:0] ticket_t;

  typedef struct packed {
    logic         key_valid;
    logic [63:0]  key;
    logic [2:0]   key_index;
    logic         key_last;
    logic [5:0]   key_len;
    context_t     key_context;    // which of the core's keys this one becomes
    logic         block_valid;
    logic [127:0] block;
    logic         decrypt;
    context_t     block_context;  // the key of the block
  } ring_req_t;

  typedef struct packed {
    logic         key_busy;
    logic         block_ready;
    ticket_t      block_ticket;   // of a block that enters in this clock
    logic         result_valid;
    ticket_t      result_ticket;
    logic [127:0] result;
  } ring_rsp_t;

  // A beat of a fresh key, as key schedules take it; of a core's request and of a ring's.
  typedef struct packed {
    logic        valid;
    logic [63:0] data;
    logic [2:0]  index;
    logic        last;
    logic [5:0]  len;
  } key_beat_t;

  function automatic key_beat_t core_key(input core_req_t req);
    return '{req.key_valid, req.key, req.key_index, req.key_last, req.key_len};
  endfunction

  function automatic key_beat_t ring_key(input ring_req_t req);
    return '{req.key_valid, req.key, req.key_index, req.key_last, req.key_len};
  endfunction

  // What is at the door of a ring of ring_control: turns behind the first of a block that enters, and bits of the
  // ring's own that go along with it, and with a block that goes round. What goes round is dropped, without a result;
  // something else than a block is to enter, and blocks wait.
  typedef struct packed {
    logic       drop;
    logic       other;
    logic [7:0] turns;
    logic [3:0] enter;
    logic [3:0] around;
  } ring_door_t;

  // What is in a stage of such a ring. Free stages, too, are in their last turn.
  typedef struct packed {
    logic       valid;
    logic       first;    // turn
    logic       last;
    logic [7:0] left;     // turns behind this one
    logic       decrypt;
    context_t   key;
    logic [3:0] own;
  } ring_stage_t;

  // A core of a hash with words of 32 bits. The chaining states live in the front, and the core asks for their words.
  typedef struct packed {
    logic        stop;           // leave the block under way; nothing is forgotten
    logic        start;
    logic        initial_state;
    logic        word_valid;
    logic [31:0] word;
    logic [31:0] state;
  } hash_req_t;

  // With two messages under way, in the clock of whose turn all is said: idle and word_ready have a bit for each.
  // A core of one message leaves turn and the upper bits zero.
  typedef struct packed {
    logic        turn;
    logic [1:0]  idle;
    logic [1:0]  word_ready;
    logic [2:0]  state_read;
    logic        state_valid;
    logic        state_final;
    logic        state_last;
    logic [2:0]  state_index;
    logic [31:0] state;
  } hash_rsp_t;

endpackage

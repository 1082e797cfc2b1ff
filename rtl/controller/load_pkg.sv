// SPDX-License-Identifier: Apache-2.0
//
// What the loader is told to do: a list of steps in the library's memory, twelve bytes each.
// docs/library-format.md has the same as a table; crates/ace-library/src/load makes such lists.
package load_pkg;

  typedef enum logic [1:0] {
    OpEnd    = 2'd0,  // the list ends
    OpCopy   = 2'd1,  // bytes of the memory go to the port
    OpStream = 2'd2,  // a stream begins
    OpFrames = 2'd3   // frames of that stream go to the port, each with its CRC and a dummy byte
  } op_e;

  // As it stands in the memory, the byte that comes first in the lowest bits.
  typedef struct packed {
    logic [31:0] length;      // bytes of memory
    logic [31:0] address;
    logic [1:0]  zero_high;
    logic [13:0] last;        // frames, or entries of a dictionary, less one
    logic [7:0]  zero_low;
    logic        dictionary;  // OpStream: the dictionary, which is read at once
    logic        finish;      // OpFrames: the stream has to end here
    logic        blank;       // OpCopy: zeros in place of what the memory holds there
    logic        seal;        // OpCopy: the CRC follows
    logic        covered;     // OpCopy: the bytes enter the CRC
    logic        pack;        // OpFrames: in the device's compression; OpCopy: its patterns
    op_e         op;
  } step_t;

  localparam int unsigned StepBytes = 12;

  // What frames look like on a device.
  typedef struct packed {
    int unsigned rows;
    int unsigned highest_bits;  // of the highest row
    int unsigned fill_bits;     // that fill the first byte in front of it
  } device_t;

  localparam device_t AnyDevice = '{rows: 72, highest_bits: 5, fill_bits: 2};

  // To and from the decoder. It forgets the stream; a new one begins when this falls, until then no byte may come. The
  // stream is the dictionary, not frames. Who gives the stream counts: next ends a frame, or an entry of the dictionary,
  // last says that the one at hand is the last, and place is the place of the entry: 176 for the first one, 1023 for the
  // last. All of the stream is taken and all rows are gone, or the stream is not one that can be, until it is forgotten.
  typedef struct packed {
    logic       clear;
    logic       dictionary;
    logic       last;
    logic [9:0] place;
  } decode_req_t;

  typedef struct packed {
    logic next;
    logic done;
    logic error;
  } decode_rsp_t;

  // A byte of what is read; zeros without an end follow the last one, each marked as behind.
  typedef struct packed {
    logic       valid;
    logic       behind;
    logic [7:0] data;
  } read_t;

  // A row of a frame; the lowest has one bit.
  typedef struct packed {
    logic        valid;
    logic        lowest;
    logic [11:0] bits;
  } row_t;

  // A byte of a frame.
  typedef struct packed {
    logic       valid;
    logic       last;
    logic [7:0] data;
  } byte_t;

  // What the decoder does with the bits at hand. They are taken, and the value is made of them, or of 1011 in their
  // place; a row or a value begins, which is an entry or not: its class, entries 0 to 15, 16 to 79, 80 to 335, 336 and
  // above; a row that is no entry is a literal or zero (class 1 or 0). An entry of the dictionary is complete, or a row
  // is, which may be zero only if it is not used; which row.
  typedef struct packed {
    logic       move;
    logic       brief;
    logic [3:0] bits;
    logic       starts;
    logic       entry;
    logic [1:0] class_of;
    logic       literal;
    logic       write;
    logic       row;
    logic       used;
    logic       lowest;
  } part_t;

endpackage

// SPDX-License-Identifier: Apache-2.0
//
// What the loader is told to do: a list of steps in the library's memory, twelve bytes each. docs/library.md has the
// same as a table; crates/ace-library/src/load makes such lists.
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

endpackage

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
    logic [31:0] length;  // bytes of memory; of such frames the count
    logic [31:0] address;  // of bytes of memory; of such frames the first one's, as the port takes it
    logic [1:0] zero_high;
    logic [13:0] last;  // frames, or entries of a dictionary, less one
    logic [7:0] zero_low;
    logic dictionary;  // OpStream: the dictionary, which is read at once
    logic finish;  // OpFrames: the stream has to end here
    logic blank;  // OpCopy: zeros in place of what the memory holds there
    logic seal;  // OpCopy: the CRC follows
    logic covered;  // OpCopy: the bytes enter the CRC; OpFrames: the address and the count go in front
    logic pack;  // OpFrames: in the device's compression; OpCopy: its patterns
    op_e op;
  } step_t;

  localparam int unsigned StepBytes = 12;

  // What frames look like on a device: bits that fill the first byte; then, the highest first, a row of one bit, up to
  // four groups of rows of twelve bits with a row of two bits between every two, and a row of one bit. Of each group
  // how many pairs of rows it has; the last one may have one row more.
  typedef struct packed {
    logic [3:0][7:0] pairs;  // the highest group first, in the lowest bits; zeros where there is none
    logic one;
    int unsigned fill_bits;
  } device_t;

  localparam device_t AnyDevice = '{pairs: {8'd0, 8'd11, 8'd12, 8'd12}, one: 1'b0, fill_bits: 2};

  // Rows go by cells: one of them alone, or a pair of twelve bits each.
  typedef enum logic [2:0] {
    Head,  // the highest row, one bit
    Pair,
    One,   // a row of twelve bits
    Two,   // a row of two bits
    Low    // the lowest row, one bit
  } kind_e;

  localparam int unsigned CellBits = 6;

  function automatic int unsigned cells_of(logic [3:0][7:0] pairs, logic one);
    cells_of = 1 + 32'(one);
    for (int i = 0; i < 4; i++) if (pairs[i] != '0) cells_of += 1 + 32'(pairs[i]);
  endfunction

  function automatic kind_e kind_of(logic [3:0][7:0] pairs, logic one, int unsigned number);
    int unsigned at;
    at = 0;
    kind_of = Pair;
    for (int i = 0; i < 4; i++) begin
      if (number == at) kind_of = i == 0 ? Head : Two;
      at += 1 + 32'(pairs[i]);
    end
    if (number + 1 == cells_of(pairs, one)) kind_of = Low;
    else if (number + 2 == cells_of(pairs, one) && one) kind_of = One;
  endfunction

  function automatic int unsigned frame_bytes_of(device_t device);
    int unsigned bits;
    bits = device.fill_bits + 12 * 32'(device.one);
    for (int i = 0; i < 4; i++) if (device.pairs[i] != '0) bits += 24 * 32'(device.pairs[i]) + 2;
    return bits / 8;
  endfunction

  // To and from the decoder. It forgets the stream; a new one begins when this falls. It may go on. The stream is the
  // dictionary, not frames. Who gives the stream counts: next ends a frame, or an entry of the dictionary, last says
  // that the one at hand is the last, and place is the place of the entry: 176 for the first one, 1023 for the last.
  // All of the stream is taken and all rows are gone, or the stream is not one that can be, until it is forgotten.
  typedef struct packed {
    logic       clear;
    logic       active;
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

  // The rows of a cell, the higher one in the upper half; one that is alone stands there.
  typedef struct packed {
    logic             valid;
    kind_e            kind;
    logic [1:0][11:0] rows;
  } cell_t;

  // A byte of a frame.
  typedef struct packed {
    logic       valid;
    logic       last;
    logic [7:0] data;
  } byte_t;

  // What the decoder does with the bits at hand: a row, or both rows of a pair, which are zero then. It is a value,
  // whose code stands behind one bit if the row is warm; or an entry of the dictionary is there.
  typedef struct packed {
    logic        row;
    logic        both;
    logic        value;
    logic        warm;
    logic        hot;
    logic        second;  // the lower row of a pair
    logic        entry;
    kind_e       kind;
    logic [16:0] bits;
  } part_t;

endpackage

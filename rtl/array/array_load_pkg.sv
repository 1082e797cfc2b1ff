// SPDX-License-Identifier: Apache-2.0
//
// What frames that load are made of: the sections of a context set, its CRC, and what has to be so of what it says of
// itself. docs/array.md explains the format.
package array_load_pkg;
  import array_pkg::*;
  import array_front_pkg::*;

  // What array_loader is at.
  typedef enum logic [2:0] {
    Idle,
    Purge,
    Set,
    Key,
    Check,
    Over
  } at_e;

  // -- sections ---------------------------------------------------------------------------------------------

  localparam logic [63:0] Magic = 64'h0A02_5445_5345_4341;

  typedef enum logic [7:0] {
    Contexts  = 8'd1,
    Pair      = 8'd2,
    Words     = 8'd3,
    Bytes     = 8'd4,
    Constants = 8'd5,
    Chain     = 8'd6
  } kind_e;

  typedef struct packed {
    logic [31:0] words;
    logic [15:0] at;
    logic [7:0]  mask;
    logic [7:0]  kind;
  } section_t;

  // Parts of a beat less one, a bit each, and where they go.
  typedef struct packed {
    logic [6:0] parts;
    write_t     kind;
  } place_t;

  function automatic place_t place_of(section_t section);
    place_of             = '0;
    place_of.kind.lane   = section.mask[3:0];
    place_of.kind.target = TargetTable;
    place_of.kind.rotate = section.kind != Pair;
    unique case (section.kind)
      Words:   place_of.parts = 7'd1;
      Constants: begin
        place_of.parts       = 7'd1;
        place_of.kind.target = TargetConstant;
        place_of.kind.rotate = 1'b0;
      end
      Bytes:   place_of.parts = '1;
      Contexts: begin
        place_of.kind.target = TargetContext;
        place_of.kind.rotate = 1'b0;
      end
      default: ;
    endcase
  endfunction

  // Tables of 64 words lie at every fourth address. A section's own number of words says how long its table is.
  function automatic logic is_small(section_t section);
    return (section.kind == Pair && section.words == 32'd64) || (section.kind == Words && section.words == 32'd32)
        || (section.kind == Bytes && section.words == 32'd8);
  endfunction

  // -- the CRC ----------------------------------------------------------------------------------------------

  // What a beat adds to a CRC, and what becomes of the CRC in front of it: for each bit, which ones it is the sum of.
  typedef logic [31:0][63:0] sums_t;

  function automatic sums_t crc_sums();
    logic [31:0] c;
    for (int unsigned i = 0; i < 64; i++) begin
      c = '0;
      for (int unsigned j = 0; j < 64; j++) c = {1'b0, c[31:1]} ^ (c[0] ^ (i == j) ? 32'hEDB8_8320 : 32'd0);
      for (int unsigned b = 0; b < 32; b++) crc_sums[b][i] = c[b];
    end
  endfunction

  localparam sums_t CrcSums = crc_sums();

  function automatic logic [31:0] crc_of(logic [63:0] beat);
    for (int unsigned b = 0; b < 32; b++) crc_of[b] = ^(beat & CrcSums[b]);
  endfunction

  // -- the whole --------------------------------------------------------------------------------------------

  // The shortest interval. For each way two clocks for each beat that is read, the mask of CBC among them, and four more; of
  // a key's words, which only one way has, one for each that comes out.
  function automatic logic [15:0] shortest(set_t set);
    if (set.keys) return 16'(set.output_words) + 16'(set.output_words[0]) + 16'd8;
    return 16'(WaysMost) * (16'({reads(set), 1'b0}) + 16'd4);
  endfunction

  // Whether a block and its result have as many words as those of a cipher, of an AEAD, of a hash or of what expands keys.
  function automatic logic is_shaped(set_t set);
    if (set.keys)
      return !set.hash && set.key_words == '0 && set.output_words <= 8'(KeyRoom)
          && set.input_words inside {6'd2, 6'd4, 6'd6, 6'd8};
    if (set.hash) return set.output_words <= 8'd8 && set.input_words == 6'd16 + 6'(set.output_words);
    if (set.aead) return set.input_words == 6'd16 && set.output_words == 8'd12;
    return set.output_words == 8'(set.input_words) && set.input_words inside {6'd2, 6'd4};
  endfunction

endpackage

// SPDX-License-Identifier: Apache-2.0
//
// The chaining states of hash_modes, in one memory of words: the running one, and the inner and the outer one of a
// key. The core reads and writes them word by word; the words of a frame, or of the kept key, come here too, and a
// digest is read from here.
//
// Clocks of a read: none; a word that is written can be read in the next clock.
module hash_state
  import core_pkg::*;
  import hash_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic   clk_i,
  input clear_t clear_i,

  input  step_t     step_i,
  // The core's.
  input  hash_rsp_t rsp_i,
  // A word of the frame is loaded.
  input  logic      load_i,
  input  word_t     load_word_i,
  // The digest is read, and not for the core.
  input  logic      digest_i,
  output word_t     read_o,

  // Words of a key's states, as they are written, and as they are copied.
  output logic        keep_o,
  output logic  [4:0] address_o,
  output word_t       word_o,
  input  word_t       copy_word_i
);

  // Words of a state: 4, 5 or 8. Two ways have a kept key copied from outside.
  localparam int unsigned StateWords = Shape.state_bytes / 4;
  localparam int unsigned AddressBits = StateWords > 5 ? 5 : 4;
  localparam bit Copies = Shape.ways > 1;

  typedef logic [AddressBits-1:0] address_t;

  function automatic address_t address(input region_e region, input logic [2:0] index);
    if (StateWords > 5) return address_t'({region, index});
    // Five words in four regions of four: the fifth ones share the last region.
    return address_t'(5'(index[2] ? {2'b11, region} : {region, index[1:0]}));
  endfunction

  // Where states go is known long before they come.
  region_e final_q;
  logic load_key_q, copying;
  region_e write_region;
  address_t read_at, write_at;
  word_t data;

  assign copying = Copies && step_i.phase == Copy;

  always_ff @(posedge clk_i) begin
    load_key_q <= step_i.kind == KeyIn;
    unique case (step_i.kind)
      KeyIn:   final_q <= OfInner;
      KeyOut:  final_q <= OfOuter;
      default: final_q <= Running;
    endcase
  end

  always_comb begin
    read_at = digest_i ? address(Running, step_i.place[2:0]) : address(step_i.region, rsp_i.state_read);

    write_region = rsp_i.state_final ? final_q : Running;
    write_at = address(write_region, rsp_i.state_index);
    data = rsp_i.state;
    if (step_i.source.load) data = load_word_i;
    if (copying) data = copy_word_i;
    if (step_i.source.load || copying) begin
      if (step_i.source.load && !load_key_q) write_region = Running;
      else write_region = step_i.second ? OfOuter : OfInner;
      write_at = address(write_region, step_i.place[2:0]);
    end
  end

  logic write;
  assign write     = load_i || rsp_i.state_valid || copying;
  assign keep_o    = (load_i || rsp_i.state_valid) && write_region != Running;
  assign address_o = 5'(write_at);
  assign word_o    = data;

  ram_logic #(
    .Width(32),
    .Depth(2 ** AddressBits),
    .Quiet(1'b1)
  ) u_memory (
    .clk_i,
    .clear_i,
    .write_i     (write),
    .write_at_i  (write_at),
    .write_data_i(data),
    .read_at_i   (read_at),
    .read_data_o (read_o)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The round that CAST-128 and CAST-256 share, for one block at a time: from lookup to lookup in one clock, with as
// little as can be between them. The three kinds of f are the same two sums, because the tables hold what each
// kind puts in the place of a summand, and one more sum masks:
//   f = (((a ^ b) + c) ^ e) + g, and h by exclusive-or
//   f1  ((S1 ^ S2) - S3) + S4    a = S1  b = S2  c = -S3  e = 0   g = S4   h = 0
//   f2  ((S1 - S2) + S3) ^ S4    a = S1  b = 0   c = -S2  e = 0   g = S3   h = S4
//   f3  ((S1 + S2) ^ S3) - S4    a = S1  b = 0   c = S2   e = S3  g = -S4  h = 0
// Masking is an exclusive-or by adding zero, and Km - D by Km + ~D + 1. Each summand is then an exclusive-or of
// two words that come late, which fits into the adder's own cells.
//
// Clocks from lookup to lookup: 1.
module cast_loop
  import cast_pkg::*;
  import cast_tables_pkg::*;
(
  input logic clk_i,

  input  way_t  way_i,
  output word_t word_o,

  // Of the next round.
  input round_key_t key_i
);

  // -- rotation, and the bytes that are looked up -----------------------------------------------------------

  word_t masked, turned;
  logic next1, next2, next3;
  logic [7:0] byte_a, byte_b, byte_c, byte_e, byte_g, byte_h;

  assign next1  = key_i.kind == Kind1;
  assign next2  = key_i.kind == Kind2;
  assign next3  = key_i.kind == Kind3;

  assign turned = rotate_left(masked, {2'b00, key_i.rotate[2:0]});

  // Byte n, from the left, of the rotated word.
  function automatic logic [7:0] byte_of(input word_t x, input logic [1:0] n);
    return x[8*(3-32'(n))+:8];
  endfunction

  assign byte_a = byte_of(turned, key_i.rotate[4:3]);
  assign byte_b = byte_of(turned, key_i.rotate[4:3] + 2'd1);
  assign byte_c = byte_of(turned, key_i.rotate[4:3] + (next1 ? 2'd2 : 2'd1));
  assign byte_e = byte_of(turned, key_i.rotate[4:3] + 2'd2);
  assign byte_g = byte_of(turned, key_i.rotate[4:3] + (next2 ? 2'd2 : 2'd3));
  assign byte_h = byte_of(turned, key_i.rotate[4:3] + 2'd3);

  // -- lookups ----------------------------------------------------------------------------------------------

  // Memories filled once, and not the constants themselves: block RAM in the device and indexed arrays in
  // simulation. Their read registers are those of the addresses.
  (* rom_style = "block" *)
  word_t table_a[ 256];
  (* rom_style = "block" *)
  word_t table_b[ 512];
  (* rom_style = "block" *)
  word_t table_c[1024];
  (* rom_style = "block" *)
  word_t table_e[ 512];
  (* rom_style = "block" *)
  word_t table_g[1024];
  (* rom_style = "block" *)
  word_t table_h[ 512];

  function automatic word_t entry(input int unsigned s, input int unsigned i);
    return RoundTables[4-s][255-i];
  endfunction

  initial begin
    for (int unsigned i = 0; i < 256; i++) begin
      table_a[i]                = entry(1, i);
      table_b[i]                = '0;
      table_b[256+i]            = entry(2, i);
      table_c[256*32'(Kind1)+i] = -entry(3, i);
      table_c[256*32'(Kind2)+i] = -entry(2, i);
      table_c[256*32'(Kind3)+i] = entry(2, i);
      table_c[768+i]            = '0;
      table_e[i]                = '0;
      table_e[256+i]            = entry(3, i);
      table_g[256*32'(Kind1)+i] = entry(4, i);
      table_g[256*32'(Kind2)+i] = entry(3, i);
      table_g[256*32'(Kind3)+i] = -entry(4, i);
      table_g[768+i]            = '0;
      table_h[i]                = '0;
      table_h[256+i]            = entry(4, i);
    end
  end

  word_t a, b, c, e, g, h;

  always_ff @(posedge clk_i) begin
    a <= table_a[byte_a];
    b <= table_b[{next1, byte_b}];
    c <= table_c[{key_i.kind, byte_c}];
    e <= table_e[{next3, byte_e}];
    g <= table_g[{key_i.kind, byte_g}];
    h <= table_h[{next2, byte_h}];
  end

  // -- sums -------------------------------------------------------------------------------------------------

  word_t u, v;
  // Kept, so that what is known sooner is put together apart from v.
  (* keep *) word_t early, feed_early;
  logic unused;

  assign u = c + (a ^ b);
  assign v = g + (u ^ e);

  assign early = way_i.target ^ (h & {32{way_i.live}});
  assign word_o = (v & {32{way_i.live}}) ^ early;

  assign feed_early = way_i.feed ^ (h & {32{way_i.feed_live}}) ^ ((key_i.mask & {32{next2}}) | {32{next3}});
  assign {masked, unused} = {key_i.mask & ~{32{next2}}, next3} + {(v & {32{way_i.feed_live}}) ^ feed_early, 1'b1};

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a frame in the device's own compression, as Project Trellis documents it: zero is `0`, a byte of a
// single bit `100` and the bit's number, one of eight patterns `101` and its place, any other byte `11` and the byte.
// In front of a frame are as many zeros as make it whole groups of eight bytes; zeros fill its last byte.
//
// Clocks: one a byte that comes, up to two zeros behind it included, unless codes are long or the port is slow. A byte
// that goes out does so 4 clocks after its last bit came in, at the earliest. Behind a frame's end the next one waits.
module frame_packer
  import load_pkg::*;
#(
  // Bytes of a frame.
  parameter int unsigned FrameBytes = 106
) (
  input logic clk_i,
  // Forgets what it holds, but not the patterns; the next byte is a frame's first.
  input logic clear_i,

  // The patterns, the last one first, as the port takes them.
  input logic       pattern_valid_i,
  input logic [7:0] pattern_i,

  input byte_t s_i,
  // So many bytes of zeros come with it, behind it.
  input logic [1:0] zeros_i,
  output logic s_ready_o,

  output byte_t m_o,
  input  logic  m_ready_i
);

  localparam int unsigned Fill = (8 - FrameBytes % 8) % 8;

  logic [7:0][7:0] pattern_q;

  always_ff @(posedge clk_i) begin
    if (pattern_valid_i) pattern_q <= {pattern_q[6:0], pattern_i};
  end

  // The byte, then what it is equal to, then its code, first bit highest, zeros behind.
  logic [1:0] unused_count;
  logic byte_valid, byte_last, byte_ready;
  logic hit_valid_q, hit_last_q, hit_ready;
  logic [1:0] byte_zeros, hit_zeros_q;
  logic code_valid_q, code_last_q, code_ready;
  logic single, single_q;  // not more than one bit
  logic [7:0] here, hit_byte_q;
  logic [7:0] hit, hit_q;  // the bit, or the patterns
  logic [2:0] place;
  logic [9:0] code_d, code_q;
  logic [3:0] length_d, length_q;

  // More than one bit of four.
  function automatic logic several(logic [3:0] bits);
    return (bits[0] && bits[1]) || (bits[2] && bits[3]) || (bits[1:0] != '0 && bits[3:2] != '0);
  endfunction

  clear_entry #(
    .Width(11)
  ) u_entry (
    .clk_i,
    .clear_i,
    .s_valid_i(s_i.valid),
    .s_ready_o,
    .s_data_i ({s_i.last, zeros_i, s_i.data}),
    .m_valid_o(byte_valid),
    .m_ready_i(byte_ready),
    .m_data_o ({byte_last, byte_zeros, here}),
    .count_o  (unused_count)
  );

  assign byte_ready = !hit_valid_q || hit_ready;
  assign hit_ready  = !code_valid_q || code_ready;

  always_comb begin
    single = !several(here[3:0]) && !several(here[7:4]) && (here[3:0] == '0 || here[7:4] == '0);
    place  = '0;
    for (int unsigned n = 0; n < 8; n++) begin
      hit[n] = single ? here[n] : here == pattern_q[n];
      if (hit_q[n]) place |= 3'(n);
    end
    if (hit_q != '0) begin
      code_d   = {2'b10, !single_q, place, 4'd0};
      length_d = 4'd6;
    end else begin
      // Without any bit it is zero.
      code_d   = {!single_q, !single_q, hit_byte_q};
      length_d = single_q ? 4'd1 : 4'd10;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      hit_valid_q  <= 1'b0;
      code_valid_q <= 1'b0;
    end else begin
      if (byte_ready) hit_valid_q <= byte_valid;
      if (hit_ready) code_valid_q <= hit_valid_q;
    end
    if (byte_ready) begin
      hit_byte_q  <= here;
      hit_zeros_q <= byte_zeros;
      hit_last_q  <= byte_last;
      hit_q       <= hit;
      single_q    <= single;
    end
    if (hit_ready) begin
      code_q      <= code_d;
      length_q    <= length_d + 4'(hit_zeros_q);
      code_last_q <= hit_last_q;
    end
  end

  // Codes to bytes. A code is put behind 15 bits at most, so that who waits for room does not wait for the port.
  logic [25:0] held_q, held, code;  // the first bits highest, zeros behind
  logic [4:0] count_q, count;
  logic flush_q;  // the frame has ended
  logic emit;

  assign m_o.valid  = count_q[4:3] != '0 || flush_q;
  assign m_o.data   = held_q[25:18];
  assign m_o.last   = flush_q && count_q <= 5'd8;
  assign emit       = m_o.valid && m_ready_i;

  assign held       = emit ? {held_q[17:0], 8'd0} : held_q;
  assign count      = emit ? count_q - 5'd8 : count_q;
  assign code_ready = !flush_q && !count_q[4];
  assign code       = {code_q, 16'd0} >> count[3:0];

  always_ff @(posedge clk_i) begin
    if (clear_i || (emit && m_o.last)) begin
      held_q  <= '0;
      count_q <= 5'(Fill);
      flush_q <= 1'b0;
    end else if (code_valid_q && code_ready) begin
      held_q  <= held | code;
      count_q <= count + 5'(length_q);
      flush_q <= code_last_q;
    end else begin
      held_q  <= held;
      count_q <= count;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// CFB with single bytes (SP 800-38A, s = 8): of every block that the core encrypts one byte counts. It is mixed into
// a byte of payload, and the byte of ciphertext enters the next block at its end, while the first one leaves it.
//
// Clocks per byte: the core's per block + 2; per beat 2 more, and 1 for each byte that the last beat lacks.
module cipher_bytes
  import cipher_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  // A frame of this mode begins; it is under way.
  input  header_t header_i,
  input  request_t  frame_i,
  input  logic    start_i,
  output logic    active_o,

  // As in cipher_in.
  output logic ready_o,
  input  logic stall_i,
  input  logic take_i,

  output logic                             block_valid_o,
  output logic      [Shape.block_bits-1:0] block_o,
  output logic                             result_take_o,
  input  core_rsp_t                        rsp_i,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o
);

  typedef enum logic [2:0] {
    Idle,
    Beat,
    Enter,
    Leave,
    Pad,
    Send
  } place_e;

  place_e at_d, at_q;
  logic [Shape.block_bits-1:0] block_q;
  logic [63:0] bytes_q;  // results come from above, payload goes below
  logic [2:0] left_q;  // bytes to come, but one
  logic [2:0] pad_q;  // bytes that the beat lacks
  logic last_q, empty_q;
  logic load, shift;
  logic [7:0] mixed;

  assign active_o       = at_q != Idle;
  assign ready_o        = at_q == Beat && !stall_i;
  assign load           = take_i && ready_o;
  assign block_valid_o  = at_q == Enter;
  assign block_o        = block_q;
  assign result_take_o  = at_q == Leave;
  assign result_valid_o = at_q == Send;
  assign result_o       = bytes_q;
  assign done_o         = (at_q == Send && result_ready_i && last_q) || (at_q == Beat && empty_q);

  assign shift          = (at_q == Leave && rsp_i.result_valid) || at_q == Pad;
  assign mixed          = (bytes_q[7:0] ^ rsp_i.result[7:0]) & {8{at_q == Leave}};

  always_comb begin
    at_d = at_q;
    unique case (at_q)
      Beat: if (load && frame_i.section == SecPayload) at_d = Enter;
      Enter: if (rsp_i.block_ready) at_d = Leave;
      Leave: if (rsp_i.result_valid) at_d = left_q != '0 ? Enter : pad_q != '0 ? Pad : Send;
      Pad: if (pad_q == 3'd1) at_d = Send;
      Send: if (result_ready_i) at_d = Beat;
      default: ;
    endcase
    if (start_i) at_d = Beat;
    else if (done_o || frame_i.drop) at_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q    <= Idle;
      left_q  <= '0;
      pad_q   <= '0;
      last_q  <= 1'b0;
      empty_q <= 1'b0;
    end else begin
      at_q    <= at_d;
      empty_q <= header_i.payload_len == '0;
      if (load) begin
        last_q <= frame_i.last && frame_i.section == SecPayload;
        left_q <= frame_i.last ? header_i.payload_len[2:0] - 3'd1 : 3'd7;
        pad_q  <= frame_i.last ? 3'd0 - header_i.payload_len[2:0] : 3'd0;
      end else if (shift) begin
        if (at_q == Leave) left_q <= left_q - 3'd1;
        else pad_q <= pad_q - 3'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (at_q == Idle) begin
      block_q <= '0;
      bytes_q <= '0;
    end else begin
      if (load) bytes_q <= frame_i.beat;
      else if (shift) bytes_q <= {mixed, bytes_q[63:8]};
      // The IV comes like ciphertext, but by beats.
      if (load && frame_i.section == SecIv) block_q <= Shape.block_bits'({frame_i.beat, block_q} >> 64);
      else if (shift && at_q == Leave) begin
        block_q <= {header_i.flags.decrypt ? bytes_q[7:0] : mixed, block_q[Shape.block_bits-1:8]};
      end
    end
  end

endmodule

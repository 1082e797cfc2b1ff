// SPDX-License-Identifier: Apache-2.0
//
// Whole ciphers in the reconfigurable unit: the library's serial cores of AES, triple DES (with a key of eight bytes:
// DES) and IDEA. A key comes from the rows, eight bytes a clock; a block is in the first rows and its result is put
// there. What is asked for stays until done_o.
//
// Clocks: key bytes / 8 for a key, which the core makes ready by itself; for a block those of the core and two.
module molen_ciphers
  import core_pkg::*;
  import molen_pkg::*;
#(
  // Which are there: bit 0 AES, 1 triple DES, 2 IDEA.
  parameter logic [2:0] Ciphers = 3'b111
) (
  input logic clk_i,
  input logic rst_ni,

  // Whatever is held is forgotten.
  input  clear_t       clear_i,
  input  logic         start_i,
  input  logic   [1:0] cipher_i,
  input  logic         key_i,      // it is a key and no block
  input  logic         decrypt_i,
  input  logic   [5:0] length_i,   // bytes of the key
  input  word_t  [7:0] row_i,
  output word_t  [3:0] row_o,
  output logic         done_o
);

  logic [1:0] beat_q;
  logic entered_q, ready, valid, last;
  core_req_t [2:0] req;
  core_rsp_t [3:0] rsp;
  logic [127:0] result;

  assign rsp[3] = '0;
  assign ready  = rsp[cipher_i].block_ready;
  assign valid  = rsp[cipher_i].result_valid;
  assign result = rsp[cipher_i].result;
  assign last   = 6'(beat_q) == (length_i >> 3) - 6'd1;
  assign row_o  = key_i ? row_i[3:0] : result;
  assign done_o = start_i && !clear_i.active && (key_i ? last : entered_q && valid);

  for (genvar c = 0; c < 3; c++) begin : gen_request
    logic chosen;
    assign chosen = start_i && !clear_i.active && cipher_i == 2'(c);
    assign req[c] = '{
        key_valid: chosen && key_i,
        key: {row_i[{beat_q, 1'b1}], row_i[{beat_q, 1'b0}]},
        key_index: {1'b0, beat_q},
        key_last: last,
        key_len: length_i,
        key_decrypt: decrypt_i,
        block_valid: chosen && !key_i && !entered_q,
        block: row_i[3:0],
        decrypt: decrypt_i,
        result_ready: 1'b1
      };
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q    <= '0;
      entered_q <= 1'b0;
    end else begin
      if (done_o) beat_q <= '0;
      else if (start_i && key_i && !clear_i.active) beat_q <= beat_q + 2'd1;
      if (done_o) entered_q <= 1'b0;
      else if (start_i && !key_i && ready && !clear_i.active) entered_q <= 1'b1;
    end
  end

  if (Ciphers[0]) begin : gen_aes
    aes_core u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .req_i(req[0]),
      .rsp_o(rsp[0])
    );
  end else begin : gen_no_aes
    assign rsp[0] = '0;
  end

  if (Ciphers[1]) begin : gen_des
    des_core #(
      .Triple(1'b1)
    ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .req_i(req[1]),
      .rsp_o(rsp[1])
    );
  end else begin : gen_no_des
    assign rsp[1] = '0;
  end

  if (Ciphers[2]) begin : gen_idea
    idea_core u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .req_i(req[2]),
      .rsp_o(rsp[2])
    );
  end else begin : gen_no_idea
    assign rsp[2] = '0;
  end

  logic unused;
  assign unused = ^req;

endmodule

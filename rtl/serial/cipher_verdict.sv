// SPDX-License-Identifier: Apache-2.0
//
// Judges the header of a request for a cipher. What the first header beat says is judged while the second
// one comes, so that only the payload length is left when the shell asks.
module cipher_verdict
  import slot_pkg::*;
#(
  // As in cipher_modes.
  parameter logic [7:0] Algorithm = AlgAes,
  parameter int unsigned BlockBytes = 16,
  parameter logic [63:0] KeyLengths = '0,
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter bit Cfb = 1'b0,
  parameter bit Cfb8 = 1'b0,
  parameter bit Ofb = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input  header_t header_i,
  // The core has a whole key.
  input  logic    key_kept_i,
  output status_e verdict_o
);

  logic op_known, key_legal;
  logic [7:0] iv_len;  // that the mode wants
  logic bad_algorithm_q, bad_operation_q, bad_key_q, no_key_q, bad_iv_q, bad_result_q;
  logic ragged;  // the payload is not whole blocks

  always_comb begin
    unique case (header_i.op)
      OpEcb:   op_known = Ecb && (header_i.flags.decrypt ? Decrypt : Encrypt);
      OpCbc:   op_known = Cbc && (header_i.flags.decrypt ? Decrypt : Encrypt);
      OpCtr:   op_known = Ctr;
      OpCfb:   op_known = Cfb && (header_i.flags.decrypt ? Decrypt : Encrypt);
      OpCfb8:  op_known = Cfb8 && (header_i.flags.decrypt ? Decrypt : Encrypt);
      OpOfb:   op_known = Ofb;
      default: op_known = 1'b0;
    endcase
    iv_len    = header_i.op == OpEcb ? 8'd0 : 8'(BlockBytes);
    key_legal = header_i.key_len[7:6] == '0 && KeyLengths[header_i.key_len[5:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bad_algorithm_q <= 1'b0;
      bad_operation_q <= 1'b0;
      bad_key_q       <= 1'b0;
      no_key_q        <= 1'b0;
      bad_iv_q        <= 1'b0;
      bad_result_q    <= 1'b0;
    end else begin
      bad_algorithm_q <= header_i.algorithm != Algorithm;
      bad_operation_q <= !op_known || header_i.flags.resume || header_i.flags.partial;
      bad_key_q       <= header_i.flags.fresh_key && !key_legal;
      no_key_q        <= !header_i.flags.fresh_key && !key_kept_i;
      bad_iv_q        <= header_i.iv_len != iv_len;
      bad_result_q    <= header_i.result_len != '0;
    end
  end

  // Of modes that are not there nothing has to be right.
  assign ragged = header_i.op != OpCtr && !((Cfb || Cfb8 || Ofb) && header_i.op inside {OpCfb, OpCfb8, OpOfb})
      && (header_i.payload_len % BlockBytes) != '0;

  always_comb begin
    if (bad_algorithm_q) verdict_o = StatusUnknownAlgorithm;
    else if (bad_operation_q) verdict_o = StatusUnknownOperation;
    else if (bad_key_q) verdict_o = StatusBadKeyLength;
    else if (no_key_q) verdict_o = StatusMissingKey;
    else if (bad_iv_q) verdict_o = StatusBadIvLength;
    else if (bad_result_q || ragged) verdict_o = StatusBadLength;
    else verdict_o = StatusOk;
  end

  // What the shell alone looks at.
  logic unused_header;
  assign unused_header = ^{header_i.reserved, header_i.aad_len, header_i.tag, header_i.flags.reserved,
      header_i.flags.wipe, header_i.payload_len};

endmodule

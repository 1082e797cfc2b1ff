// SPDX-License-Identifier: Apache-2.0
//
// Judges the header of a request for a cipher. What the first header beat says is judged while the second
// one comes, so that only the payload length is left when the shell asks.
module cipher_verdict
  import cipher_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input  header_t header_i,
  // The core has a whole key.
  input  logic    key_kept_i,
  output status_e verdict_o
);

  localparam modes_t Modes = Shape.modes;

  logic way_known, op_known, key_legal;
  logic [7:0] iv_len;  // that the mode wants
  logic bad_algorithm_q, bad_operation_q, bad_key_q, no_key_q, bad_iv_q, bad_result_q;
  logic ragged;  // the payload is not whole blocks

  assign way_known = Shape.decrypt || !header_i.flags.decrypt;

  always_comb begin
    unique case (header_i.op)
      OpEcb, OpCbc: op_known = way_known;
      OpCtr:        op_known = 1'b1;
      OpCfb:        op_known = Modes.cfb && way_known;
      OpCfb8:       op_known = Modes.cfb8 && way_known;
      OpOfb:        op_known = Modes.ofb;
      default:      op_known = 1'b0;
    endcase
    iv_len    = header_i.op == OpEcb ? 8'd0 : 8'(Shape.block_bytes);
    key_legal = header_i.key_len[7:6] == '0 && Shape.key_lengths[header_i.key_len[5:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {bad_algorithm_q, bad_operation_q, bad_key_q, no_key_q, bad_iv_q, bad_result_q} <= '0;
    else begin
      bad_algorithm_q <= header_i.algorithm != Shape.algorithm;
      bad_operation_q <= !op_known || header_i.flags.resume || header_i.flags.partial;
      bad_key_q       <= header_i.flags.fresh_key && !key_legal;
      no_key_q        <= !header_i.flags.fresh_key && !key_kept_i;
      bad_iv_q        <= header_i.iv_len != iv_len;
      bad_result_q    <= header_i.result_len != '0;
    end
  end

  // Of modes that are not there nothing has to be right.
  assign ragged = header_i.op != OpCtr && !(Modes != '0 && header_i.op inside {OpCfb, OpCfb8, OpOfb})
      && (header_i.payload_len % Shape.block_bytes) != '0;

  always_comb begin
    if (bad_algorithm_q) verdict_o = StatusUnknownAlgorithm;
    else if (bad_operation_q) verdict_o = StatusUnknownOperation;
    else if (bad_key_q) verdict_o = StatusBadKeyLength;
    else if (no_key_q) verdict_o = StatusMissingKey;
    else if (bad_iv_q) verdict_o = StatusBadIvLength;
    else if (bad_result_q || ragged) verdict_o = StatusBadLength;
    else verdict_o = StatusOk;
  end

endmodule

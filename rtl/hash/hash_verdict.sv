// SPDX-License-Identifier: Apache-2.0
//
// Can this hash do what the header says? What the header's first beat says is judged in the clock in which its
// second beat comes, at the earliest; the answer stands when both are there.
module hash_verdict
  import hash_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input  logic    clk_i,
  input  header_t header_i,
  // Chaining states of a key are there for a frame that brings none.
  input  logic    kept_i,
  output status_e verdict_o
);

  localparam int unsigned BlockBits = $clog2(BlockBytes);

  // Lengths of a digest's beginning.
  localparam logic [63:0] ResultLengths = (64'd2 << Shape.digest_bytes) - 64'd2;

  logic is_hash, is_states, is_key, operation_ok, key_ok, iv_ok, result_ok;
  logic algorithm_ok_q, operation_ok_q, key_kept_q, key_ok_q, iv_ok_q, result_ok_q;

  assign is_hash = header_i.op == OpHash;
  assign is_states = header_i.op == OpHmacStates;
  assign is_key = header_i.op == OpHmacKey;

  assign operation_ok = !header_i.flags.decrypt
                      && (is_hash || ((is_states || is_key) && !header_i.flags.resume && !header_i.flags.partial));

  always_comb begin
    if (is_hash || !header_i.flags.fresh_key) key_ok = !header_i.flags.fresh_key;
    else if (is_states) key_ok = header_i.key_len == 8'(2 * Shape.state_bytes);
    else key_ok = header_i.key_len[7:BlockBits] == '0 || header_i.key_len == 8'(BlockBytes);
  end

  assign iv_ok = header_i.iv_len == (header_i.flags.resume ? 8'(8 + Shape.state_bytes) : 8'd0);
  assign result_ok = header_i.flags.partial ? header_i.result_len == 8'(Shape.state_bytes)
                                            : header_i.result_len[7:6] == '0 && ResultLengths[header_i.result_len[5:0]];

  always_ff @(posedge clk_i) begin
    algorithm_ok_q <= header_i.algorithm == Shape.algorithm;
    operation_ok_q <= operation_ok;
    key_kept_q     <= !is_hash && !header_i.flags.fresh_key;
    key_ok_q       <= key_ok;
    iv_ok_q        <= iv_ok;
    result_ok_q    <= result_ok;
  end

  always_comb begin
    if (!algorithm_ok_q) verdict_o = StatusUnknownAlgorithm;
    else if (!operation_ok_q) verdict_o = StatusUnknownOperation;
    else if (key_kept_q && !kept_i) verdict_o = StatusMissingKey;
    else if (!key_ok_q) verdict_o = StatusBadKeyLength;
    else if (!iv_ok_q) verdict_o = StatusBadIvLength;
    else if (!result_ok_q) verdict_o = StatusBadLength;
    else if (header_i.flags.partial && header_i.payload_len[BlockBits-1:0] != '0) verdict_o = StatusBadLength;
    else verdict_o = StatusOk;
  end

endmodule

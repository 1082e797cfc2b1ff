// SPDX-License-Identifier: Apache-2.0
//
// ECB, CBC, CTR, CFB (blocks or bytes) and OFB around any block cipher core that holds one block at a time: judges the
// header, and joins what brings keys and blocks to the core (cipher_key, cipher_in, cipher_bytes) and what takes its
// results (cipher_out).
//
// Clocks per block: the core's own figure, but not less than the beats of a block + 1 (CTR, CFB, OFB: + 2); with Eager
// and blocks of one beat 1 (CTR, CFB, OFB: 3). CFB with bytes: see cipher_bytes. Clocks per frame besides: 1 where
// there is an IV.
module cipher_modes
  import cipher_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // From and to the shell.
  input  header_t header_i,
  input  request_t  frame_i,
  output response_t answer_o,
  input  logic    answer_ready_i,

  // From and to the core.
  output core_req_t req_o,
  input  core_rsp_t rsp_i
);

  if (!(Shape.block_bytes inside {8, 16})) begin : gen_illegal_block
    $error("cipher_modes: blocks must be of 8 or 16 bytes");
  end
  if (Shape.key_lengths == '0 || Shape.key_lengths[0]) begin : gen_illegal_keys
    $error("cipher_modes: there must be at least one length of a key and not 0");
  end

  typedef logic [Shape.block_bits-1:0] block_t;

  // -- what kind of frame ---------------------------------------------------------------------------------

  kind_t kind, kind_q;
  logic is_cbc, is_cfb8, is_ofb;

  assign is_cbc        = header_i.op == OpCbc;
  assign is_cfb8       = Shape.modes.cfb8 && header_i.op == OpCfb8;
  assign is_ofb        = Shape.modes.ofb && header_i.op == OpOfb;

  assign kind.count    = header_i.op == OpCtr;
  assign kind.cfb      = Shape.modes.cfb && header_i.op == OpCfb;
  assign kind.stream   = kind.count || kind.cfb || is_cfb8 || is_ofb;
  assign kind.feedback = ((is_cbc || kind.cfb) && !header_i.flags.decrypt) || is_ofb;
  assign kind.mixing   = kind.count || kind.cfb || is_ofb || (is_cbc && header_i.flags.decrypt);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kind_q <= '0;
    else if (frame_i.start) kind_q <= kind;
  end

  // -- the parts ------------------------------------------------------------------------------------------

  logic key_kept;
  logic stale;  // the block in the core belongs to a dropped frame
  logic active, by_byte;  // a frame with payload is under way
  logic is_key;
  logic fill, enter, final_block;
  logic in_ready, in_valid, bytes_ready, bytes_valid, bytes_take;
  logic out_valid, out_done, bytes_result, bytes_done;
  logic [63:0] out, bytes_out;
  block_t in_block, bytes_block, mask;

  assign is_key            = frame_i.section == SecKey;
  assign answer_o.ready    = by_byte ? bytes_ready : in_ready;
  assign answer_o.valid    = out_valid || bytes_result;
  assign answer_o.beat     = by_byte ? bytes_out : out;
  assign answer_o.done     = out_done || bytes_done;
  assign answer_o.length   = header_i.payload_len;

  assign req_o.key_len     = header_i.key_len[5:0];
  assign req_o.key_decrypt = req_o.decrypt;
  assign req_o.decrypt     = Shape.decrypt && header_i.flags.decrypt && !kind_q.stream;
  assign req_o.block_valid = in_valid || bytes_valid;
  assign req_o.block       = 128'(by_byte ? bytes_block : in_block);

  cipher_verdict #(
    .Shape(Shape)
  ) u_verdict (
    .clk_i,
    .rst_ni,
    .header_i,
    .key_kept_i(key_kept),
    .verdict_o (answer_o.verdict)
  );

  cipher_key u_key (
    .clk_i,
    .rst_ni,
    .clear_i,
    .frame_i,
    .take_i     (frame_i.valid && is_key && !stale),
    .kept_o     (key_kept),
    .key_valid_o(req_o.key_valid),
    .key_o      (req_o.key),
    .key_index_o(req_o.key_index),
    .key_last_o (req_o.key_last)
  );

  cipher_in #(
    .Shape(Shape)
  ) u_in (
    .clk_i,
    .rst_ni,
    .frame_i,
    .kind_i       (kind_q),
    .active_i     (active),
    .ready_o      (in_ready),
    .stall_i      (stale),
    .take_i       (frame_i.valid && !is_key && !by_byte),
    .block_valid_o(in_valid),
    .block_o      (in_block),
    .rsp_i,
    .fill_o       (fill),
    .enter_o      (enter),
    .final_o      (final_block),
    .mask_o       (mask)
  );

  cipher_out #(
    .Shape(Shape)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i,
    .header_i,
    .start_i       (frame_i.start && !is_cfb8),
    .abort_i       (frame_i.drop),
    .active_o      (active),
    .stale_o       (stale),
    .feedback_i    (kind_q.feedback),
    .fill_i        (fill),
    .final_i       (final_block),
    .mask_i        (mask),
    .enter_i       (enter || (bytes_valid && rsp_i.block_ready)),
    .take_i        (bytes_take),
    .rsp_i,
    .ready_o       (req_o.result_ready),
    .result_valid_o(out_valid),
    .result_ready_i(answer_ready_i),
    .result_o      (out),
    .done_o        (out_done)
  );

  if (Shape.modes.cfb8) begin : gen_bytes
    cipher_bytes #(
      .Shape(Shape)
    ) u_bytes (
      .clk_i,
      .rst_ni,
      .header_i,
      .frame_i,
      .start_i       (frame_i.start && is_cfb8),
      .active_o      (by_byte),
      .ready_o       (bytes_ready),
      .stall_i       (stale),
      .take_i        (frame_i.valid && !is_key),
      .block_valid_o (bytes_valid),
      .block_o       (bytes_block),
      .result_take_o (bytes_take),
      .rsp_i,
      .result_valid_o(bytes_result),
      .result_ready_i(answer_ready_i),
      .result_o      (bytes_out),
      .done_o        (bytes_done)
    );
  end else begin : gen_no_bytes
    assign {by_byte, bytes_ready, bytes_valid, bytes_take, bytes_result, bytes_done} = '0;
    assign bytes_out = '0;
    assign bytes_block = '0;
  end

endmodule

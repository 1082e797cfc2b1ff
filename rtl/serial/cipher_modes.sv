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
  import core_pkg::*;
  import slot_pkg::*;
#(
  // The algorithm code that frames must carry.
  parameter logic [7:0] Algorithm = AlgAes,
  // 8 or 16.
  parameter int unsigned BlockBytes = 16,
  // Bit n set: a key of n bytes is legal.
  parameter logic [63:0] KeyLengths = '0,
  // What the core can do. CTR, CFB and OFB need Encrypt.
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  // The modes that this configuration has; CFB with blocks, Cfb8 with bytes.
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter bit Cfb = 1'b0,
  parameter bit Cfb8 = 1'b0,
  parameter bit Ofb = 1'b0,
  // Take a beat in the very clock in which a block enters the core: for a core so fast that this clock
  // counts, at the price of a path from its handshake to the shell. Not in CTR, CFB, OFB.
  parameter bit Eager = 1'b0,
  parameter bit Unhurried = 1'b0,  // The core takes two clocks or more: its block is seen to be the last later.

  localparam int unsigned BlockBits = 8 * BlockBytes
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // From and to the shell.
  input  header_t header_i,
  output status_e verdict_o,
  input  logic    start_i,

  input  logic            beat_valid_i,
  output logic            beat_ready_o,
  input  logic     [63:0] beat_i,
  input  section_e        section_i,
  input  logic            beat_last_i,

  input logic abort_i,

  output logic        result_valid_o,
  input  logic        result_ready_i,
  output logic [63:0] result_o,
  output logic        done_o,
  output logic [31:0] result_len_o,

  // From and to the core.
  output core_req_t req_o,
  input  core_rsp_t rsp_i
);

  if (!(BlockBytes inside {8, 16})) begin : gen_illegal_block
    $error("cipher_modes: BlockBytes must be 8 or 16");
  end
  if (!Encrypt && !Decrypt || !(Ecb || Cbc || Ctr || Cfb || Cfb8 || Ofb)) begin : gen_illegal_modes
    $error("cipher_modes: no mode left");
  end
  if (!Encrypt && (Ctr || Cfb || Cfb8 || Ofb)) begin : gen_illegal_stream
    $error("cipher_modes: CTR, CFB and OFB need Encrypt");
  end
  if (KeyLengths == '0 || KeyLengths[0]) begin : gen_illegal_keys
    $error("cipher_modes: KeyLengths must name at least one length and not 0");
  end

  typedef logic [BlockBits-1:0] block_t;

  // -- the verdict ----------------------------------------------------------------------------------------

  logic key_kept;

  cipher_verdict #(
    .Algorithm (Algorithm),
    .BlockBytes(BlockBytes),
    .KeyLengths(KeyLengths),
    .Encrypt   (Encrypt),
    .Decrypt   (Decrypt),
    .Ecb       (Ecb),
    .Cbc       (Cbc),
    .Ctr       (Ctr),
    .Cfb       (Cfb),
    .Cfb8      (Cfb8),
    .Ofb       (Ofb)
  ) u_verdict (
    .clk_i,
    .rst_ni,
    .header_i,
    .key_kept_i(key_kept),
    .verdict_o
  );

  assign result_len_o = header_i.payload_len;

  // -- what kind of frame ---------------------------------------------------------------------------------

  localparam bit Stream = Ctr || Cfb || Ofb;

  logic stream_q;  // the core encrypts, and its result is mixed into the payload
  logic count_q, cfb_q;  // CTR, CFB
  logic feedback_q;  // what the core has as a result enters it again: CBC and CFB encryption, OFB
  logic mixing_q;  // what leaves the core is mixed: the same, and CBC decryption

  logic is_ctr, is_cbc, is_cfb, is_cfb8, is_ofb, is_stream;
  assign is_ctr    = Ctr && header_i.op == OpCtr;
  assign is_cbc    = Cbc && header_i.op == OpCbc;
  assign is_cfb    = Cfb && header_i.op == OpCfb;
  assign is_cfb8   = Cfb8 && header_i.op == OpCfb8;
  assign is_ofb    = Ofb && header_i.op == OpOfb;
  assign is_stream = is_ctr || is_cfb || is_ofb;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stream_q   <= 1'b0;
      count_q    <= 1'b0;
      cfb_q      <= 1'b0;
      feedback_q <= 1'b0;
      mixing_q   <= 1'b0;
    end else if (start_i) begin
      stream_q   <= is_stream || is_cfb8;
      count_q    <= is_ctr;
      cfb_q      <= is_cfb;
      feedback_q <= ((is_cbc || is_cfb) && Encrypt && !header_i.flags.decrypt) || is_ofb;
      mixing_q   <= is_stream || (is_cbc && header_i.flags.decrypt);
    end
  end

  // -- the parts ------------------------------------------------------------------------------------------

  logic stale;  // the block in the core belongs to a dropped frame
  logic active, by_byte;  // a frame with payload is under way
  logic is_key;
  logic fill, enter, final_block;
  logic in_ready, in_valid, bytes_ready, bytes_valid, bytes_take;
  logic out_valid, out_done, bytes_result, bytes_done;
  logic [63:0] out, bytes_out;
  block_t in_block, bytes_block, mask;

  assign is_key            = section_i == SecKey;
  assign beat_ready_o      = by_byte ? bytes_ready : in_ready;
  assign result_valid_o    = out_valid || bytes_result;
  assign result_o          = by_byte ? bytes_out : out;
  assign done_o            = out_done || bytes_done;

  assign req_o.key_len     = header_i.key_len[5:0];
  assign req_o.key_decrypt = req_o.decrypt;
  assign req_o.decrypt     = Decrypt && header_i.flags.decrypt && !stream_q;
  assign req_o.block_valid = in_valid || bytes_valid;
  assign req_o.block       = 128'(by_byte ? bytes_block : in_block);

  cipher_key u_key (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_i,
    .take_i     (beat_valid_i && is_key && !stale),
    .beat_i,
    .beat_last_i,
    .kept_o     (key_kept),
    .key_valid_o(req_o.key_valid),
    .key_o      (req_o.key),
    .key_index_o(req_o.key_index),
    .key_last_o (req_o.key_last)
  );

  cipher_in #(
    .BlockBytes(BlockBytes),
    .Encrypt   (Encrypt),
    .Cbc       (Cbc),
    .Ctr       (Ctr),
    .Cfb       (Cfb),
    .Ofb       (Ofb),
    .Eager     (Eager),
    .Unhurried (Unhurried)
  ) u_in (
    .clk_i,
    .rst_ni,
    .stream_i     (stream_q),
    .count_i      (Cfb || Cfb8 || Ofb ? count_q : stream_q),
    .cfb_i        (cfb_q),
    .feedback_i   (feedback_q),
    .mixing_i     (mixing_q),
    .start_i,
    .active_i     (active),
    .abort_i,
    .valid_i      (beat_valid_i && !is_key && !by_byte),
    .ready_o      (in_ready),
    .stall_i      (stale),
    .beat_i,
    .section_i,
    .last_i       (beat_last_i),
    .block_valid_o(in_valid),
    .block_ready_i(rsp_i.block_ready),
    .block_o      (in_block),
    .result_i     (rsp_i.result[BlockBits-1:0]),
    .fill_o       (fill),
    .enter_o      (enter),
    .final_o      (final_block),
    .mask_o       (mask)
  );

  cipher_out #(
    .BlockBytes(BlockBytes),
    .Stream    (Stream),
    .Unhurried (Unhurried)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i,
    .header_i,
    .start_i       (start_i && !is_cfb8),
    .abort_i,
    .active_o      (active),
    .stale_o       (stale),
    .feedback_i    (feedback_q),
    .fill_i        (fill),
    .final_i       (final_block),
    .mask_i        (mask),
    .enter_i       (enter || (bytes_valid && rsp_i.block_ready)),
    .take_i        (bytes_take),
    .valid_i       (rsp_i.result_valid),
    .ready_o       (req_o.result_ready),
    .block_i       (rsp_i.result[BlockBits-1:0]),
    .result_valid_o(out_valid),
    .result_ready_i,
    .result_o      (out),
    .done_o        (out_done)
  );

  if (Cfb8) begin : gen_bytes
    cipher_bytes #(
      .BlockBytes(BlockBytes)
    ) u_bytes (
      .clk_i,
      .rst_ni,
      .header_i,
      .start_i       (start_i && is_cfb8),
      .abort_i,
      .active_o      (by_byte),
      .valid_i       (beat_valid_i && !is_key),
      .ready_o       (bytes_ready),
      .stall_i       (stale),
      .beat_i,
      .section_i,
      .last_i        (beat_last_i),
      .block_valid_o (bytes_valid),
      .block_ready_i (rsp_i.block_ready),
      .block_o       (bytes_block),
      .result_valid_i(rsp_i.result_valid),
      .result_take_o (bytes_take),
      .result_i      (rsp_i.result[7:0]),
      .result_valid_o(bytes_result),
      .result_ready_i,
      .result_o      (bytes_out),
      .done_o        (bytes_done)
    );
  end else begin : gen_no_bytes
    assign {by_byte, bytes_ready, bytes_valid, bytes_take, bytes_result, bytes_done} = '0;
    assign bytes_out = '0;
    assign bytes_block = '0;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The key memory of an element: words of keys, each at its block's base, and of constants, a bank of which lies at
// the bottom. The base belongs to the block that is so many stages old.
//
// Latency: the word of the context in clock t is there in clock t + 4.
module array_key
  import array_pkg::*;
(
  input logic clk_i,

  // The youngest block's number, of the context's clock; the block that starts in the next clock and its key's base.
  input logic [  StageBits-1:0] block_i,
  input logic                   start_i,
  input logic [  StageBits-1:0] start_block_i,
  input logic [KeyWordBits-1:0] start_base_i,
  input logic                   bank_i,
  input key_t                   key_i,

  input logic                   write_i,
  input logic [KeyWordBits-1:0] write_at_i,
  input logic [           31:0] write_data_i,

  output logic        use_o,
  output logic [31:0] word_o
);

  (* ram_style = "block", no_rw_check *)
  logic [31:0] words[1 << KeyWordBits];
  (* ram_style = "distributed", no_rw_check *)
  logic [KeyWordBits-1:0] bases[1 << StageBits];

  logic [StageBits-1:0] block_q;
  logic [KeyOffsetBits-1:0] word_q;
  logic constant_q;
  logic [3:0] use_q;
  logic [KeyWordBits-1:0] base, at_q;
  logic [31:0] raw_q;

  assign base  = constant_q ? KeyWordBits'({bank_i, {ConstantBits{1'b0}}}) : bases[block_q];
  assign use_o = use_q[3];

  always_ff @(posedge clk_i) begin
    if (start_i) bases[start_block_i] <= start_base_i;
    block_q    <= block_i - key_i.stage;
    word_q     <= key_i.word;
    constant_q <= key_i.constant;
    use_q      <= {use_q[2:0], key_i.used};
    at_q       <= base + KeyWordBits'(word_q);
  end

  always_ff @(posedge clk_i) begin
    if (write_i) words[write_at_i] <= write_data_i;
  end

  always_ff @(posedge clk_i) begin
    raw_q  <= words[at_q];
    word_o <= raw_q;
  end

endmodule

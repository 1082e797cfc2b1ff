// SPDX-License-Identifier: Apache-2.0
//
// One tile of the multi-context array: contexts that say in each clock what each element of its ways does (array_way);
// banks, so that one set of contexts runs while the next one is written. Ways are in step: at a start of the tile each of
// them may begin a block. Nothing stalls: what a block without data computes nobody takes.
//
// Block j starts in a clock of start_o and has its last word in the output memory so many clocks later as its set
// says. Its input words lie at j times the stride, its output words likewise.
module array_tile
  import array_pkg::*;
  import core_pkg::clear_t;
#(
  // 1 or 2.
  parameter int unsigned Ways = 1
) (
  input logic clk_i,
  input logic rst_ni,

  // Every port takes zero meanwhile, and zero is written into all memories that have held a key or a block; contexts,
  // tables and constants stay. The deepest memory's words and 64 clocks leave nothing behind.
  input clear_t clear_i,

  // Words of the stream go to one way, all else to all of them.
  input write_t write_i,

  // Blocks start, and each takes the base of its key.
  output logic                                   start_o,
  input  logic [      Ways-1:0][KeyWordBits-1:0] key_base_i,
  // From the clock after start_o on: where their words begin.
  output logic [StreamBits-1:0]                  input_base_o,
  output logic [StreamBits-1:0]                  output_base_o,
  // The bank whose contexts run.
  output logic                                   bank_o,

  // Words of a way's output memories, one for each output: three clocks later.
  input  logic [Ways-1:0][StreamBits-1:0]       read_at_i,
  output logic [Ways-1:0][   Outputs-1:0][31:0] words_o
);

  if (Ways < 1 || Ways > 2) begin : gen_illegal
    $error("array_tile: ways are one or two");
  end

  write_t write_q;

  always_ff @(posedge clk_i) begin
    write_q <= write_i;
    if (!rst_ni) write_q.target <= TargetNone;
  end

  // The sequence is a clock ahead, as ways have registers behind it and behind the contexts.
  logic [ContextBits-1:0] context_at;
  logic context_bank, context_bank_q, bank, start;
  logic [ StageBits-1:0] block;
  logic [MemoryBits-1:0] memory_base;
  logic [StreamBits-1:0] input_base, output_base;

  array_sequence u_sequence (
    .clk_i,
    .rst_ni,
    .switch_i(write_i.target == TargetSettings),
    .settings_i(settings_t'(write_i.data[$bits(settings_t)-1:0])),
    .context_o(context_at),
    .context_bank_o(context_bank),
    .bank_o(bank),
    .start_o(start),
    .block_o(block),
    .memory_base_o(memory_base),
    .input_base_o(input_base),
    .output_base_o(output_base)
  );

  assign bank_o = context_bank_q;

  always_ff @(posedge clk_i) begin
    context_bank_q <= context_bank;
    start_o        <= start;
    input_base_o   <= input_base;
    output_base_o  <= output_base;
    if (!rst_ni) start_o <= 1'b0;
  end

  context_t word;
  logic [64*ContextWords-1:0] context_bits;
  for (genvar i = 0; i < ContextWords; i++) begin : gen_context
    (* ram_style = "block", no_rw_check *)
    logic [63:0] words[2 << ContextBits];
    logic [63:0] raw_q, word_q;
    logic write;

    assign write = (write_q.target == TargetContext) && (32'(write_q.lane) == i);

    always_ff @(posedge clk_i) begin
      if (write) words[{!context_bank_q, write_q.at[ContextBits-1:0]}] <= write_q.data;
    end
    always_ff @(posedge clk_i) begin
      raw_q  <= words[{context_bank, context_at}];
      word_q <= raw_q;
    end
    assign context_bits[64*i+:64] = word_q;
  end
  assign word = context_t'(context_bits[ContextUsed-1:0]);

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    array_way #(
      .Way(w)
    ) u_way (
      .clk_i,
      .rst_ni,
      .clear_i,
      .write_i,
      .context_bank_i(context_bank_q),
      .context_i     (word),
      .bank_i        (bank),
      .block_i       (block),
      .memory_base_i (memory_base),
      .input_base_i  (input_base),
      .output_base_i (output_base),
      .start_i       (start_o),
      .key_base_i    (key_base_i[w]),
      .read_at_i     (read_at_i[w]),
      .words_o       (words_o[w])
    );
  end

endmodule

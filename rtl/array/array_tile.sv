// SPDX-License-Identifier: Apache-2.0
//
// One tile of the multi-context array: elements for ciphers and hashes, each behind operand ports with delay lines,
// on a network that shows every port every result; contexts that say in each clock what each element does; banks, so
// that one set of contexts runs while the next one is written. Nothing stalls: what a block without data computes
// nobody takes.
//
// Block j starts in a clock of start_o and has its last word in the output memory so many clocks later as its set
// says. Its input words lie at j times the stride, its output words likewise.
module array_tile
  import array_pkg::*;
  import core_pkg::clear_t;
(
  input logic clk_i,
  input logic rst_ni,

  // Every port takes zero meanwhile, and zero is written into all memories that have held a key or a block; contexts,
  // tables and constants stay. The deepest memory's words and 64 clocks leave nothing behind.
  input clear_t clear_i,

  input write_t write_i,

  // A block starts, and takes the base of its key.
  output logic                   start_o,
  input  logic [KeyWordBits-1:0] key_base_i,
  // From the clock after start_o on: where its words begin.
  output logic [ StreamBits-1:0] input_base_o,
  output logic [ StreamBits-1:0] output_base_o,
  // The bank whose contexts run.
  output logic                   bank_o,

  // Words of the output memories, one for each output: three clocks later.
  input  logic [StreamBits-1:0]       read_at_i,
  output logic [   Outputs-1:0][31:0] words_o
);

  localparam int unsigned RotatorAt = Alus;
  localparam int unsigned QuadAt = RotatorAt + Rotators;
  localparam int unsigned MultiplierAt = QuadAt + Quads;
  localparam int unsigned MemoryAt = MultiplierAt + Multipliers;
  localparam int unsigned InputAt = MemoryAt + Memories;

  write_t write_q;
  context_t now;
  logic [Sources-1:0][31:0] sources;
  (* keep *) logic [LongLineBits-1:0] clock_q;

  always_ff @(posedge clk_i) begin
    write_q <= write_i;
    clock_q <= clock_q + 1'b1;
    if (!rst_ni) begin
      write_q.target <= TargetNone;
      clock_q        <= '0;
    end
  end

  // Sequence.
  logic [ContextBits-1:0] context_at;
  logic context_bank, bank, start;
  logic [StageBits-1:0] start_block, block;
  logic [MemoryBits-1:0] memory_base;
  logic [StreamBits-1:0] input_base, output_base;
  logic start_q;
  logic [KeyWordBits-1:0] key_base_q;
  logic [StageBits-1:0] start_block_q;

  array_sequence u_sequence (
    .clk_i,
    .rst_ni,
    .switch_i(write_q.target == TargetSettings),
    .settings_i(settings_t'(write_q.data[$bits(settings_t)-1:0])),
    .context_o(context_at),
    .context_bank_o(context_bank),
    .bank_o(bank),
    .start_o(start),
    .start_block_o(start_block),
    .block_o(block),
    .memory_base_o(memory_base),
    .input_base_o(input_base),
    .output_base_o(output_base)
  );

  assign start_o       = start;
  assign input_base_o  = input_base;
  assign output_base_o = output_base;
  assign bank_o        = context_bank;

  // A key is first asked for one clock after its block's first context, so that the base has a register.
  always_ff @(posedge clk_i) begin
    start_q       <= start;
    start_block_q <= start_block;
    key_base_q    <= key_base_i;
  end

  // Contexts.
  logic [64*ContextWords-1:0] context_bits;
  for (genvar i = 0; i < ContextWords; i++) begin : gen_context
    (* ram_style = "block", no_rw_check *)
    logic [63:0] words[2 << ContextBits];
    logic [63:0] raw_q, word_q;
    logic write;

    assign write = (write_q.target == TargetContext) && (32'(write_q.lane) == i);

    always_ff @(posedge clk_i) begin
      if (write) words[{!context_bank, write_q.at[ContextBits-1:0]}] <= write_q.data;
    end
    always_ff @(posedge clk_i) begin
      raw_q  <= words[{context_bank, context_at}];
      word_q <= raw_q;
    end
    assign context_bits[64*i+:64] = word_q;
  end
  assign now = context_t'(context_bits[ContextUsed-1:0]);

  // Keys and constants: one write port for all.
  logic key_write_q;
  logic [KeyWordBits-1:0] key_at_q;
  logic [31:0] key_data_q;

  always_ff @(posedge clk_i) begin
    // Constants lie below the keys, and are no secret.
    if (clear_i.active) begin
      key_write_q <= clear_i.index[KeyWordBits-1:0] >= KeyWordBits'(2 << ConstantBits);
      key_at_q    <= clear_i.index[KeyWordBits-1:0];
      key_data_q  <= '0;
    end else begin
      key_write_q <= write_q.target inside {TargetConstant, TargetKey};
      key_at_q <= write_q.target == TargetKey ? write_q.at[KeyWordBits-1:0] :
          KeyWordBits'({!context_bank, write_q.at[ConstantBits-1:0]});
      key_data_q <= write_q.data[31:0];
    end
  end

  for (genvar i = 0; i < Alus; i++) begin : gen_alu
    logic [AluOperands-1:0][31:0] operands;
    logic key_use;
    logic [31:0] key_word;

    for (genvar p = 0; p < AluOperands; p++) begin : gen_port
      localparam int unsigned Bits = p == AluOperands - 1 ? LongLineBits : LineBits;
      array_port #(
        .Bits(Bits)
      ) u_port (
        .clk_i,
        .clear_i(clear_i.active),
        .now_i(clock_q[Bits-1:0]),
        .port_i(now.alus[i].ports[p]),
        .sources_i(sources),
        .value_o(operands[p])
      );
    end

    array_key u_key (
      .clk_i,
      .block_i(block),
      .start_i(start_q),
      .start_block_i(start_block_q),
      .start_base_i(key_base_q),
      .bank_i(bank),
      .key_i(now.alus[i].key),
      .write_i(key_write_q),
      .write_at_i(key_at_q),
      .write_data_i(key_data_q),
      .use_o(key_use),
      .word_o(key_word)
    );

    array_alu u_alu (
      .clk_i,
      .op_i(now.alus[i].op),
      .operands_i(operands),
      .key_use_i(key_use),
      .key_i(key_word),
      .result_o(sources[i])
    );
  end

  for (genvar i = 0; i < Rotators; i++) begin : gen_rotator
    logic [31:0] value, key_word;
    logic [4:0] amount;
    logic key_use;
    logic [Sources-1:0][4:0] low;

    for (genvar s = 0; s < Sources; s++) begin : gen_low
      assign low[s] = sources[s][4:0];
    end

    array_port u_value (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.rotators[i].value),
      .sources_i(sources),
      .value_o(value)
    );

    array_line #(
      .Width(5)
    ) u_amount (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.rotators[i].amount),
      .sources_i(low),
      .value_o(amount)
    );

    array_key u_key (
      .clk_i,
      .block_i(block),
      .start_i(start_q),
      .start_block_i(start_block_q),
      .start_base_i(key_base_q),
      .bank_i(bank),
      .key_i(now.rotators[i].key),
      .write_i(key_write_q),
      .write_at_i(key_at_q),
      .write_data_i(key_data_q),
      .use_o(key_use),
      .word_o(key_word)
    );

    array_rotator u_rotator (
      .clk_i,
      .op_i(now.rotators[i].op),
      .constant_i(now.rotators[i].amount.delay),
      .value_i(value),
      .amount_i(amount),
      .key_use_i(key_use),
      .key_i(key_word[4:0]),
      .result_o(sources[RotatorAt+i])
    );
  end

  // Tables: one write port for all quads, which hold the same ones.
  logic [3:0] table_write_q;
  logic [8:0] table_at_q;
  logic [3:0][31:0] table_data, table_data_q;

  for (genvar i = 0; i < 4; i++) begin : gen_table_data
    logic [31:0] low, own;
    assign low = write_q.data[31:0];
    assign own = (i % 2 == 1) ? write_q.data[63:32] : low;
    assign table_data[i] = write_q.rotate ? (low << (8 * i)) | 32'(64'(low) >> (32 - 8 * i)) : own;
  end

  always_ff @(posedge clk_i) begin
    table_write_q <= write_q.lane & {4{write_q.target == TargetTable}};
    table_at_q    <= write_q.at;
    table_data_q  <= table_data;
  end

  for (genvar i = 0; i < Quads; i++) begin : gen_quad
    logic [3:0][7:0] index;

    for (genvar p = 0; p < 4; p++) begin : gen_port
      logic [Sources-1:0][7:0] bytes;
      for (genvar s = 0; s < Sources; s++) begin : gen_byte
        assign bytes[s] = sources[s][8*p+:8];
      end
      array_line #(
        .Width(8)
      ) u_line (
        .clk_i,
        .clear_i(clear_i.active),
        .now_i(clock_q[LineBits-1:0]),
        .port_i(now.quads[i].ports[p]),
        .sources_i(bytes),
        .value_o(index[p])
      );
    end

    array_quad u_quad (
      .clk_i,
      .bank_i(bank),
      .op_i(now.quads[i].op),
      .index_i(index),
      .write_i(table_write_q),
      .write_at_i(table_at_q),
      .write_data_i(table_data_q),
      .result_o(sources[QuadAt+i])
    );
  end

  for (genvar i = 0; i < Multipliers; i++) begin : gen_multiplier
    logic [31:0] a, b;

    array_port u_a (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.multipliers[i].a),
      .sources_i(sources),
      .value_o(a)
    );

    array_port u_b (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.multipliers[i].b),
      .sources_i(sources),
      .value_o(b)
    );

    array_multiplier u_multiplier (
      .clk_i,
      .op_i(now.multipliers[i].op),
      .a_i(a),
      .b_i(b),
      .result_o(sources[MultiplierAt+i])
    );
  end

  for (genvar i = 0; i < Memories; i++) begin : gen_memory
    logic [31:0] value, value_q;

    array_port u_port (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.memories[i].value),
      .sources_i(sources),
      .value_o(value)
    );

    always_ff @(posedge clk_i) value_q <= value;

    array_memory #(
      .AddressBits(MemoryBits)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i(now.memories[i].write),
      .write_base_i(memory_base),
      .write_at_i(now.memories[i].write_at),
      .write_data_i(value_q),
      .read_base_i(memory_base),
      .read_at_i(now.memories[i].read_at),
      .word_o(sources[MemoryAt+i])
    );
  end

  for (genvar i = 0; i < Inputs; i++) begin : gen_input
    logic [1:0][31:0] data_q;

    // The memory wants the word two clocks behind the address.
    always_ff @(posedge clk_i) data_q <= {data_q[0], write_q.data[32*i+:32]};

    array_memory #(
      .AddressBits(StreamBits)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i(write_q.target == TargetInput),
      .write_base_i('0),
      .write_at_i(write_q.at[StreamBits-1:0]),
      .write_data_i(data_q[1]),
      .read_base_i(input_base),
      .read_at_i(now.inputs[i].read_at),
      .word_o(sources[InputAt+i])
    );
  end

  for (genvar i = 0; i < Outputs; i++) begin : gen_output
    logic [31:0] value, value_q;

    array_port u_port (
      .clk_i,
      .clear_i(clear_i.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.outputs[i].value),
      .sources_i(sources),
      .value_o(value)
    );

    always_ff @(posedge clk_i) value_q <= value;

    array_memory #(
      .AddressBits(StreamBits)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i(now.outputs[i].write),
      .write_base_i(output_base),
      .write_at_i(now.outputs[i].write_at),
      .write_data_i(value_q),
      .read_base_i('0),
      .read_at_i(read_at_i),
      .word_o(words_o[i])
    );
  end

endmodule

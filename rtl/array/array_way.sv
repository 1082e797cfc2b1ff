// SPDX-License-Identifier: Apache-2.0
//
// One way of a tile: elements for ciphers and hashes, each behind operand ports with delay lines, on a network that shows
// every port every result; their tables, keys, and memories of words in and out. What they do in a clock the tile's
// context says, which is the same in all ways. Each way has registers of its own for it, and for all that is written.
//
// Clocks: what the tile says is one clock ahead of the elements, but for start_i.
module array_way
  import array_pkg::*;
  import core_pkg::clear_t;
#(
  // Which one of the tile's ways it is.
  parameter int unsigned Way = 0
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,
  input write_t write_i,
  // The bank that does not run is written.
  input logic   context_bank_i,

  input context_t                  context_i,
  input logic                      bank_i,
  input logic     [ StageBits-1:0] block_i,
  input logic     [MemoryBits-1:0] memory_base_i,
  input logic     [StreamBits-1:0] input_base_i,
  input logic     [StreamBits-1:0] output_base_i,

  // A block starts, and takes the base of its key.
  input logic                   start_i,
  input logic [KeyWordBits-1:0] key_base_i,

  // Words of the output memories, one for each output: three clocks later.
  input  logic [StreamBits-1:0]       read_at_i,
  output logic [   Outputs-1:0][31:0] words_o
);

  localparam int unsigned RotatorAt = Alus;
  localparam int unsigned QuadAt = RotatorAt + Rotators;
  localparam int unsigned MultiplierAt = QuadAt + Quads;
  localparam int unsigned MemoryAt = MultiplierAt + Multipliers;
  localparam int unsigned InputAt = MemoryAt + Memories;

  // Two ways have the same registers, and synthesis is not to make one of them.
  (* keep *) write_t write_q;
  (* keep *) clear_t clear_q;
  (* keep *) context_t now;
  (* keep *) logic bank;
  (* keep *) logic [StageBits-1:0] block;
  (* keep *) logic [MemoryBits-1:0] memory_base;
  (* keep *) logic [StreamBits-1:0] input_base, output_base;
  (* keep *) logic [LongLineBits-1:0] clock_q;
  (* keep *) logic start_q;
  logic [KeyWordBits-1:0] key_base_q;
  logic [Sources-1:0][31:0] sources;

  always_ff @(posedge clk_i) begin
    write_q     <= write_i;
    clear_q     <= clear_i;
    now         <= context_i;
    bank        <= bank_i;
    block       <= block_i;
    memory_base <= memory_base_i;
    input_base  <= input_base_i;
    output_base <= output_base_i;
    clock_q     <= clock_q + 1'b1;
    // A key is first asked for one clock after its block's first context, so that the base has a register.
    start_q     <= start_i;
    key_base_q  <= key_base_i;
    if (!rst_ni) begin
      write_q.target <= TargetNone;
      clock_q        <= '0;
    end
  end

  // Keys and constants: one write port for all.
  // Into the ALUs' key memories; into the rotators'.
  logic [1:0] key_write_q;
  logic [KeyWordBits-1:0] key_at_q;
  logic [31:0] key_data_q;

  always_ff @(posedge clk_i) begin
    // Constants lie below the keys, and are no secret.
    if (clear_q.active) begin
      key_write_q <= {2{clear_q.index[KeyWordBits-1:0] >= KeyWordBits'(2 << ConstantBits)}};
      key_at_q    <= clear_q.index[KeyWordBits-1:0];
      key_data_q  <= '0;
    end else begin
      key_write_q <= (write_q.lane[1:0] & {2{write_q.target == TargetConstant}}) | {2{write_q.target == TargetKey}};
      key_at_q <= write_q.target == TargetKey ? write_q.at[KeyWordBits-1:0] :
          KeyWordBits'({!context_bank_i, write_q.at[ConstantBits-1:0]});
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
        .clear_i(clear_q.active),
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
      .start_block_i(block),
      .start_base_i(key_base_q),
      .bank_i(bank),
      .key_i(now.alus[i].key),
      .write_i(key_write_q[0]),
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

  // What the rotators' key memories have is there for the multipliers, too.
  logic [Rotators-1:0][31:0] key_words;

  for (genvar i = 0; i < Rotators; i++) begin : gen_rotator
    logic [31:0] value, key_word;
    logic [4:0] amount;
    logic key_use;
    logic [Sources-1:0][4:0] low;

    assign key_words[i] = key_word;

    for (genvar s = 0; s < Sources; s++) begin : gen_low
      assign low[s] = sources[s][4:0];
    end

    array_port u_value (
      .clk_i,
      .clear_i(clear_q.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.rotators[i].value),
      .sources_i(sources),
      .value_o(value)
    );

    array_line #(
      .Width(5)
    ) u_amount (
      .clk_i,
      .clear_i(clear_q.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.rotators[i].amount),
      .sources_i(low),
      .value_o(amount)
    );

    array_key u_key (
      .clk_i,
      .block_i(block),
      .start_i(start_q),
      .start_block_i(block),
      .start_base_i(key_base_q),
      .bank_i(bank),
      .key_i(now.rotators[i].key),
      .write_i(key_write_q[1]),
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
        .clear_i(clear_q.active),
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
      .clear_i(clear_q.active),
      .now_i(clock_q[LineBits-1:0]),
      .port_i(now.multipliers[i].a),
      .sources_i(sources),
      .value_o(a)
    );

    array_port u_b (
      .clk_i,
      .clear_i(clear_q.active),
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
      .key_i(key_words[i]),
      .result_o(sources[MultiplierAt+i])
    );
  end

  for (genvar i = 0; i < Memories; i++) begin : gen_memory
    logic [31:0] value, value_q;

    array_port u_port (
      .clk_i,
      .clear_i(clear_q.active),
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
      .clear_i(clear_q),
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
      .clear_i(clear_q),
      .write_i(write_q.target == TargetInput && 32'(write_q.way) == Way),
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
      .clear_i(clear_q.active),
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
      .clear_i(clear_q),
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

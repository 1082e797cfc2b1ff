// SPDX-License-Identifier: Apache-2.0
//
// Decompression by memory reads alone (section 5 of the paper): the index is read codeword by codeword, and of each the
// list of nodes that it points to. A node is a symbol of 8 bits and a pointer to the next node. Nodes below `terminals_i`
// end their phrase. A pointer to a node that is not below its own is a fault: so every phrase ends.
//
// Clocks: 1 for each codeword and 1 for each byte, and 1 at the start. A byte that is not taken is read again.
module phrase_reader #(
  // Bits of a pointer.
  parameter int unsigned Width = 18
) (
  input logic clk_i,

  // Begins, or begins anew; the next two stand still from here on.
  input logic             start_i,
  input logic [Width-1:0] codewords_i,
  input logic [Width-1:0] terminals_i,

  // The memory: what stands at an address comes in the next clock. A codeword is a pointer without a symbol.
  output logic             read_node_o,
  output logic [Width-1:0] read_address_o,
  input  logic [Width+7:0] read_data_i,

  output logic       valid_o,
  output logic [7:0] byte_o,
  input  logic       ready_i,

  output logic done_o,
  output logic fault_o
);

  typedef enum logic [1:0] {
    Idle,
    Codeword,
    Symbol
  } state_e;

  state_e state_q, state_d;
  logic [Width-1:0] index_q, index_d;  // codewords that were read
  logic [Width-1:0] address_q;  // of the node whose symbol is there
  logic [Width-1:0] pointer;
  logic fault_q, fault, last;

  assign pointer = read_data_i[8+:Width];
  assign last    = address_q < terminals_i;

  assign valid_o = state_q == Symbol;
  assign byte_o  = read_data_i[7:0];
  assign done_o  = state_q == Idle;
  assign fault_o = fault_q;

  always_comb begin
    state_d        = state_q;
    index_d        = index_q;
    read_node_o    = 1'b0;
    read_address_o = index_q;
    fault          = 1'b0;
    unique case (state_q)
      Codeword: begin
        state_d        = Symbol;
        read_node_o    = 1'b1;
        read_address_o = pointer;
      end
      Symbol: begin
        if (!ready_i) begin
          read_node_o    = 1'b1;
          read_address_o = address_q;
        end else if (!last) begin
          read_node_o    = 1'b1;
          read_address_o = pointer;
          fault          = pointer >= address_q;
        end else if (index_q != codewords_i) begin
          state_d = Codeword;
          index_d = index_q + Width'(1);
        end else begin
          state_d = Idle;
        end
      end
      default: ;
    endcase
    if (fault) state_d = Idle;
    if (start_i) begin
      state_d        = codewords_i == '0 ? Idle : Codeword;
      index_d        = Width'(1);
      read_node_o    = 1'b0;
      read_address_o = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    state_q   <= state_d;
    index_q   <= index_d;
    address_q <= read_address_o;
    if (start_i) fault_q <= 1'b0;
    else if (fault) fault_q <= 1'b1;
  end

endmodule

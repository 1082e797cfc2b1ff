// SPDX-License-Identifier: Apache-2.0
//
// Four tables of two pages and two banks, each looked up by its byte of four words; the results' XOR, or a chain of
// sums, differences and XORs from lane 3 down to lane 0. Tables of 64 words lie at every fourth address.
//
// Latency: operands are read in clock t + 1 for the context of clock t, the result is there in clock t + 4, that of a
// chain in clock t + 6. One whose lanes are all
// joined by XOR is no chain.
module array_quad
  import array_pkg::*;
(
  input logic clk_i,
  input logic bank_i,

  // Operations of lanes 2, 1, 0, two bits each; six bits; page and zero of each lane.
  input logic [14:0]      op_i,
  input logic [ 3:0][7:0] index_i,

  input logic [3:0]       write_i,
  input logic [8:0]       write_at_i,
  input logic [3:0][31:0] write_data_i,

  output logic [31:0] result_o
);

  typedef struct packed {
    logic [2:0][1:0] chain;
    logic            six;
    logic [3:0]      page;
    logic [3:0]      zero;
  } op_t;

  op_t op1_q, op2_q, op3_q;
  logic [2:0][1:0] chain4_q;
  logic [1:0] chain5_q;
  logic chained_q;
  logic [3:0][31:0] found_q;
  logic [31:0] all, first_q, second_q, lane1_q, lane0_q, lane0_late_q;

  for (genvar i = 0; i < 4; i++) begin : gen_lane
    (* ram_style = "block", no_rw_check *)
    logic [31:0] words [1024];
    logic [31:0] raw_q;
    logic [ 7:0] index;

    assign index = index_i[i] & {6'h3F, {2{!op1_q.six}}};

    always_ff @(posedge clk_i) begin
      if (write_i[i]) words[{!bank_i, write_at_i}] <= write_data_i[i];
    end
    always_ff @(posedge clk_i) begin
      raw_q      <= words[{bank_i, op1_q.page[i], index}];
      found_q[i] <= raw_q;
    end
  end

  // XOR, sum or difference.
  function automatic logic [31:0] link(logic [1:0] op, logic [31:0] above, logic [31:0] below);
    logic [32:0] sum;
    sum = {above, 1'b1} + {below ^ {32{op[0]}}, op[0]};
    return op[1] ? sum[32:1] : above ^ below;
  endfunction

  always_comb begin
    all = '0;
    for (int i = 0; i < 4; i++) all ^= found_q[i] & {32{!op3_q.zero[i]}};
  end

  always_ff @(posedge clk_i) begin
    op1_q        <= op_i;
    op2_q        <= op1_q;
    op3_q        <= op2_q;
    chain4_q     <= op3_q.chain;
    chain5_q     <= chain4_q[0];
    chained_q    <= |chain4_q;
    first_q      <= link(op3_q.chain[2], found_q[3], found_q[2]);
    lane1_q      <= found_q[1];
    lane0_q      <= found_q[0];
    second_q     <= link(chain4_q[1], first_q, lane1_q);
    lane0_late_q <= lane0_q;
    // A chain's end and another operation do not meet here in a legal set.
    result_o     <= chained_q ? link(chain5_q, second_q, lane0_late_q) : all;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// IDEA's multiplication by a constant, which is in the contents of kept LUTs and nowhere else. Of each four bits of x
// a table has their product with the constant modulo 2^16 + 1, and the sum of the four is brought back into it:
// 2^16 is -1, so that what is above bit 15 is subtracted. For x = 0, which stands for 2^16, the LUTs behind give the
// negated constant.
//
// Clocks: two, behind the sum and behind the difference.
module idea_constant_multiply #(
  parameter logic [15:0] K = '0
) (
  input  logic        clk_i,
  input  logic [15:0] x_i,
  output logic [15:0] y_o
);

  localparam int unsigned Modulus = 65537;

  // What 0 stands for.
  function automatic int unsigned full(input logic [15:0] value);
    return value == '0 ? Modulus - 1 : 32'(value);
  endfunction

  // For every value of four bits at 4 * place one bit of their product.
  function automatic logic [15:0] table_of(input int unsigned place, input logic [4:0] bit_of);
    longint unsigned product;
    logic [15:0] contents;
    for (int unsigned n = 0; n < 16; n++) begin
      product     = (64'(n) << (4 * place)) * 64'(full(K)) % 64'(Modulus);
      contents[n] = product[6'(bit_of)];
    end
    return contents;
  endfunction

  localparam logic [15:0] Negated = 16'(Modulus - full(K));

  logic [3:0][16:0] part;
  logic [18:0] sum_q;
  logic [16:0] difference;
  logic [15:0] y_q;
  logic [1:0] zero_q;

  for (genvar p = 0; p < 4; p++) begin : gen_part
    for (genvar b = 0; b < 17; b++) begin : gen_bit
      (* keep *)
      init_lut #(
        .Init(table_of(p, 5'(b)))
      ) u_key (
        .in_i (x_i[4*p+:4]),
        .out_o(part[p][b])
      );
    end
  end

  always_ff @(posedge clk_i) begin
    sum_q  <= (19'(part[0]) + 19'(part[1])) + (19'(part[2]) + 19'(part[3]));
    y_q    <= difference[15:0] + 16'(difference[16]);
    zero_q <= {zero_q[0], x_i == '0};
  end

  assign difference = {1'b0, sum_q[15:0]} - {14'd0, sum_q[18:16]};

  for (genvar b = 0; b < 16; b++) begin : gen_zero
    // Both inputs twice: no pin of a kept LUT may be constant.
    (* keep *)
    init_lut #(
      .Init(Negated[b] ? 16'hffaa : 16'h00aa)
    ) u_key (
      .in_i ({zero_q[1], zero_q[1], y_q[b], y_q[b]}),
      .out_o(y_o[b])
    );
  end

endmodule

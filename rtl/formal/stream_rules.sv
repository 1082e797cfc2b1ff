// SPDX-License-Identifier: Apache-2.0
//
// What holds for every handshake of valid and ready: what is offered stays as it is until it is taken. Properties of a
// side that the harness of a proof plays are assumed, all others are asserted.
module stream_rules #(
  parameter int unsigned Width = 1,
  parameter bit Assume = 1'b0,
  // Data is zero while there is none.
  parameter bit Zero = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  // What is offered may be taken back in this clock.
  input logic             revoke_i,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);

  logic waits_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      data_q  <= '0;
    end else begin
      waits_q <= valid_i && !ready_i && !revoke_i;
      if (valid_i && !ready_i) data_q <= data_i;
    end
  end

  if (Assume) begin : gen_assume
    always_comb begin
      if (rst_ni && waits_q) assume (valid_i && data_i == data_q);
      if (rst_ni && Zero && !valid_i) assume (data_i == '0);
    end
  end else begin : gen_assert
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        if (waits_q) begin
          assert (valid_i)
          else $error("what was offered is taken back");
          assert (data_i == data_q)
          else $error("what is offered changes before it is taken");
        end
        if (Zero && !valid_i) begin
          assert (data_i == '0)
          else $error("data without valid is not zero");
        end
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What an engine promises its shell: results and the end only of a frame that was started and not aborted, each result
// standing until it is taken. Assumed where a harness plays the engine.
module engine_rules #(
  parameter bit Assume = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic abort_i,
  input logic valid_i,
  input logic ready_i,
  input logic [63:0] result_i,
  input logic done_i
);

  logic engaged_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) engaged_q <= 1'b0;
    else engaged_q <= (start_i || engaged_q) && !abort_i && !done_i;
  end

  stream_rules #(
    .Width (64),
    .Assume(Assume)
  ) u_result (
    .clk_i,
    .rst_ni,
    .revoke_i(abort_i),
    .valid_i,
    .ready_i,
    .data_i  (result_i)
  );

  if (Assume) begin : gen_assume
    always_comb begin
      if (rst_ni && !engaged_q) assume (!valid_i && !done_i);
      // The last result is taken by then.
      if (rst_ni && done_i) assume (!valid_i || ready_i);
    end
  end else begin : gen_assert
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        assert (engaged_q || (!valid_i && !done_i))
        else $error("a result, or an end, of no frame");
        assert (!done_i || !valid_i || ready_i)
        else $error("done before the last result is taken");
      end
    end
  end

endmodule

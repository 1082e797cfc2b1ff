// SPDX-License-Identifier: Apache-2.0
//
// What an engine promises its shell: results and the end only of a frame that was started and not aborted, each result
// standing until it is taken, and zero where there is no such frame. Assumed where a harness plays the engine.
module engine_rules
  import slot_pkg::*;
#(
  parameter bit Assume = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,
  input request_t frame_i,
  input response_t answer_i,
  input logic ready_i
);

  logic engaged_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) engaged_q <= 1'b0;
    else engaged_q <= (frame_i.start || engaged_q) && !frame_i.drop && !answer_i.done;
  end

  stream_rules #(
    .Width (64),
    .Assume(Assume)
  ) u_result (
    .clk_i,
    .rst_ni,
    .revoke_i(frame_i.drop),
    .valid_i (answer_i.valid),
    .ready_i,
    .data_i  (answer_i.beat)
  );

  if (Assume) begin : gen_assume
    always_comb begin
      if (rst_ni && !engaged_q) assume (!answer_i.valid && !answer_i.done && answer_i.beat == '0);
      // The last result is taken by then.
      if (rst_ni && answer_i.done) assume (!answer_i.valid || ready_i);
    end
  end else begin : gen_assert
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        assert (engaged_q || (!answer_i.valid && !answer_i.done && answer_i.beat == '0))
        else $error("a result, or an end, of no frame");
        assert (!answer_i.done || !answer_i.valid || ready_i)
        else $error("done before the last result is taken");
      end
    end
  end

endmodule

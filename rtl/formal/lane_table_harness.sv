// SPDX-License-Identifier: Apache-2.0
//
// lane_table with frames that are opened in a free lane, under any context, and answered in any order, and with both
// ends no faster than lane_intake and lane_outlet are: so many clocks between two frames.
module lane_table_harness
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Contexts = 2,
  parameter int unsigned Apart = 4
) (
  input logic                        clk_i,
  input logic                        open_i,
  input logic [$clog2(Contexts)-1:0] open_context_i,
  input logic                        release_i,
  input logic [   $clog2(Lanes)-1:0] answer_lane_i
);

  function automatic shape_t shape();
    shape = AnyShape;
    shape.lanes = Lanes;
    shape.contexts = Contexts;
    shape.lane_bits = $clog2(Lanes);
    shape.context_bits = $clog2(Contexts);
  endfunction

  logic   rst_ni;
  clear_t clear;
  free_t  free;
  frame_t frame;
  logic [2:0] opened_q, released_q;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  slot_clear u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(1'b0),
    .clear_o (clear)
  );

  always_comb begin
    frame      = '0;
    frame.lane = free.lane;
    frame.open = open_i;
    frame.key  = context_t'(open_context_i);
  end

  lane_table #(
    .Shape(shape())
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .frame_i      (frame),
    .free_o       (free),
    .look_i       ('0),
    .look_o       (),
    .wait_i       (1'b0),
    .wait_lane_i  ('0),
    .result_i     ('0),
    .find_i       ('0),
    .find_o       (),
    .answer_lane_i(lane_t'(answer_lane_i)),
    .answer_o     (),
    .release_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opened_q   <= '1;
      released_q <= '1;
    end else begin
      opened_q   <= open_i ? 3'd1 : opened_q + 3'(opened_q != '1);
      released_q <= release_i ? 3'd1 : released_q + 3'(released_q != '1);
    end
  end

  always_comb begin
    assume (!open_i || (rst_ni && free.lane_valid && opened_q >= 3'(Apart) && !clear.active));
    assume (!release_i || (rst_ni && u_dut.u_check.used_q[answer_lane_i] && released_q >= 3'(Apart)
        && u_dut.u_check.age_q[answer_lane_i] >= 3'(Apart)));
  end

endmodule

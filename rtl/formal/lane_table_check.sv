// SPDX-License-Identifier: Apache-2.0
//
// lane_table: no lane is given out twice, none is lost, and a context is busy exactly while lanes use it, but for the
// clocks that counting takes.
module lane_table_check
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input frame_t                      frame_i,
  input free_t                       free_o,
  input lane_t                       answer_lane_i,
  input logic                        release_i,
  input logic   [Shape.contexts-1:0] busy_q
);

  logic open;
  logic [Shape.lane_bits-1:0] lane, answer_lane;
  assign open        = frame_i.open;
  assign lane        = frame_i.lane[Shape.lane_bits-1:0];
  assign answer_lane = answer_lane_i[Shape.lane_bits-1:0];

  // Clocks until an opened or released lane is counted.
  localparam logic [2:0] Late = 3'd5;

  logic [Shape.lanes-1:0] used_q;
  logic [Shape.lanes-1:0][Shape.context_bits-1:0] context_q;
  logic [Shape.lanes-1:0][2:0] age_q;  // since it was opened
  logic [Shape.contexts-1:0] wanted;
  logic [Shape.contexts-1:0][2:0] alone_q;  // for how long no lane has used it
  logic [2:0] still_q;  // for how long no lane was opened or released
  logic [2:0] opened_q;  // since the last one was

  always_comb begin
    wanted = '0;
    for (int unsigned l = 0; l < Shape.lanes; l++) wanted[context_q[l]] |= used_q[l];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {used_q, context_q, age_q, alone_q, still_q, opened_q} <= '0;
    else begin
      for (int unsigned l = 0; l < Shape.lanes; l++) begin
        if (age_q[l] != '1) age_q[l] <= age_q[l] + 3'd1;
      end
      for (int unsigned c = 0; c < Shape.contexts; c++) begin
        alone_q[c] <= wanted[c] ? '0 : alone_q[c] + 3'(alone_q[c] != '1);
      end
      still_q  <= open || release_i ? '0 : still_q + 3'(still_q != '1);
      opened_q <= open ? '0 : opened_q + 3'(opened_q != '1);
      if (release_i) used_q[answer_lane] <= 1'b0;
      if (open) begin
        used_q[lane]    <= 1'b1;
        context_q[lane] <= frame_i.key[Shape.context_bits-1:0];
        age_q[lane]     <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (open) begin
        assert (!used_q[lane])
        else $error("a lane is opened that is in use");
      end
      if (release_i) begin
        assert (used_q[answer_lane])
        else $error("a lane is released that is not in use");
      end
      if (free_o.lane_valid && opened_q != '0) begin
        assert (!used_q[free_o.lane[Shape.lane_bits-1:0]])
        else $error("a lane is said to be free that is in use");
      end
      if (still_q >= 3'd2) begin
        assert (free_o.lane_valid == (used_q != '1) && free_o.idle == (used_q == '0))
        else $error("a lane is lost");
      end
      for (int unsigned l = 0; l < Shape.lanes; l++) begin
        assert (!used_q[l] || age_q[l] < Late || busy_q[context_q[l]])
        else $error("a context in use is said to be free");
      end
      for (int unsigned c = 0; c < Shape.contexts; c++) begin
        assert (alone_q[c] < Late || !busy_q[c])
        else $error("a context is lost");
      end
    end
  end

endmodule

bind lane_table lane_table_check #(.Shape(Shape)) u_check (.*);

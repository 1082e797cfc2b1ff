// SPDX-License-Identifier: Apache-2.0
//
// array_exit: answers leave whole and as they came, one behind the other, and every tile that has one gets its turn.
module array_exit_check
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 2
) (
  input logic clk_i,
  input logic rst_ni,
  input stream_t [Tiles-1:0] s_i,
  input logic [Tiles-1:0] s_ready_o,
  input stream_t m_axis_o,
  input logic m_axis_ready_i,
  input logic empty_o
);

  logic [Tiles-1:0] takes, ends, within_q;
  logic [Tiles-1:0][2:0] others_q;  // answers of others since a tile has offered
  logic [2:0] quiet_q;
  // What has been taken and has not left.
  logic [64:0] first_q, second_q, beat;
  logic [1:0] inside_q;
  logic leaves;

  always_comb begin
    beat = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      takes[t] = s_i[t].valid && s_ready_o[t];
      ends[t]  = takes[t] && s_i[t].last;
      if (takes[t]) beat |= {s_i[t].last, s_i[t].data};
    end
  end
  assign leaves = m_axis_o.valid && m_axis_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {within_q, others_q, quiet_q, inside_q, first_q, second_q} <= '0;
    end else begin
      inside_q <= inside_q + 2'(takes != '0) - 2'(leaves);
      if (leaves) first_q <= second_q;
      if (takes != '0) begin
        if (inside_q == 2'(leaves)) first_q <= beat;
        else second_q <= beat;
      end
      for (int unsigned t = 0; t < Tiles; t++) begin
        if (takes[t]) within_q[t] <= !s_i[t].last;
        others_q[t] <= !s_i[t].valid || takes[t] ? '0 : others_q[t] + 3'((ends & ~(Tiles'(1) << t)) != '0);
      end
      // Nobody holds it up: there is an answer, and within one its tile has the next beat.
      quiet_q <= takes != '0 || leaves || m_axis_o.valid || (within_q == '0 ? '1 : within_q) == '0 ? '0 : quiet_q + 3'd1;
      for (int unsigned t = 0; t < Tiles; t++) if (within_q[t] && !s_i[t].valid) quiet_q <= '0;
      if (within_q == '0) begin
        automatic logic any = 1'b0;
        for (int unsigned t = 0; t < Tiles; t++) any |= s_i[t].valid;
        if (!any) quiet_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert ((takes & (takes - 1'b1)) == '0)
      else $error("beats of two tiles are taken at once");
      assert (takes == '0 || within_q == '0 || takes == within_q)
      else $error("a beat comes within the answer of another tile");
      assert ((within_q & (within_q - 1'b1)) == '0)
      else $error("two answers are under way");
      assert (inside_q <= 2'd2 && m_axis_o.valid == (inside_q != '0) && empty_o == (inside_q == '0))
      else $error("a beat is lost or repeated");
      if (m_axis_o.valid) begin
        assert ({m_axis_o.last, m_axis_o.data} == first_q)
        else $error("a beat leaves that is not the next one");
      end
      assert (quiet_q < 3'(Tiles + 1))
      else $error("nothing leaves, and nobody holds it up");
      for (int unsigned t = 0; t < Tiles; t++) begin
        assert (others_q[t] < 3'(Tiles))
        else $error("a tile does not get its turn");
      end
    end
  end

endmodule

bind array_exit array_exit_check #(.Tiles(Tiles)) u_check (.*);

// SPDX-License-Identifier: Apache-2.0
//
// What is known of each lane and of each context. A lane is active from the frame's header to its trailer,
// armed when its key can be used, waiting while CBC encryption has a block of it in the core, and closed when
// all of its frame has come. A context is busy while a lane that uses it is active.
module lane_table
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape,

  localparam int unsigned LaneBits = $clog2(Shape.lanes),
  localparam int unsigned ContextWidth = $clog2(Shape.contexts)
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // From lane_intake.
  input  logic    [    LaneBits-1:0] lane_i,
  input  logic                       open_i,
  input  logic    [ContextWidth-1:0] open_context_i,
  input  way_t                       open_way_i,
  input  logic    [            15:0] tag_i,
  input  logic    [            31:0] payload_len_i,
  input  logic                       arm_i,
  input  logic                       close_i,
  input  status_e                    status_i,
  output logic                       free_o,
  output logic    [    LaneBits-1:0] free_lane_o,
  output logic                       free_context_valid_o,
  output logic    [ContextWidth-1:0] free_context_o,
  output logic                       idle_o,

  // From and to lane_issue: it looks at lanes, and a block that others of its lane wait for enters.
  input  logic [    LaneBits-1:0] look_i,
  output logic                    look_ready_o,
  output way_t                    look_way_o,
  output logic [ContextWidth-1:0] look_context_o,
  input  logic                    wait_i,
  input  logic [    LaneBits-1:0] wait_lane_i,

  // From lane_result: it is back.
  input logic                resume_i,
  input logic [LaneBits-1:0] resume_lane_i,

  // From and to lane_outlet: it looks at lanes, answers one, and releases it.
  input  logic    [LaneBits-1:0] find_i,
  output logic                   find_active_o,
  output logic                   find_closed_o,
  output status_e                find_status_o,
  input  logic    [LaneBits-1:0] answer_lane_i,
  output logic    [        15:0] answer_tag_o,
  output logic    [        31:0] answer_len_o,
  input  logic                   release_i
);

  typedef logic [Shape.lanes-1:0] lanes_t;
  typedef logic [Shape.contexts-1:0] contexts_t;

  lanes_t active_q, armed_q, waiting_q, closed_q;
  contexts_t busy_q;

  function automatic lanes_t only(input logic [LaneBits-1:0] lane, input logic on);
    lanes_t set;
    for (int unsigned l = 0; l < Shape.lanes; l++) set[l] = on && lane == LaneBits'(l);
    return set;
  endfunction

  // -- lanes ----------------------------------------------------------------------------------------------

  lanes_t opened, armed, closed, waits, resumed, released;

  assign opened        = only(lane_i, open_i);
  assign armed         = only(lane_i, arm_i);
  assign closed        = only(lane_i, close_i);
  assign waits         = only(wait_lane_i, wait_i);
  assign resumed       = only(resume_lane_i, resume_i);
  assign released      = only(answer_lane_i, release_i);

  assign look_ready_o  = armed_q[look_i] && !waiting_q[look_i];
  assign find_active_o = active_q[find_i];
  assign find_closed_o = closed_q[find_i];

  logic unused;
  assign unused = ^status_i[7:4];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q    <= '0;
      armed_q     <= '0;
      waiting_q   <= '0;
      closed_q    <= '0;
      free_o      <= 1'b0;
      free_lane_o <= '0;
      idle_o      <= 1'b0;
    end else begin
      active_q    <= (active_q | opened) & ~released;
      armed_q     <= (armed_q & ~opened) | armed;
      waiting_q   <= (waiting_q | waits) & ~resumed;
      closed_q    <= (closed_q | closed) & ~released;
      free_o      <= active_q != '1;
      free_lane_o <= '0;
      for (int unsigned l = 0; l < Shape.lanes; l++) begin
        if (!active_q[Shape.lanes-1-l]) free_lane_o <= LaneBits'(Shape.lanes - 1 - l);
      end
      idle_o <= active_q == '0;
    end
  end

  way_t look_way;

  ram_logic #(
    .Width($bits(way_t) + ContextWidth),
    .Depth(Shape.lanes)
  ) u_way (
    .clk_i,
    .clear_i     ('0),
    .write_i     (open_i),
    .write_at_i  (lane_i),
    .write_data_i({open_way_i, open_context_i}),
    .read_at_i   (look_i),
    .read_data_o ({look_way, look_context_o})
  );

  assign look_way_o = look_way;

  logic [7:0] find_status;

  ram_logic #(
    .Width(4),
    .Depth(Shape.lanes)
  ) u_status (
    .clk_i,
    .clear_i     ('0),
    .write_i     (close_i),
    .write_at_i  (lane_i),
    .write_data_i(status_i[3:0]),
    .read_at_i   (find_i),
    .read_data_o (find_status[3:0])
  );

  assign find_status[7:4] = '0;  // no status needs them
  assign find_status_o    = status_e'(find_status);

  logic [ContextWidth-1:0] answer_context;

  ram_logic #(
    .Width(48 + ContextWidth),
    .Depth(Shape.lanes)
  ) u_answer (
    .clk_i,
    .clear_i     ('0),
    .write_i     (open_i),
    .write_at_i  (lane_i),
    .write_data_i({open_context_i, tag_i, payload_len_i}),
    .read_at_i   (answer_lane_i),
    .read_data_o ({answer_context, answer_tag_o, answer_len_o})
  );

  // -- contexts --------------------------------------------------------------------------------------------

  // How many lanes use a context is counted in a memory, upwards and downwards in turn, from registers that are set
  // up the clock before. Neither happens again before the memory had its turn: a frame takes more clocks than
  // that, at both ends.
  localparam int unsigned UserBits = LaneBits + 1;

  logic down_q;  // whose turn it is
  logic opened_q, released_q;
  logic [ContextWidth-1:0] opened_context_q, released_context_q, context_q;
  logic [UserBits-1:0] users, users_d;
  logic change_q;

  assign users_d = down_q ? users - UserBits'(1) : users + UserBits'(1);

  ram_logic #(
    .Width(UserBits),
    .Depth(Shape.contexts)
  ) u_users (
    .clk_i,
    .clear_i,
    .write_i     (change_q),
    .write_at_i  (context_q),
    .write_data_i(users_d),
    .read_at_i   (context_q),
    .read_data_o (users)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q               <= '0;
      down_q               <= 1'b0;
      opened_q             <= 1'b0;
      released_q           <= 1'b0;
      opened_context_q     <= '0;
      released_context_q   <= '0;
      context_q            <= '0;
      change_q             <= 1'b0;
      free_context_valid_o <= 1'b0;
      free_context_o       <= '0;
    end else begin
      down_q     <= !down_q;
      context_q  <= down_q ? opened_context_q : released_context_q;
      change_q   <= down_q ? opened_q : released_q;
      opened_q   <= open_i || (opened_q && !down_q);
      released_q <= release_i || (released_q && down_q);
      if (open_i) opened_context_q <= open_context_i;
      if (release_i) released_context_q <= answer_context;
      if (change_q) begin
        for (int unsigned k = 0; k < Shape.contexts; k++) begin
          if (context_q == ContextWidth'(k)) busy_q[k] <= !down_q || users != UserBits'(1);
        end
      end
      free_context_valid_o <= busy_q != '1;
      free_context_o       <= '0;
      for (int unsigned k = 0; k < Shape.contexts; k++) begin
        if (!busy_q[Shape.contexts-1-k]) free_context_o <= ContextWidth'(Shape.contexts - 1 - k);
      end
    end
  end

endmodule

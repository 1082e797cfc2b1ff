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
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // From and to lane_intake.
  input  frame_t frame_i,
  output free_t  free_o,

  // From and to lane_issue: it looks at lanes, and a block that others of its lane wait for enters. A result that is
  // fed back ends the waiting.
  input  lane_t       look_i,
  output look_t       look_o,
  input  logic        wait_i,
  input  lane_t       wait_lane_i,
  input  lane_block_t result_i,

  // From and to lane_outlet: it looks at lanes, answers one, and releases it.
  input  lane_t   find_i,
  output find_t   find_o,
  input  lane_t   answer_lane_i,
  output answer_t answer_o,
  input  logic    release_i
);

  typedef logic [Shape.lanes-1:0] lanes_t;
  typedef logic [Shape.contexts-1:0] contexts_t;

  lanes_t active_q, armed_q, waiting_q, closed_q;
  contexts_t busy_q;

  function automatic lanes_t only(input logic [Shape.lane_bits-1:0] lane, input logic on);
    lanes_t set;
    for (int unsigned l = 0; l < Shape.lanes; l++) set[l] = on && lane == Shape.lane_bits'(l);
    return set;
  endfunction

  // -- lanes ----------------------------------------------------------------------------------------------

  lanes_t opened, armed, closed, waits, resumed, released;
  logic [Shape.lane_bits-1:0] lane, look, find, answer_lane, free_lane_q;
  logic free_q, idle_q;
  logic free_key_q;
  logic [Shape.context_bits-1:0] free_context_q;

  assign lane          = frame_i.lane[Shape.lane_bits-1:0];
  assign look          = look_i[Shape.lane_bits-1:0];
  assign find          = find_i[Shape.lane_bits-1:0];
  assign answer_lane   = answer_lane_i[Shape.lane_bits-1:0];

  assign opened        = only(lane, frame_i.open);
  assign armed         = only(lane, frame_i.arm);
  assign closed        = only(lane, frame_i.close);
  assign waits         = only(wait_lane_i[Shape.lane_bits-1:0], wait_i);
  assign resumed       = only(result_i.lane[Shape.lane_bits-1:0], result_i.feedback);
  assign released      = only(answer_lane, release_i);

  assign look_o.ready  = armed_q[look] && !waiting_q[look];
  assign find_o.active = active_q[find];
  assign find_o.closed = closed_q[find];

  logic unused;
  assign unused = ^frame_i.status[7:4];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {active_q, armed_q, waiting_q, closed_q, free_q, free_lane_q, idle_q} <= '0;
    else begin
      active_q    <= (active_q | opened) & ~released;
      armed_q     <= (armed_q & ~opened) | armed;
      waiting_q   <= (waiting_q | waits) & ~resumed;
      closed_q    <= (closed_q | closed) & ~released;
      free_q      <= active_q != '1;
      free_lane_q <= '0;
      for (int unsigned l = 0; l < Shape.lanes; l++) begin
        if (!active_q[Shape.lanes-1-l]) free_lane_q <= Shape.lane_bits'(Shape.lanes - 1 - l);
      end
      idle_q <= active_q == '0;
    end
  end

  assign free_o = '{
      lane_valid: free_q,
      lane: lane_t'(free_lane_q),
      key_valid: free_key_q,
      key: context_t'(free_context_q),
      idle: idle_q
    };

  // -- what is remembered of their frames -------------------------------------------------------------------

  logic [Shape.context_bits-1:0] open_context, look_context, answer_context;

  assign open_context = frame_i.key[Shape.context_bits-1:0];
  assign look_o.key   = context_t'(look_context);

  ram_logic #(
    .Width($bits(way_t) + Shape.context_bits),
    .Depth(Shape.lanes)
  ) u_way (
    .clk_i,
    .clear_i     ('0),
    .write_i     (frame_i.open),
    .write_at_i  (lane),
    .write_data_i({frame_i.way, open_context}),
    .read_at_i   (look),
    .read_data_o ({look_o.way, look_context})
  );

  logic [7:0] find_status;

  ram_logic #(
    .Width(4),
    .Depth(Shape.lanes)
  ) u_status (
    .clk_i,
    .clear_i     ('0),
    .write_i     (frame_i.close),
    .write_at_i  (lane),
    .write_data_i(frame_i.status[3:0]),
    .read_at_i   (find),
    .read_data_o (find_status[3:0])
  );

  assign find_status[7:4] = '0;  // no status needs them
  assign find_o.status    = status_e'(find_status);

  ram_logic #(
    .Width(48 + Shape.context_bits),
    .Depth(Shape.lanes)
  ) u_answer (
    .clk_i,
    .clear_i     ('0),
    .write_i     (frame_i.open),
    .write_at_i  (lane),
    .write_data_i({open_context, frame_i.tag, frame_i.payload_len}),
    .read_at_i   (answer_lane),
    .read_data_o ({answer_context, answer_o.tag, answer_o.payload_len})
  );

  // -- contexts --------------------------------------------------------------------------------------------

  // How many lanes use a context is counted in a memory, upwards and downwards in turn, from registers that are set
  // up the clock before. Neither happens again before the memory had its turn: a frame takes more clocks than
  // that, at both ends.
  localparam int unsigned UserBits = Shape.lane_bits + 1;

  logic down_q;  // whose turn it is
  logic opened_q, released_q;
  logic [Shape.context_bits-1:0] opened_context_q, released_context_q, context_q;
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
    if (!rst_ni)
      {busy_q, down_q, opened_q, released_q, opened_context_q, released_context_q, context_q, change_q, free_key_q, free_context_q} <= '0;
    else begin
      down_q     <= !down_q;
      context_q  <= down_q ? opened_context_q : released_context_q;
      change_q   <= down_q ? opened_q : released_q;
      opened_q   <= frame_i.open || (opened_q && !down_q);
      released_q <= release_i || (released_q && down_q);
      if (frame_i.open) opened_context_q <= open_context;
      if (release_i) released_context_q <= answer_context;
      if (change_q) begin
        for (int unsigned k = 0; k < Shape.contexts; k++) begin
          if (context_q == Shape.context_bits'(k)) busy_q[k] <= !down_q || users != UserBits'(1);
        end
      end
      free_key_q     <= busy_q != '1;
      free_context_q <= '0;
      for (int unsigned k = 0; k < Shape.contexts; k++) begin
        if (!busy_q[Shape.contexts-1-k]) free_context_q <= Shape.context_bits'(Shape.contexts - 1 - k);
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What is known of each lane and of each key place. A lane is active from the frame's header to its trailer,
// armed when its key can be used, waiting while CBC encryption has a block of it in the core, and closed when
// all of its frame has come. A key place is busy while a lane that uses it is active.
module lane_table
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Keys  = 8,

  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned KeyBits  = $clog2(Keys)
) (
  input logic clk_i,
  input logic rst_ni,

  input logic               sweep_i,
  input logic [KeyBits-1:0] sweep_place_i,

  // From lane_intake.
  input  logic    [LaneBits-1:0] lane_i,
  input  logic                   open_i,
  input  logic    [ KeyBits-1:0] open_place_i,
  input  way_t                   open_way_i,
  input  logic    [        15:0] tag_i,
  input  logic    [        31:0] payload_len_i,
  input  logic                   arm_i,
  input  logic                   close_i,
  input  status_e                status_i,
  output logic                   free_o,
  output logic    [LaneBits-1:0] free_lane_o,
  output logic                   free_place_valid_o,
  output logic    [ KeyBits-1:0] free_place_o,
  output logic                   idle_o,

  // From and to lane_issue: it looks at lanes, and a block that others of its lane wait for enters.
  input  logic [LaneBits-1:0] look_i,
  output logic                look_ready_o,
  output way_t                look_way_o,
  output logic [ KeyBits-1:0] look_place_o,
  input  logic                wait_i,
  input  logic [LaneBits-1:0] wait_lane_i,

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

  typedef logic [Lanes-1:0] lanes_t;
  typedef logic [Keys-1:0] keys_t;

  lanes_t active_q, armed_q, waiting_q, closed_q;
  keys_t busy_q;

  function automatic lanes_t only(input logic [LaneBits-1:0] lane, input logic on);
    lanes_t set;
    for (int unsigned l = 0; l < Lanes; l++) set[l] = on && lane == LaneBits'(l);
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
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (!active_q[Lanes-1-l]) free_lane_o <= LaneBits'(Lanes - 1 - l);
      end
      idle_o <= active_q == '0;
    end
  end

  way_t look_way;

  lane_ram #(
    .Width($bits(way_t) + KeyBits),
    .Depth(Lanes)
  ) u_way (
    .clk_i,
    .write_i     (open_i),
    .write_at_i  (lane_i),
    .write_data_i({open_way_i, open_place_i}),
    .read_at_i   (look_i),
    .read_data_o ({look_way, look_place_o})
  );

  assign look_way_o = look_way;

  logic [7:0] find_status;

  lane_ram #(
    .Width(4),
    .Depth(Lanes)
  ) u_status (
    .clk_i,
    .write_i     (close_i),
    .write_at_i  (lane_i),
    .write_data_i(status_i[3:0]),
    .read_at_i   (find_i),
    .read_data_o (find_status[3:0])
  );

  assign find_status[7:4] = '0;  // no status needs them
  assign find_status_o    = status_e'(find_status);

  logic [KeyBits-1:0] answer_place;

  lane_ram #(
    .Width(48 + KeyBits),
    .Depth(Lanes)
  ) u_answer (
    .clk_i,
    .write_i     (open_i),
    .write_at_i  (lane_i),
    .write_data_i({open_place_i, tag_i, payload_len_i}),
    .read_at_i   (answer_lane_i),
    .read_data_o ({answer_place, answer_tag_o, answer_len_o})
  );

  // -- key places -----------------------------------------------------------------------------------------

  // How many lanes use a place is counted in a memory, upwards and downwards in turn, from registers that are set
  // up the clock before. Neither happens again before the memory had its turn: a frame takes more clocks than
  // that, at both ends.
  localparam int unsigned UserBits = LaneBits + 1;

  logic down_q;  // whose turn it is
  logic opened_q, released_q;
  logic [KeyBits-1:0] opened_place_q, released_place_q, place_q;
  logic [UserBits-1:0] users, users_d;
  logic change_q;

  assign users_d = down_q ? users - UserBits'(1) : users + UserBits'(1);

  lane_ram #(
    .Width(UserBits),
    .Depth(Keys)
  ) u_users (
    .clk_i,
    .write_i     (change_q || sweep_i),
    .write_at_i  (sweep_i ? sweep_place_i : place_q),
    .write_data_i(users_d & {UserBits{!sweep_i}}),
    .read_at_i   (place_q),
    .read_data_o (users)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q             <= '0;
      down_q             <= 1'b0;
      opened_q           <= 1'b0;
      released_q         <= 1'b0;
      opened_place_q     <= '0;
      released_place_q   <= '0;
      place_q            <= '0;
      change_q           <= 1'b0;
      free_place_valid_o <= 1'b0;
      free_place_o       <= '0;
    end else begin
      down_q     <= !down_q;
      place_q    <= down_q ? opened_place_q : released_place_q;
      change_q   <= down_q ? opened_q : released_q;
      opened_q   <= open_i || (opened_q && !down_q);
      released_q <= release_i || (released_q && down_q);
      if (open_i) opened_place_q <= open_place_i;
      if (release_i) released_place_q <= answer_place;
      if (change_q) begin
        for (int unsigned k = 0; k < Keys; k++) begin
          if (place_q == KeyBits'(k)) busy_q[k] <= !down_q || users != UserBits'(1);
        end
      end
      free_place_valid_o <= busy_q != '1;
      free_place_o       <= '0;
      for (int unsigned k = 0; k < Keys; k++) begin
        if (!busy_q[Keys-1-k]) free_place_o <= KeyBits'(Keys - 1 - k);
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What frames will do that are results of lanes: it is found out behind the lane's own frame, which is their place in the
// order, and stands here until the result is there. And which keys are in use, by lanes and by such frames.
//
// Of frames that are keys there is one at a time: what depends on it waits.
//
// Clocks: 1 from a lane to its plan, 1 from a key's banks and area to whether it is in use.
module array_plans
  import array_front_pkg::*;
#(
  parameter int unsigned Tiles = 1,
  // Of a tile.
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,

  // A lane's plan is made, and if it is that of a key, all of it.
  input logic                   make_i,
  input tile_t                  make_tile_i,
  input lane_t                  make_lane_i,
  input plan_t                  make_plan_i,
  input logic                   make_key_i,
  input logic  [Tiles-1:0][1:0] make_banks_i,
  input logic  [Tiles-1:0][1:0] make_serves_i,
  input area_t                  make_area_i,
  input logic  [      7:0]      make_algorithm_i,

  // A tile asks for a lane: its plan; it is that of a key. The frame is given away, or nobody takes it.
  input  tile_t ask_tile_i,
  input  lane_t ask_lane_i,
  output plan_t plan_o,
  output logic  plan_key_o,
  input  logic  over_i,
  // The key has come to the loader.
  input  logic  key_over_i,

  // Lanes that have a plan; tiles that frames will come to.
  output logic  [Tiles-1:0][Lanes-1:0] planned_o,
  output logic  [Tiles-1:0]            wanted_o,
  // A key is on its way, and whose.
  output logic                         key_o,
  output logic  [      7:0]            algorithm_o,
  output logic  [Tiles-1:0][      1:0] banks_o,
  output logic  [Tiles-1:0][      1:0] serves_o,
  output area_t                        area_o,

  // A lane is given a frame with this key.
  input  logic      [Tiles-1:0][Lanes-1:0] given_i,
  input  logic      [Tiles-1:0][Lanes-1:0] free_i,
  input  lane_key_t [Tiles-1:0]            key_i,
  // Whether an area of banks is in use. Only a bank that runs has lanes, and frames that will come.
  input  logic      [Tiles-1:0]            run_i,
  input  logic      [Tiles-1:0][      1:0] used_banks_i,
  input  area_t                            used_area_i,
  output logic                             used_o
);

  plan_t [Tiles-1:0][Lanes-1:0] plans_q;
  lane_key_t [Tiles-1:0][Lanes-1:0] keys_q;
  logic key_q;
  tile_t key_tile_q;
  lane_t key_lane_q;
  plan_t plan;
  logic used;
  logic [Tiles-1:0] uses;

  assign key_o = key_q;

  always_comb begin
    plan = '0;
    wanted_o = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      uses[t] = used_banks_i[t][run_i[t]];
    end
    used = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned l = 0; l < Lanes; l++) begin
      automatic plan_t one = plans_q[t][l];
      planned_o[t][l] = one.valid;
      if (ask_tile_i == tile_t'(t) && ask_lane_i == lane_t'(l)) plan |= one;
      used |= !free_i[t][l] && keys_q[t][l].key_valid && keys_q[t][l].area == used_area_i && uses[t];
      for (int unsigned u = 0; u < Tiles; u++) begin
        automatic logic there = one.valid && one.good && one.tile == tile_t'(u);
        // That of a key goes to no tile's lanes, and names its own.
        if (u != t) wanted_o[u] |= there;
        used |= there && one.key.key_valid && one.key.area == used_area_i && uses[u];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    plan_o     <= plan;
    plan_key_o <= key_q && key_tile_q == ask_tile_i && key_lane_q == ask_lane_i;
    used_o     <= used;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {plans_q, keys_q, key_q, key_tile_q, key_lane_q} <= '0;
      {algorithm_o, banks_o, serves_o, area_o} <= '0;
    end else begin
      for (int unsigned t = 0; t < Tiles; t++)
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (given_i[t][l]) keys_q[t][l] <= key_i[t];
        if (over_i && ask_tile_i == tile_t'(t) && ask_lane_i == lane_t'(l)) plans_q[t][l].valid <= 1'b0;
        if (make_i && make_tile_i == tile_t'(t) && make_lane_i == lane_t'(l)) plans_q[t][l] <= make_plan_i;
      end
      if (key_over_i) key_q <= 1'b0;
      if (make_i && make_key_i && make_plan_i.good) begin
        key_q       <= 1'b1;
        key_tile_q  <= make_tile_i;
        key_lane_q  <= make_lane_i;
        algorithm_o <= make_algorithm_i;
        banks_o     <= make_banks_i;
        serves_o    <= make_serves_i;
        area_o      <= make_area_i;
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The entrance: looks at a frame's first beat, waits until the frame may go, and passes it to a lane or to the loader.
// Whatever a frame does to sets and keys is done for every frame behind it, and for none in front of it.
//
// A frame goes to a free lane at once if the set that runs in a tile serves it (array_serve). If none does, but other
// banks do, the lanes of their tiles come to their ends and all these tiles change to that bank while the frame is on its
// way; if there is none, a lane refuses it. A frame waits for the loader if what that has may say another way: a key, or
// a set that may serve it. Frames that load go to the loader while the lanes work, but a key waits until no lane uses the
// area that it will lie in.
//
// A result that is a frame itself comes from a tile's exit and goes before the next frame of the host: a key to the loader,
// a hash to another tile, whose lanes do not wait for that exit. Where it goes is planned when its lane has all of its own
// frame, before the next one is looked at (array_plans): a tile changes for it then, and its key is the one of then.
//
// What lanes, loader and exits say, and what is said to them, has a register here: they are far away.
//
// Clocks: 12 from the first beat to its way, and 8 from the loader's end to that of a frame that waits for it; the next frame
// is looked at 3 after a last beat has been taken. Behind a frame whose result may be a frame 6 more, and 11 if it is one.
module array_intake
  import array_front_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  // 1, 2 or 4.
  parameter int unsigned Tiles = 1,
  // Of a tile.
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,
  // A clear is at work, or about to be.
  input logic hold_i,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,

  // Beats to whoever the frame is for: a lane of a tile, or the loader.
  output stream_t             beat_o,
  output logic    [Tiles-1:0] to_lane_o,
  output logic                to_loader_o,
  input  logic    [Tiles-1:0] lanes_ready_i,
  input  logic                loader_ready_i,
  // A frame that wipes has been given away.
  output logic                wipe_o,

  // Frames of tiles' exits; somebody's frame is on its way; one is taken, or nobody takes it; its beats, of one tile at a
  // time.
  input  ask_t    [Tiles-1:0] asks_i,
  output logic                passing_o,
  output logic    [Tiles-1:0] taken_o,
  output logic    [Tiles-1:0] refused_o,
  input  stream_t [Tiles-1:0] forwards_i,
  output logic                forward_ready_o,

  // Lanes that have nothing to do with a frame any more; one has not all of its own yet. A tile's lane that has been given
  // a frame, and what that frame may use, until the tile's next one.
  input  logic      [Tiles-1:0][Lanes-1:0] free_i,
  input  logic      [Tiles-1:0]            open_i,
  // The result of a tile's last frame is a frame itself, which is known when it is not open any more; lanes whose result's
  // way is known.
  input  logic      [Tiles-1:0]            joins_i,
  output logic      [Tiles-1:0][Lanes-1:0] planned_o,
  output logic      [Tiles-1:0][Lanes-1:0] given_o,
  output lane_t     [Tiles-1:0]            lane_o,
  output lane_key_t [Tiles-1:0]            key_o,

  // The loader and the banks of every tile.
  input  logic                      loader_busy_i,
  input  loading_t                  loading_i,
  input  set_t     [Tiles-1:0][1:0] sets_i,
  input  keys_t    [Tiles-1:0][1:0] keys_i,
  // Of a key: the banks that it goes to, at most one of a tile, and where in them; those whose frames it is for.
  output logic     [Tiles-1:0][1:0] key_banks_o,
  output area_t                     key_area_o,
  output logic     [Tiles-1:0][1:0] key_serves_o,

  // The bank of a tile that runs is to be the other one; it is not yet.
  output logic [Tiles-1:0] run_o,
  output logic [Tiles-1:0] switch_o,
  input  logic [Tiles-1:0] switching_i
);

  if (!(Tiles inside {1, 2, 4})) begin : gen_illegal
    $error("array_intake: tiles are one, two or four");
  end

  typedef enum logic [2:0] {
    Wait,    // for a first beat
    Look,    // what it asks for
    Decide,
    Pass,
    Settle   // whether its result is a frame
  } at_e;

  logic in_valid, in_ready, in_last;
  logic [63:0] in_beat;

  skid_buffer #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_i.valid),
    .s_ready_o(s_axis_ready_o),
    .s_data_i ({s_axis_i.last, s_axis_i.data}),
    .m_valid_o(in_valid),
    .m_ready_i(in_ready),
    .m_data_o ({in_last, in_beat})
  );

  // Coded as they are here, for the proof to the RTL knows them by their names.
  (* fsm_encoding = "none" *) at_e at_q;
  (* fsm_encoding = "none" *) source_e source_q;
  logic [2:0] looks_q;
  logic [Tiles-1:0] run_q, to_lane_q;
  logic to_loader_q;
  lane_key_t [Tiles-1:0] key_q;
  lane_t [Tiles-1:0] lane_q;

  assign run_o       = run_q;
  assign key_o       = key_q;
  assign lane_o      = lane_q;
  assign to_lane_o   = to_lane_q;
  assign to_loader_o = to_loader_q;

  // -- tiles that ask ---------------------------------------------------------------------------------------

  logic any_asks, asked, others;
  tile_t   asking;
  stream_t forward;
  lane_t   ask_lane;

  array_asks #(
    .Tiles(Tiles)
  ) u_asks (
    .clk_i,
    .rst_ni,
    .asks_i,
    .forwards_i,
    .next_i   (at_q == Wait),
    .any_o    (any_asks),
    .asked_o  (asked),
    .others_o (others),
    .tile_o   (asking),
    .lane_o   (ask_lane),
    .forward_o(forward)
  );

  // -- what the frame is ------------------------------------------------------------------------------------

  // Of the host's frame, or of one that will be.
  header_t outer, head, inner;
  frame_kind_t kind;
  logic settles_q;  // its result may be a frame
  logic plans, settled_q, forgets_q;  // what it begins with is not needed any more
  logic plan_wanted_q, plan_key_q;
  tile_t plan_tile_q;
  lane_t plan_lane_q;
  logic [Tiles-1:0] without_q;

  assign outer = header_t'({64'b0, in_beat});

  array_kind u_kind (
    .clk_i,
    .rst_ni,
    .host_i (source_q == Host),
    .outer_i(outer),
    .look_i (at_q == Look && source_q == Host),
    .take_i (in_valid && in_ready && settles_q),
    .beat_i (in_beat),
    .drop_i (plans || forgets_q),
    .key_i  (plan_key_q),
    .inner_o(inner),
    .head_o (head),
    .kind_o (kind)
  );

  logic here, change, key_way, key_used, ask_key;
  logic [Tiles-1:0] changes, wanted;
  tile_t tile;
  logic [Tiles-1:0][1:0] serve_banks, key_for, way_banks, way_serves, key_banks_q, key_serves_q;
  area_t serve_area, way_area, key_area_q;
  logic [7:0] way_algorithm;
  plan_t plan, made;
  logic make, over, key_over;

  // A tile whose exit waits for this frame to go cannot take it.
  always_ff @(posedge clk_i)
    for (int unsigned t = 0; t < Tiles; t++)
      without_q[t] <= source_q == Plan && plan_tile_q == tile_t'(t);

  array_serve #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_serve (
    .clk_i,
    .head_i      (head),
    .without_i   (without_q),
    .first_i     (kind.joins),
    .free_i,
    .run_i       (run_q),
    .sets_i,
    .keys_i,
    .here_o      (here),
    .change_o    (change),
    .changes_o   (changes),
    .tile_o      (tile),
    .key_banks_o (serve_banks),
    .key_serves_o(key_for),
    .key_area_o  (serve_area)
  );

  // Banks of the frame's key.
  always_ff @(posedge clk_i) begin
    key_banks_q  <= source_q == Tile ? way_banks : serve_banks;
    key_serves_q <= source_q == Tile ? way_serves : key_for;
    key_area_q   <= source_q == Tile ? way_area : serve_area;
  end

  array_plans #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_plans (
    .clk_i,
    .rst_ni,
    .make_i          (make),
    .make_tile_i     (plan_tile_q),
    .make_lane_i     (plan_lane_q),
    .make_plan_i     (made),
    .make_key_i      (plan_key_q),
    .make_banks_i    (serve_banks),
    .make_serves_i   (key_for),
    .make_area_i     (serve_area),
    .make_algorithm_i(inner.algorithm),
    .ask_tile_i      (asking),
    .ask_lane_i      (ask_lane),
    .plan_o          (plan),
    .plan_key_o      (ask_key),
    .over_i          (over),
    .key_over_i      (key_over),
    .planned_o       (planned_o),
    .wanted_o        (wanted),
    .key_o           (key_way),
    .algorithm_o     (way_algorithm),
    .banks_o         (way_banks),
    .serves_o        (way_serves),
    .area_o          (way_area),
    .given_i         (given_o),
    .free_i,
    .key_i           (key_q),
    .run_i           (run_q),
    .used_banks_i    (key_banks_q),
    .used_area_i     (key_area_q),
    .used_o          (key_used)
  );

  // -- where it goes ----------------------------------------------------------------------------------------

  logic loader_key_q;  // what the loader has is a key
  logic to_lane, go, to_switch;
  tile_t to_tile;
  lane_t [Tiles-1:0] free;

  assign to_lane = source_q == Tile ? !ask_key : !kind.loads && !kind.key;
  assign to_tile = source_q == Tile ? plan.tile : to_lane ? tile : '0;

  array_decide #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_decide (
    .clk_i,
    .rst_ni,
    .hold_i,
    .source_i    (source_q),
    .kind_i      (kind),
    .head_i      (head),
    .result_key_i(source_q == Tile ? ask_key : plan_key_q),
    .passing_i   (passing_o),
    .to_tile_i   (to_tile),
    .here_i      (here),
    .change_i    (change),
    .changes_i   (changes),
    .wanted_i    (wanted),
    .key_way_i   (key_way),
    .key_used_i  (key_used),
    .algorithm_i (way_algorithm),
    .free_i,
    .open_i,
    .switching_i,
    .loader_busy_i,
    .loader_key_i(loader_key_q),
    .loading_i,
    .go_o        (go),
    .to_switch_o (to_switch),
    .lane_o      (free)
  );

  // -- the frame --------------------------------------------------------------------------------------------

  logic passed, decided, settled, forgets;
  logic [Tiles-1:0] open_q;
  lane_key_t key_now;

  array_pass #(
    .Tiles(Tiles)
  ) u_pass (
    .clk_i,
    .rst_ni,
    .start_i     (decided && source_q != Plan),
    .tile_i      (source_q == Tile),
    .host_i      ('{in_valid, in_last, in_beat}),
    .host_ready_o(in_ready),
    .forward_i   (forward),
    .forward_ready_o,
    .to_lane_i   (to_lane_q),
    .to_loader_i (to_loader_q),
    .beat_o,
    .lanes_ready_i,
    .loader_ready_i,
    .over_o      (passed)
  );

  assign passing_o = at_q == Pass;
  assign wipe_o = decided && source_q == Host && kind.wipes;

  always_ff @(posedge clk_i) open_q <= open_i;

  // A lane has all of its frame, whose result is none.
  always_comb begin
    settled = 1'b0;
    forgets = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++)
    if (at_q == Settle && looks_q >= 3'd3 && plan_tile_q == tile_t'(t) && !open_i[t] && !open_q[t]) begin
      settled = !settled_q;
      forgets = !settled_q && !joins_i[t];
    end
  end

  assign decided = at_q == Decide && (go || to_switch) && (source_q != Tile || (asked && plan.good));
  assign plans = decided && source_q == Plan;
  assign make = plans;
  assign over = at_q == Decide && source_q == Tile && asked && (go || !plan.good);
  assign key_over = passed && source_q == Tile && to_loader_q;

  always_comb begin
    key_now = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      automatic keys_t keys = keys_i[t][run_q[t]^to_switch];
      if (to_tile == tile_t'(t)) key_now |= {keys.valid, keys.area};
    end
    made = '{valid: 1'b1, good: 1'b0, tile: plan_tile_q, key: '0};
    if (!kind.wrong && plan_key_q) made.good = serve_banks != '0;
    else if (!kind.wrong && (here || to_switch))
      made = '{valid: 1'b1, good: 1'b1, tile: tile, key: key_now};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q                                                                                   <= Wait;
      source_q                                                                               <= Host;
      {run_q, looks_q, to_lane_q, to_loader_q, key_q, lane_q, loader_key_q}                  <= '0;
      {given_o, key_banks_o, key_area_o, key_serves_o, switch_o, taken_o, refused_o}         <= '0;
      {plan_wanted_q, plan_key_q, plan_tile_q, plan_lane_q, settles_q, settled_q, forgets_q} <= '0;
    end else begin
      given_o   <= '0;
      switch_o  <= '0;
      taken_o   <= '0;
      settled_q <= settled;
      forgets_q <= forgets;
      refused_o <= '0;
      if (decided && to_switch) begin
        switch_o <= changes;
        run_q    <= run_q ^ changes;
      end
      if (plans) plan_wanted_q <= 1'b0;
      unique case (at_q)
        Wait: begin
          looks_q  <= '0;
          source_q <= any_asks ? Tile : plan_wanted_q ? Plan : Host;
          if (any_asks || plan_wanted_q || in_valid) at_q <= Look;
        end
        Look: begin
          looks_q <= looks_q + 1'b1;
          if (looks_q == '1) at_q <= Decide;
          if (source_q == Tile ? !asked : any_asks) at_q <= Wait;
        end
        Decide:
        if (source_q == Tile && (!asked || !plan.good)) begin
          at_q <= Wait;
          for (int unsigned t = 0; t < Tiles; t++) refused_o[t] <= asked && asking == tile_t'(t);
        end else if (plans) begin
          at_q <= Wait;
        end else if (decided) begin
          at_q      <= Pass;
          settles_q <= source_q == Host && kind.joins && to_lane;
          for (int unsigned t = 0; t < Tiles; t++) begin
            taken_o[t] <= source_q == Tile && asking == tile_t'(t);
            if (to_lane && to_tile == tile_t'(t)) begin
              to_lane_q[t] <= 1'b1;
              lane_q[t]    <= free[t];
              key_q[t]     <= source_q == Tile ? plan.key : key_now;
              for (int unsigned l = 0; l < Lanes; l++) given_o[t][l] <= free[t] == lane_t'(l);
              // Its result may be a frame.
              if (source_q == Host) begin
                plan_tile_q <= tile_t'(t);
                plan_lane_q <= free[t];
                plan_key_q  <= kind.expands;
              end
            end
          end
          if (!to_lane) begin
            to_loader_q  <= 1'b1;
            loader_key_q <= source_q == Tile || kind.key;
            if (source_q == Tile || kind.key) begin
              key_banks_o  <= key_banks_q;
              key_area_o   <= key_area_q;
              key_serves_o <= key_serves_q;
            end
          end
        end else if (source_q == Tile ? others : any_asks) begin
          at_q <= Wait;
        end
        Pass:
        if (passed) begin
          at_q        <= settles_q ? Settle : Wait;
          looks_q     <= '0;
          to_lane_q   <= '0;
          to_loader_q <= 1'b0;
        end
        default: begin
          // It takes some clocks until the lane has been given the frame, and some more until all is known.
          if (looks_q != '1) looks_q <= looks_q + 1'b1;
          if (settled_q) begin
            at_q          <= Wait;
            plan_wanted_q <= !forgets_q;
          end
        end
      endcase
    end
  end

endmodule

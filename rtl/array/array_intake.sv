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
// Clocks: 9 from the first beat to its way, and 7 from the loader's end to that of a frame that waits for it. Behind a frame
// whose result may be a frame 5 more, and 8 if it is one.
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

  // Whose frame it is: the host's, a tile's, or one that will be a tile's.
  typedef enum logic [1:0] {
    Host,
    Tile,
    Plan
  } source_e;

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

  at_e at_q;
  source_e source_q;
  logic [2:0] looks_q;
  logic [Tiles-1:0] run_q, to_lane_q;
  logic to_loader_q;
  lane_key_t [Tiles-1:0] key_q;
  lane_t [Tiles-1:0] lane_q;
  logic ready_in, passes;

  assign run_o       = run_q;
  assign key_o       = key_q;
  assign lane_o      = lane_q;
  assign to_lane_o   = to_lane_q;
  assign to_loader_o = to_loader_q;

  // -- tiles that ask ---------------------------------------------------------------------------------------

  logic asked, others;
  logic [Tiles-1:0] asks, behind;
  tile_t asking_q, asking;
  stream_t forward;
  lane_t   ask_lane;

  always_comb begin
    {forward, ask_lane, asking, asked, others} = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      forward |= forwards_i[t];
      asks[t]   = asks_i[t].valid;
      behind[t] = asks_i[t].valid && tile_t'(t) > asking_q;
      if (asking_q == tile_t'(t)) begin
        asked    = asks_i[t].valid;
        ask_lane = asks_i[t].lane;
      end else begin
        others |= asks_i[t].valid;
      end
    end
    // In turns.
    for (int t = Tiles - 1; t >= 0; t--) if (behind[t] || (behind == '0 && asks[t])) asking = tile_t'(t);
  end

  // -- what the frame is ------------------------------------------------------------------------------------

  // What a frame of the host begins with, and what its result begins with.
  header_t outer, inner, head;
  logic settles_q;  // its result may be a frame
  logic plans, forgets;  // what it begins with is not needed any more
  logic inner_long;
  logic [7:0] outer_words;

  assign outer = header_t'({64'b0, in_beat});
  assign head  = source_q == Host ? outer : inner;

  array_inner u_inner (
    .clk_i,
    .rst_ni,
    .look_i (at_q == Look && source_q == Host),
    .outer_i(outer),
    .take_i (passes && source_q == Host && settles_q),
    .beat_i (in_beat),
    .drop_i (plans || forgets),
    .inner_o(inner),
    .long_o (inner_long),
    .words_o(outer_words)
  );

  // Of the host's frame, or of one that will be.
  logic loads_q, loading_key_q, wipe_q, expands_q, joins_q, wrong_q, apart_q, same_q;
  logic [Tiles-1:0] without_q;
  tile_t plan_tile_q;
  lane_t plan_lane_q;
  logic plan_wanted_q, plan_key_q;

  logic here, change, key_way, key_used, ask_key;
  logic [Tiles-1:0] changes, wanted;
  tile_t tile;
  logic [Tiles-1:0][1:0] serve_banks, key_for, way_banks, way_serves, key_banks_q, key_serves_q;
  area_t serve_area, way_area, key_area, key_area_q;
  logic [7:0] way_algorithm;
  plan_t plan, made;
  logic make, over, key_over;

  always_ff @(posedge clk_i) begin
    loads_q <= source_q == Host && head.op == OpLoad;
    loading_key_q <= source_q == Host ? head.op == OpKey : plan_key_q;
    wipe_q <= source_q == Host && head.flags.wipe;
    expands_q <= source_q == Host && head.op == OpExpand;
    joins_q       <= source_q == Host && (head.op == OpExpand || (head.op inside {OpEcb, OpCbc, OpCtr}
        && head.result_len != '0));
    // Words of keys are a key and nothing else, results of ciphers are messages that fit a buffer.
    if (plan_key_q) wrong_q <= head.op != OpKey || head.flags.wipe || head.result_len != outer_words;
    else wrong_q <= !(head.op inside {OpHash, OpHmacStates}) || head.flags.wipe || inner_long;
    // What the loader has is for other frames; a key that is on its way is for this one.
    apart_q <= loading_i.known && loading_i.algorithm != head.algorithm;
    same_q  <= way_algorithm == head.algorithm;
    // A tile whose exit waits for this frame to go cannot take it.
    for (int unsigned t = 0; t < Tiles; t++) without_q[t] <= source_q == Plan && plan_tile_q == tile_t'(t);
  end

  array_serve #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_serve (
    .clk_i,
    .head_i      (head),
    .without_i   (without_q),
    .first_i     (joins_q),
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
  assign key_area = source_q == Tile ? way_area : serve_area;
  always_ff @(posedge clk_i) begin
    key_banks_q  <= source_q == Tile ? way_banks : serve_banks;
    key_serves_q <= source_q == Tile ? way_serves : key_for;
    key_area_q   <= key_area;
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
    .ask_tile_i      (asking_q),
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
    .used_banks_i    (source_q == Tile ? way_banks : serve_banks),
    .used_area_i     (key_area),
    .used_o          (key_used)
  );

  // -- where it goes ----------------------------------------------------------------------------------------

  logic loader_key_q;  // what the loader has is a key
  logic [5:0] busy_q;
  logic loader_busy_q;
  // Lanes of tiles.
  logic [Tiles-1:0] idle_q, any_free_q, still_q, open_q;
  lane_t [Tiles-1:0] free_q;
  logic to_lane, ready, unknown, free, go_q, to_switch_q;
  tile_t to_tile;

  assign to_lane = source_q == Tile ? !ask_key : !loads_q && !loading_key_q;
  assign to_tile = source_q == Tile ? plan.tile : to_lane ? tile : '0;
  // What has been asked before a wipe comes to its end.
  assign ready   = !hold_i && !(wipe_q && (idle_q != '1 || loader_busy_q));
  // Keys under way may be that of this frame, and so may a set if no tile runs one: it has no key.
  assign unknown = (loader_busy_q && (loader_key_q || !(here || apart_q))) || (key_way && same_q);

  always_comb begin
    free = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++) if (to_tile == tile_t'(t)) free |= any_free_q[t];
  end

  always_ff @(posedge clk_i) begin
    still_q       <= idle_q & ~switching_i & ~wanted;
    open_q        <= open_i;
    busy_q        <= {busy_q[4:0], loader_busy_i};
    // What the loader has changed comes through all that is asked. The loader and the tiles have to mean the same banks.
    loader_busy_q <= loader_busy_i || busy_q != '0 || switching_i != '0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned l = 0; l < Lanes; l++) if (free_i[t][l]) free_q[t] <= lane_t'(l);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {go_q, to_switch_q, any_free_q, idle_q} <= '0;
    end else begin
      for (int unsigned t = 0; t < Tiles; t++) begin
        any_free_q[t] <= free_i[t] != '0 && !open_i[t] && at_q != Pass;
        idle_q[t]     <= free_i[t] == '1 && at_q != Pass;
      end
      go_q        <= 1'b0;
      to_switch_q <= 1'b0;
      unique case (source_q)
        Host:
        if (loads_q) go_q <= ready && !loader_busy_q && !key_way;
        else if (loading_key_q) go_q <= ready && !loader_busy_q && !key_way && !key_used;
        else if (ready && !unknown && !(expands_q && key_way)) begin
          if (change) to_switch_q <= (changes & ~still_q) == '0;
          else go_q <= free;
        end
        Tile: go_q <= ask_key ? !loader_busy_q && !key_used : free;
        default:
        if (wrong_q) go_q <= 1'b1;
        else if (plan_key_q) go_q <= !loader_busy_q || (!loader_key_q && apart_q);
        else if (!unknown) begin
          if (change) to_switch_q <= (changes & ~still_q) == '0;
          else go_q <= 1'b1;
        end
      endcase
    end
  end

  // -- the frame --------------------------------------------------------------------------------------------

  logic passed, decided, settled;
  lane_key_t key_now;

  always_comb begin
    beat_o = '0;
    if (at_q == Pass && source_q == Tile) beat_o = forward;
    else if (at_q == Pass) beat_o = '{in_valid, in_last, in_beat};
  end
  assign ready_in = at_q == Pass && ((to_lane_q & lanes_ready_i) != '0 || (to_loader_q && loader_ready_i));
  assign passes = beat_o.valid && ready_in;
  assign forward_ready_o = ready_in && source_q == Tile;
  assign in_ready = ready_in && source_q != Tile;
  assign passed = passes && beat_o.last;
  assign passing_o = at_q == Pass;
  assign wipe_o = decided && source_q == Host && wipe_q;

  // A lane has all of its frame, whose result is none.
  always_comb begin
    settled = 1'b0;
    forgets = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++)
    if (at_q == Settle && looks_q >= 3'd3 && plan_tile_q == tile_t'(t) && !open_i[t] && !open_q[t]) begin
      settled = 1'b1;
      forgets = !joins_i[t];
    end
  end

  assign decided = at_q == Decide && (go_q || to_switch_q) && (source_q != Tile || (asked && plan.good));
  assign plans = decided && source_q == Plan;
  assign make = plans;
  assign over = at_q == Decide && source_q == Tile && asked && (go_q || !plan.good);
  assign key_over = passed && source_q == Tile && to_loader_q;

  always_comb begin
    key_now = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      automatic keys_t keys = keys_i[t][run_q[t]^to_switch_q];
      if (to_tile == tile_t'(t)) key_now |= {keys.valid, keys.area};
    end
    made = '{valid: 1'b1, good: 1'b0, tile: plan_tile_q, key: '0};
    if (!wrong_q && plan_key_q) made.good = serve_banks != '0;
    else if (!wrong_q && (here || to_switch_q))
      made = '{valid: 1'b1, good: 1'b1, tile: tile, key: key_now};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q                                                                            <= Wait;
      source_q                                                                        <= Host;
      {run_q, looks_q, to_lane_q, to_loader_q, key_q, lane_q, asking_q, loader_key_q} <= '0;
      {given_o, key_banks_o, key_area_o, key_serves_o, switch_o, taken_o, refused_o}  <= '0;
      {plan_wanted_q, plan_key_q, plan_tile_q, plan_lane_q, settles_q}                <= '0;
    end else begin
      given_o   <= '0;
      switch_o  <= '0;
      taken_o   <= '0;
      refused_o <= '0;
      if (decided && to_switch_q) begin
        switch_o <= changes;
        run_q    <= run_q ^ changes;
      end
      if (plans) plan_wanted_q <= 1'b0;
      unique case (at_q)
        Wait: begin
          looks_q  <= '0;
          source_q <= asks != '0 ? Tile : plan_wanted_q ? Plan : Host;
          if (asks != '0) asking_q <= asking;
          if (asks != '0 || plan_wanted_q || in_valid) at_q <= Look;
        end
        Look: begin
          looks_q <= looks_q + 1'b1;
          if (looks_q == 3'd5) at_q <= Decide;
          if (source_q == Tile ? !asked : asks != '0) at_q <= Wait;
        end
        Decide:
        if (source_q == Tile && (!asked || !plan.good)) begin
          at_q <= Wait;
          for (int unsigned t = 0; t < Tiles; t++) refused_o[t] <= asked && asking_q == tile_t'(t);
        end else if (plans) begin
          at_q <= Wait;
        end else if (decided) begin
          at_q      <= Pass;
          settles_q <= source_q == Host && joins_q && to_lane;
          for (int unsigned t = 0; t < Tiles; t++) begin
            taken_o[t] <= source_q == Tile && asking_q == tile_t'(t);
            if (to_lane && to_tile == tile_t'(t)) begin
              to_lane_q[t] <= 1'b1;
              lane_q[t]    <= free_q[t];
              key_q[t]     <= source_q == Tile ? plan.key : key_now;
              for (int unsigned l = 0; l < Lanes; l++) given_o[t][l] <= free_q[t] == lane_t'(l);
              // Its result may be a frame.
              if (source_q == Host) begin
                plan_tile_q <= tile_t'(t);
                plan_lane_q <= free_q[t];
                plan_key_q  <= expands_q;
              end
            end
          end
          if (!to_lane) begin
            to_loader_q  <= 1'b1;
            loader_key_q <= source_q == Tile || loading_key_q;
            if (source_q == Tile || loading_key_q) begin
              key_banks_o  <= key_banks_q;
              key_area_o   <= key_area_q;
              key_serves_o <= key_serves_q;
            end
          end
        end else if (source_q == Tile ? others : asks != '0) begin
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
          if (settled) begin
            at_q          <= Wait;
            plan_wanted_q <= !forgets;
          end
        end
      endcase
    end
  end

endmodule

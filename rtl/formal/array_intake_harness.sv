// SPDX-License-Identifier: Apache-2.0
//
// array_intake between any host, lanes and loader, with the slot's order beside it: sets and keys as every frame would find
// them if frames came one after the other. What goes where, and under which key, has to be what that order says, however
// long lanes and loader take, and something goes on unless all wait for the host.
//
// Frames are of four beats: a header, whose second beat says what becomes of the frame, and what lies behind it, which of
// a lane's frame is the header that its result begins with. Sets and keys in the beginning are anything.
module array_intake_harness
  import array_front_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 2,
  parameter int unsigned Lanes = 2,
  // The first frame is any, or comes at once and its result is a key (1), or a message (2), so that the proof sees further.
  parameter int unsigned First = 0,
  // Clocks in which nothing goes on though nobody has to do something.
  parameter int unsigned Quiet = 20
) (
  input logic clk_i,
  input stream_t s_axis_i,
  // In the first clock: what banks hold, in a few bits of each.
  input logic [Tiles-1:0][1:0][6:0] begin_i,
  // A lane's frame has come; a lane's work is done; a tile asks now; a beat of its result is there.
  input logic [Tiles-1:0] ends_i,
  input logic [Tiles-1:0][Lanes-1:0] done_i,
  input logic [Tiles-1:0] asks_i,
  input logic [Tiles-1:0] beats_i,
  input logic [Tiles-1:0] ready_i,
  // The loader: takes a beat; begins to write; knows the algorithm; is done. A tile has changed.
  input logic loader_ready_i,
  input logic [2:0] loader_i,
  input logic [Tiles-1:0] changed_i
);

  // What has to be reachable: each of these is shown by a proof that it is not, which fails.
  localparam bit NoMessage = 1'b0;
  localparam bit NoKey = 1'b0;
  localparam bit NoChange = 1'b0;
  localparam bit NoOverlap = 1'b0;

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  // -- frames of the host -----------------------------------------------------------------------------------

  logic s_ready;
  logic [1:0] at_q;
  logic [7:0] op_q;
  header_t head;
  assign head = header_t'({64'b0, s_axis_i.data});

  function automatic logic plain(header_t h);
    return h.algorithm inside {8'd1, 8'd2} && h.flags == '0 && h.key_len == '0 && h.tag == '0 && h.iv_len == '0;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {at_q, op_q} <= '0;
    else if (s_axis_i.valid && s_ready) begin
      at_q <= at_q + 2'd1;
      if (at_q == '0) op_q <= head.op;
    end
  end

  always_comb begin
    assume (s_axis_i.last == (at_q == 2'd3));
    if (at_q == 2'd0) begin
      assume (plain(head));
      assume ((head.op inside {OpKey, OpExpand} && head.result_len == 8'd16)
          || (head.op == OpHash && head.result_len == 8'd16) || (head.op == OpEcb && head.result_len inside {8'd0, 8'd2})
          || (head.op == OpLoad && head.result_len inside {[8'd1:8'd3]}));
    end
    if (at_q == 2'd1) assume (s_axis_i.data[63:4] == '0);
    if (at_q == 2'd2)
      assume (plain(head) && head.result_len == 8'd16 && head.op inside {OpKey, OpHash, OpEcb});
    if (at_q == 2'd3) assume (s_axis_i.data inside {64'd64, 64'd4096});
  end

  stream_rules #(
    .Width (65),
    .Assume(1'b1)
  ) u_host (
    .clk_i,
    .rst_ni,
    .revoke_i(1'b0),
    .valid_i (s_axis_i.valid),
    .ready_i (s_ready),
    .data_i  ({s_axis_i.last, s_axis_i.data})
  );

  // Frames that have come.
  logic [1:0] frames_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) frames_q <= '0;
    else if (s_axis_i.valid && s_ready && s_axis_i.last && frames_q != '1) frames_q <= frames_q + 2'd1;
  end

  if (First != 0) begin : gen_first
    always_comb begin
      // The first tile has what the frame needs, and runs it.
      if (!rst_ni)
        assume (begin_i[0][0][3:0] == (First == 1 ? 4'b0101 : 4'b0001) && begin_i[0][0][6:4] == 3'd1);
      assume (ready_i == '1 && loader_ready_i);
      if (frames_q == '0) begin
        assume (s_axis_i.valid);
        if (at_q == 2'd0)
          assume (head.op == (First == 1 ? OpExpand : OpEcb) && head.algorithm == 8'd1
              && head.result_len == (First == 1 ? 8'd16 : 8'd2));
        if (at_q == 2'd1) assume (s_axis_i.data[0]);
        if (at_q == 2'd2) assume (head.op == (First == 1 ? OpKey : OpHash));
        if (at_q == 2'd3) assume (First != 1 || s_axis_i.data == 64'd64);
      end
    end
  end

  // -- the entrance -----------------------------------------------------------------------------------------

  stream_t beat;
  logic [Tiles-1:0] to_lane, lanes_ready, taken, refused, open, joins, run, switch_now, switching;
  logic to_loader, passing, forward_ready, loader_busy;
  ask_t [Tiles-1:0] asks;
  stream_t [Tiles-1:0] forwards;
  logic [Tiles-1:0][Lanes-1:0] free, given, planned;
  lane_t [Tiles-1:0] lane;
  lane_key_t [Tiles-1:0] lane_key;
  loading_t loading;
  set_t [Tiles-1:0][1:0] sets;
  keys_t [Tiles-1:0][1:0] keys;
  logic [Tiles-1:0][1:0] key_banks, key_serves;
  area_t key_area;

  array_intake #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .hold_i         (1'b0),
    .s_axis_i,
    .s_axis_ready_o (s_ready),
    .beat_o         (beat),
    .to_lane_o      (to_lane),
    .to_loader_o    (to_loader),
    .lanes_ready_i  (lanes_ready),
    .loader_ready_i (loader_ready_i),
    .wipe_o         (),
    .asks_i         (asks),
    .passing_o      (passing),
    .taken_o        (taken),
    .refused_o      (refused),
    .forwards_i     (forwards),
    .forward_ready_o(forward_ready),
    .free_i         (free),
    .open_i         (open),
    .joins_i        (joins),
    .planned_o      (planned),
    .given_o        (given),
    .lane_o         (lane),
    .key_o          (lane_key),
    .loader_busy_i  (loader_busy),
    .loading_i      (loading),
    .sets_i         (sets),
    .keys_i         (keys),
    .key_banks_o    (key_banks),
    .key_area_o     (key_area),
    .key_serves_o   (key_serves),
    .run_o          (run),
    .switch_o       (switch_now),
    .switching_i    (switching)
  );

  // What goes by, of whoever's frame: its header and what becomes of it.
  logic passes, over, from_tile_q;
  logic [1:0] by_q;
  logic [7:0] by_op_q, by_algorithm_q, by_words_q;
  logic [3:0] by_fate_q;
  logic [7:0] in_algorithm_q, in_op_q;
  logic in_long_q, by_long_q;

  assign passes = beat.valid && ((to_lane & lanes_ready) != '0 || (to_loader && loader_ready_i));
  assign over   = passes && beat.last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {by_q, by_op_q, by_algorithm_q, by_words_q, by_fate_q, in_algorithm_q, in_op_q, by_long_q} <= '0;
    end else if (passes) begin
      by_q <= by_q + 2'd1;
      if (by_q == 2'd0) begin
        {by_op_q, by_algorithm_q} <= {beat.data[15:8], beat.data[7:0]};
        by_words_q <= beat.data[63:56];
      end
      if (by_q == 2'd1) {by_fate_q, by_long_q} <= {beat.data[3:0], beat.data[12]};
      if (by_q == 2'd2) {in_op_q, in_algorithm_q} <= {beat.data[15:8], beat.data[7:0]};
    end
  end
  always_ff @(posedge clk_i) if (passes && by_q == 2'd3) in_long_q <= beat.data[12];

  // -- lanes ------------------------------------------------------------------------------------------------

  typedef struct packed {
    logic                  used;
    logic                  came;       // all of its frame
    logic                  joins;      // its result is a frame
    logic                  ready;      // and is there
    logic                  sends;
    logic                  expands;
    logic                  id;         // of a key that it makes
    logic [7:0]            op;         // of its result
    logic [7:0]            algorithm;
    logic                  long;
    lane_key_t             key;
    logic                  wanted;     // a key, by the order
    logic                  wanted_id;
    // The order's plan.
    logic                  good;
    tile_t                 to;
    logic                  bank;
    logic                  to_key;
    logic                  to_id;
    area_t                 area;
    logic [Tiles-1:0][1:0] banks;
  } lane_state_t;

  lane_state_t [Tiles-1:0][Lanes-1:0] lanes_q;
  ask_t [Tiles-1:0] ask_q;
  logic [Tiles-1:0][1:0] sent_q;
  logic [Tiles-1:0] open_q, joins_q, waits_q, sending, stuck;
  logic passing_q, now_key_q, now_id_q;
  logic [Tiles-1:0][2:0] waited_q;
  lane_state_t [Tiles-1:0] sender;

  always_comb begin
    for (int unsigned t = 0; t < Tiles; t++) begin
      sender[t]  = '0;
      sending[t] = 1'b0;
      for (int unsigned l = 0; l < Lanes; l++) begin
        free[t][l] = !lanes_q[t][l].used;
        if (lanes_q[t][l].sends) begin
          sender[t] |= lanes_q[t][l];
          sending[t] = 1'b1;
        end
      end
      forwards[t] = '0;
      if (sending[t] && waits_q[t]) begin
        forwards[t].valid = 1'b1;
        forwards[t].last  = sent_q[t] == 2'd3;
        unique case (sent_q[t])
          2'd0: forwards[t].data = {8'd16, 40'b0, sender[t].op, sender[t].algorithm};
          2'd1: forwards[t].data = {51'b0, sender[t].long, 9'b0, sender[t].id, 1'b1, 1'b1};
          default: forwards[t].data = '0;
        endcase
      end
      // A frame that does not fit a buffer waits for another one's answer, which waits for the exit that the tile's answer has.
      stuck[t] = to_lane[t] && from_tile_q && by_q >= 2'd2 && by_long_q;
      lanes_ready[t] = ready_i[t] && !stuck[t];
    end
  end
  assign asks  = ask_q;
  assign open  = open_q;
  assign joins = joins_q;

  // -- the order --------------------------------------------------------------------------------------------

  typedef struct packed {
    logic valid;
    logic stale;
    logic id;
  } order_key_t;

  set_t [Tiles-1:0][1:0] set_q, order_set_q;
  keys_t [Tiles-1:0][1:0] keys_q;
  order_key_t [Tiles-1:0][1:0] order_key_q;
  // What lies in the areas of banks.
  logic [Tiles-1:0][1:0][Areas-1:0] id_q;
  logic way_q;  // a key is on its way from a lane
  logic [7:0] way_algorithm_q;

  assign sets = set_q;
  assign keys = keys_q;

  function automatic set_t some_set(logic valid, logic hash, logic expands, logic second);
    some_set              = '0;
    some_set.valid        = valid;
    some_set.hash         = hash;
    some_set.keys         = expands && !hash;
    some_set.algorithm    = second ? 8'd2 : 8'd1;
    some_set.output_words = 8'd16;
    some_set.key_words    = some_set.keys ? 8'd0 : 8'd16;
  endfunction

  // Banks that serve, and of them those with the last key or all; a key's banks.
  function automatic logic [Tiles-1:0][1:0] able(logic [7:0] op, logic [7:0] algorithm);
    logic any;
    any = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned b = 0; b < 2; b++) begin
      able[t][b] = order_set_q[t][b].valid && order_set_q[t][b].algorithm == algorithm
          && (order_set_q[t][b].hash || order_set_q[t][b].keys == (op == OpExpand));
      any |= able[t][b] && order_key_q[t][b].valid && !order_key_q[t][b].stale;
    end
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned b = 0; b < 2; b++)
    if (any && op != OpKey) able[t][b] &= order_key_q[t][b].valid && !order_key_q[t][b].stale;
  endfunction

  logic [Tiles-1:0][1:0] serving, to_banks;
  logic [Tiles-1:0] here, there;
  logic [7:0] ask_op, ask_algorithm;
  tile_t own;
  logic planning, deciding, from_tile;
  lane_state_t asking;

  assign deciding = u_dut.decided;
  assign planning = u_dut.decided && u_dut.source_q == 2'd2;
  assign from_tile = u_dut.source_q == 2'd1;
  assign own = u_dut.plan_tile_q;
  assign ask_op = planning ? in_op_q : u_dut.outer.op;
  assign ask_algorithm = planning ? in_algorithm_q : u_dut.outer.algorithm;

  always_comb begin
    serving = able(ask_op, ask_algorithm);
    for (int unsigned t = 0; t < Tiles; t++) begin
      here[t] = serving[t][run[t]] && !(planning && own == tile_t'(t));
      there[t] = serving[t][!run[t]] && !(planning && own == tile_t'(t));
      to_banks[t] = serving[t];
      if (serving[t][run[t]]) to_banks[t][!run[t]] = 1'b0;
    end
    if (here != '0) there = '0;
    asking = '0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned l = 0; l < Lanes; l++)
    if (u_dut.asking == tile_t'(t) && ask_q[t].lane == lane_t'(l)) asking |= lanes_q[t][l];
  end

  // The key that a frame finds where it goes.
  order_key_t found;
  always_comb begin
    found = '0;
    for (int unsigned t = 0; t < Tiles; t++)
    if (u_dut.to_tile == tile_t'(t)) found |= order_key_q[t][run[t]^u_dut.to_switch];
  end

  // -- loader -----------------------------------------------------------------------------------------------

  logic load_busy_q, load_whole_q, load_begun_q, load_known_q, load_begins, load_ends;
  logic [2:0] load_waited_q, since_load_q;
  // Of its frame.
  logic [7:0] load_op_q, load_in_op_q, load_words_q;
  logic [3:0] load_fate_q;
  logic [Tiles-1:0] load_tiles_q, load_banks_q;

  assign loader_busy = load_busy_q;
  assign loading = '{known: load_known_q && load_op_q == OpLoad, algorithm: load_fate_q[2] ? 8'd2 : 8'd1};
  // It is slow, but not for ever.
  assign load_begins = load_whole_q && !load_begun_q && (loader_i[0] || load_waited_q >= 3'd2);
  assign load_ends = load_busy_q && load_whole_q && load_begun_q && (loader_i[2] || load_waited_q >= 3'd7);

  logic [Tiles-1:0] tick_q;
  logic [Tiles-1:0][1:0] since_q;
  assign switching = tick_q;

  // -- the clocks -------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned t = 0; t < Tiles; t++)
      for (int unsigned b = 0; b < 2; b++) begin
        automatic set_t s = some_set(begin_i[t][b][0], begin_i[t][b][1], begin_i[t][b][2], begin_i[t][b][3]);
        automatic logic has = s.valid && !s.keys && begin_i[t][b][4];
        set_q[t][b]       <= s;
        order_set_q[t][b] <= s;
        keys_q[t][b]      <= '{valid: has, stale: has && begin_i[t][b][5], area: {1'b0, begin_i[t][b][6]}};
        order_key_q[t][b] <= '{valid: has, stale: has && begin_i[t][b][5], id: 1'b0};
      end
      {id_q, lanes_q, ask_q, sent_q, open_q, joins_q, waits_q, waited_q, passing_q} <= '0;
      {way_q, way_algorithm_q, now_key_q, now_id_q, from_tile_q} <= '0;
      {load_busy_q, load_whole_q, load_begun_q, load_known_q, load_waited_q, since_load_q, load_tiles_q, load_banks_q} <= '0;
      {tick_q, since_q, load_op_q, load_words_q, load_fate_q, load_in_op_q} <= '0;
    end else begin
      passing_q <= passing;
      if (deciding && !planning) from_tile_q <= from_tile;

      // Lanes.
      for (int unsigned t = 0; t < Tiles; t++) begin
        joins_q[t] <= 1'b0;
        for (int unsigned l = 0; l < Lanes; l++)
        if (lane[t] == lane_t'(l) && !open_q[t]) joins_q[t] <= lanes_q[t][l].joins;
        if (given[t] != '0) open_q[t] <= 1'b1;
        waited_q[t] <= open_q[t] && !to_lane[t] ? waited_q[t] + 3'd1 : '0;
        if (open_q[t] && !to_lane[t] && (ends_i[t] || waited_q[t] >= 3'd2)) begin
          open_q[t] <= 1'b0;
          for (int unsigned l = 0; l < Lanes; l++)
          if (lane[t] == lane_t'(l)) begin
            automatic set_t s = set_q[t][run[t]];
            lanes_q[t][l].came <= 1'b1;
            if (by_fate_q[0] && s.valid && s.algorithm == by_algorithm_q && !from_tile_q
                && (by_op_q == OpExpand ? s.keys : by_op_q == OpEcb && !s.keys && !s.hash && by_words_q != '0)) begin
              lanes_q[t][l].joins     <= 1'b1;
              lanes_q[t][l].expands   <= by_op_q == OpExpand;
              lanes_q[t][l].id        <= by_fate_q[2];
              lanes_q[t][l].op        <= in_op_q;
              lanes_q[t][l].algorithm <= in_algorithm_q;
              lanes_q[t][l].long      <= in_long_q;
            end
          end
        end
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic lane_state_t s = lanes_q[t][l];
          if (given[t][l]) begin
            lanes_q[t][l]           <= '0;
            lanes_q[t][l].used      <= 1'b1;
            lanes_q[t][l].key       <= lane_key[t];
            lanes_q[t][l].wanted    <= now_key_q;
            lanes_q[t][l].wanted_id <= now_id_q;
          end else if (s.used && s.came && !s.joins && done_i[t][l] && !(lane[t] == lane_t'(l) && open_q[t])) begin
            lanes_q[t][l].used <= 1'b0;
          end else if (s.joins && !s.ready && planned[t][l] && done_i[t][l]) begin
            lanes_q[t][l].ready <= 1'b1;
          end
          if (taken[t] && ask_q[t].lane == lane_t'(l)) lanes_q[t][l].sends <= 1'b1;
          if (refused[t] && ask_q[t].lane == lane_t'(l)) {lanes_q[t][l].joins, lanes_q[t][l].ready} <= '0;
          if (forward_ready && forwards[t].valid && forwards[t].last && s.sends)
            {lanes_q[t][l].joins, lanes_q[t][l].ready, lanes_q[t][l].sends} <= '0;
        end
        if (taken[t] || refused[t] || passing_q) ask_q[t] <= '0;
        else if (!ask_q[t].valid && asks_i[t] && !sending[t]) begin
          for (int unsigned l = 0; l < Lanes; l++)
          if (lanes_q[t][l].ready) ask_q[t] <= '{valid: 1'b1, lane: lane_t'(l)};
        end
        if (forward_ready && forwards[t].valid) begin
          sent_q[t]  <= sent_q[t] + 2'd1;
          waits_q[t] <= 1'b0;
        end else if (sending[t] && beats_i[t]) waits_q[t] <= 1'b1;
        // A tile changes.
        since_q[t] <= tick_q[t] ? since_q[t] + 2'd1 : '0;
        if (switch_now[t]) tick_q[t] <= 1'b1;
        else if (changed_i[t] || since_q[t] == '1) tick_q[t] <= 1'b0;
      end

      // The order: a frame's effect is there as soon as it has its way.
      if (deciding && !from_tile && !planning) begin
        now_key_q <= found.valid;
        now_id_q  <= found.id;
      end
      if (deciding && from_tile) begin
        now_key_q <= asking.to_key;
        now_id_q  <= asking.to_id;
      end
      if (planning) begin
        for (int unsigned t = 0; t < Tiles; t++)
        for (int unsigned l = 0; l < Lanes; l++)
        if (own == tile_t'(t) && u_dut.plan_lane_q == lane_t'(l)) begin
          lanes_q[t][l].good   <= u_dut.made.good;
          lanes_q[t][l].to     <= u_dut.made.tile;
          lanes_q[t][l].to_key <= found.valid;
          lanes_q[t][l].to_id  <= found.id;
          lanes_q[t][l].area   <= u_dut.made.key.area;
          lanes_q[t][l].banks  <= to_banks;
          for (int unsigned u = 0; u < Tiles; u++)
          if (u_dut.made.tile == tile_t'(u)) lanes_q[t][l].bank <= run[u] ^ u_dut.to_switch;
          if (lanes_q[t][l].expands && u_dut.made.good) begin
            way_q           <= 1'b1;
            way_algorithm_q <= in_algorithm_q;
            for (int unsigned u = 0; u < Tiles; u++)
            for (int unsigned b = 0; b < 2; b++) begin
              if (to_banks[u][b]) order_key_q[u][b] <= '{valid: 1'b1, stale: 1'b0, id: lanes_q[t][l].id};
              else if (serving[u][b]) order_key_q[u][b].stale <= 1'b1;
            end
          end
        end
      end
      if (over && to_loader && from_tile_q) way_q <= 1'b0;

      // The loader.
      if (to_loader) load_busy_q <= 1'b1;
      load_waited_q <= load_begins ? '0 : load_busy_q && load_whole_q ? load_waited_q + 3'd1 : '0;
      if (over && to_loader) begin
        load_whole_q <= 1'b1;
        {load_op_q, load_words_q, load_fate_q, load_in_op_q} <= {by_op_q, by_words_q, by_fate_q, in_op_q};
        if (by_op_q == OpLoad && by_fate_q[1]) begin
          for (int unsigned t = 0; t < Tiles; t++)
          if (by_words_q[t]) begin
            order_set_q[t][!run[t]] <= some_set(
              by_fate_q[0], in_op_q == OpHash, in_op_q == OpKey, by_fate_q[2]
            );
            order_key_q[t][!run[t]] <= '0;
          end
        end
        if (by_op_q == OpKey && !from_tile_q && by_fate_q[0] && key_banks != '0) begin
          for (int unsigned u = 0; u < Tiles; u++)
          for (int unsigned b = 0; b < 2; b++) begin
            if (key_banks[u][b]) order_key_q[u][b] <= '{valid: 1'b1, stale: 1'b0, id: by_fate_q[2]};
            else if (key_serves[u][b]) order_key_q[u][b].stale <= 1'b1;
          end
        end
      end
      if (load_begins) begin
        load_begun_q <= 1'b1;
        load_tiles_q <= load_words_q[Tiles-1:0];
        load_banks_q <= ~run;
        for (int unsigned t = 0; t < Tiles; t++) begin
          if (load_op_q == OpLoad && load_fate_q[1] && load_words_q[t]) begin
            set_q[t][!run[t]].valid  <= 1'b0;
            keys_q[t][!run[t]].valid <= 1'b0;
            keys_q[t][!run[t]].stale <= 1'b0;
          end
          for (int unsigned b = 0; b < 2; b++)
          if (load_op_q == OpKey && load_fate_q[0] && key_banks[t][b]) id_q[t][b][key_area] <= load_fate_q[2];
        end
      end
      // A bank's keys are forgotten in front of that, which takes longer.
      since_load_q <= load_begun_q ? since_load_q + 3'(since_load_q != '1) : '0;
      if (load_begun_q && since_load_q >= 3'd5 && load_fate_q[1] && load_whole_q && loader_i[1])
        load_known_q <= 1'b1;
      if (load_ends) begin
        {load_busy_q, load_whole_q, load_begun_q, load_known_q, since_load_q} <= '0;
        for (int unsigned t = 0; t < Tiles; t++)
        for (int unsigned b = 0; b < 2; b++) begin
          if (load_op_q == OpLoad && load_fate_q[1] && load_tiles_q[t] && load_banks_q[t] == 1'(b))
            set_q[t][b] <= some_set(
              load_fate_q[0], load_in_op_q == OpHash, load_in_op_q == OpKey, load_fate_q[2]
            );
          if (load_op_q == OpKey && load_fate_q[0] && key_banks[t][b])
            keys_q[t][b] <= '{valid: 1'b1, stale: 1'b0, area: key_area};
          else if (load_op_q == OpKey && load_fate_q[0] && key_banks != '0 && key_serves[t][b])
            keys_q[t][b].stale <= 1'b1;
        end
      end
    end
  end

  // -- what has to hold -------------------------------------------------------------------------------------

  logic [5:0] quiet_q;
  logic moves, works, idle_host;

  // Somebody besides the entrance has to do something.
  always_comb begin
    works = load_busy_q || open_q != '0 || tick_q != '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        works |= lanes_q[t][l].used && !lanes_q[t][l].joins;
        works |= lanes_q[t][l].joins && !lanes_q[t][l].ready && planned[t][l];
        works |= lanes_q[t][l].ready && !ask_q[t].valid && !passing && !sending[t] && !asks_i[t];
      end
      works |= sending[t] && !waits_q[t];
      works |= to_lane[t] && !ready_i[t];
    end
    works |= to_loader && !loader_ready_i;
    idle_host = !s_axis_i.valid && !u_dut.in_valid && ask_q == '0;
    moves = passes || deciding || refused != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) quiet_q <= '0;
    else quiet_q <= moves || works || (idle_host && !u_dut.plan_wanted_q) ? '0 : quiet_q + 6'd1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (deciding && !from_tile && (u_dut.to_lane || planning)) begin
        if (planning && u_dut.plan_key_q) begin
          assert (u_dut.made.good == (in_op_q == OpKey && to_banks != '0))
          else $error("a key that is expanded has other banks than in the order");
        end else if (planning && !u_dut.made.good) begin
          assert (in_op_q != OpHash || in_long_q || (here == '0 && there == '0))
          else $error("a message is refused that a tile takes in the order");
        end else begin
          assert (u_dut.to_switch == (there != '0) && (!u_dut.to_switch || u_dut.changes == there))
          else $error("other tiles change than in the order");
          for (int unsigned t = 0; t < Tiles; t++)
          if (u_dut.to_tile == tile_t'(t)) begin
            assert (here[t] || there[t] || (here == '0 && there == '0 && t == 0 && !planning))
            else $error("a frame goes to another tile than in the order");
          end
          assert (!(planning && in_long_q))
          else $error("a message that fits no buffer is let in");
        end
        assert (!(way_q && way_algorithm_q == ask_algorithm && u_dut.made.good && planning))
        else $error("a message goes in front of its key");
      end
      if (deciding && !from_tile && !planning) begin
        assert (!(way_q && (u_dut.outer.op inside {OpLoad, OpKey, OpExpand} || way_algorithm_q == u_dut.outer.algorithm)))
        else $error("a frame goes in front of a key that it depends on");
        assert (u_dut.outer.op != OpKey || u_dut.key_banks_q == to_banks)
        else $error("a key goes to other banks than in the order");
      end
      if (deciding && from_tile) begin
        assert (asking.good)
        else $error("what nobody takes is taken");
        if (asking.expands) begin
          assert (!u_dut.to_lane && u_dut.key_banks_q == asking.banks)
          else $error("a key goes to other banks than planned");
        end else begin
          assert (u_dut.to_lane && u_dut.to_tile == asking.to)
          else $error("a message goes to another tile than planned");
          for (int unsigned t = 0; t < Tiles; t++)
          if (asking.to == tile_t'(t)) begin
            assert (run[t] == asking.bank)
            else $error("a tile has changed before a message came");
          end
        end
      end
      for (int unsigned t = 0; t < Tiles; t++) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic lane_state_t s = lanes_q[t][l];
          // A message that will come: its tile stays as it is, and so does its key.
          if (s.joins && !s.expands && s.good && !s.sends && deciding && !from_tile) begin
            for (int unsigned u = 0; u < Tiles; u++)
            if (s.to == tile_t'(u)) begin
              assert (!u_dut.to_switch || !u_dut.changes[u])
              else $error("a tile changes though a message will come to it");
              assert (planning || u_dut.outer.op != OpKey || !s.to_key || !u_dut.key_banks_q[u][s.bank]
                  || u_dut.key_area_q != s.area)
              else $error("a key comes to an area that a message will use");
            end
          end
          if (given[t][l]) begin
            assert (!s.used)
            else $error("a lane is given twice");
          end
          if (s.used && s.came) begin
            assert (s.key.key_valid == s.wanted)
            else $error("a frame has a key that it should not have, or has none");
            assert (!s.wanted || id_q[t][run[t]][s.key.area] == s.wanted_id)
            else $error("a frame has another key than in the order");
          end
        end
        if (switch_now[t]) begin
          assert (free[t] == '1)
          else $error("a tile changes under its lanes");
        end
      end
      assert (quiet_q < 6'(Quiet))
      else $error("nothing goes on, and nobody has to do something");
      if (NoMessage) assert (!(deciding && from_tile && u_dut.to_lane));
      if (NoKey) assert (!(deciding && from_tile && !u_dut.to_lane));
      if (NoChange) assert (!(planning && u_dut.to_switch));
      if (NoOverlap)
        assert (!(deciding && !from_tile && !planning && u_dut.to_lane && load_busy_q && loading.known));
    end
  end

endmodule

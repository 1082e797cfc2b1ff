// SPDX-License-Identifier: Apache-2.0
//
// The entrance: looks at a frame's first beat, waits until the frame may go, and passes it to a lane or to the loader.
// A frame goes to a free lane at once if the set that runs in a tile serves it; of two such tiles to the one with more of
// them. If none does, but other banks do, the lanes of their tiles come to their ends and all these tiles change to that
// bank while the frame is on its way; if there is none, the frame waits for the loader, and a lane refuses it. Frames that load go to the loader while
// the lanes work, but a key waits until no lane uses the area that it will lie in.
//
// A result that is a frame itself comes from a tile's exit and goes before the next frame of the host: a key to the loader,
// a hash to another tile, whose lanes do not wait for that exit.
//
// Clocks: 9 from the first beat to its way, and 7 from the loader's end to that of a frame that waits for it.
module array_intake
  import array_front_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
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
  output logic      [Tiles-1:0][Lanes-1:0] given_o,
  output lane_t     [Tiles-1:0]            lane_o,
  output lane_key_t [Tiles-1:0]            key_o,

  // The loader and the banks of every tile.
  input  logic                   loader_busy_i,
  input  set_t  [Tiles-1:0][1:0] sets_i,
  input  keys_t [Tiles-1:0][1:0] keys_i,
  // Of a key: the banks that it goes to, at most one of a tile, and where in them; those whose frames it is for.
  output logic  [Tiles-1:0][1:0] key_banks_o,
  output area_t                  key_area_o,
  output logic  [Tiles-1:0][1:0] key_serves_o,

  // The bank of a tile that runs is to be the other one; it is not yet.
  output logic [Tiles-1:0] run_o,
  output logic [Tiles-1:0] switch_o,
  input  logic [Tiles-1:0] switching_i
);

  if (Tiles < 1 || Tiles > 2) begin : gen_illegal
    $error("array_intake: tiles are one or two");
  end

  typedef enum logic [1:0] {
    Wait,    // for a first beat
    Look,    // what it asks for
    Decide,
    Pass
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

  // -- whose frame it is ------------------------------------------------------------------------------------

  typedef logic [0:0] tile_t;

  logic from_tile_q, asked, asks, others, ready_in;
  tile_t asking_q, asking;
  stream_t forward;

  always_comb begin
    forward = '0;
    asks = 1'b0;
    others = 1'b0;
    asking = '0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      forward |= forwards_i[t];
      asks |= asks_i[t].valid;
      if (asking_q != tile_t'(t)) others |= asks_i[t].valid;
    end
    // In turns.
    for (int unsigned t = 0; t < Tiles; t++)
    if (asks_i[t].valid && (asking_q != tile_t'(t) || !asks_i[Tiles-1-t].valid)) asking = tile_t'(t);
  end
  assign asked = asks_i[asking_q].valid;

  at_e  at_q;
  logic loader_key_q;  // what the loader has is a key
  logic loading_key_q, loads_q, wipe_q;
  logic [2:0] looks_q;
  logic [Tiles-1:0] run_q, to_lane_q;
  logic to_loader_q;
  lane_key_t [Tiles-1:0][Lanes-1:0] lane_keys_q;
  lane_key_t [Tiles-1:0] key_q;
  lane_t [Tiles-1:0] lane_q;

  assign run_o       = run_q;
  assign key_o       = key_q;
  assign lane_o      = lane_q;
  assign to_lane_o   = to_lane_q;
  assign to_loader_o = to_loader_q;

  // -- what the frame is ------------------------------------------------------------------------------------

  // Everything that is asked of banks and lanes comes in the clocks in which the frame is looked at, one step after the
  // other; the loader counts as busy until what it has changed has come through them.
  header_t head;
  always_comb begin
    head = header_t'({64'b0, in_beat});
    if (from_tile_q) begin
      head            = '0;
      head.result_len = asks_i[asking_q].result_len;
      head.flags      = asks_i[asking_q].flags;
      head.op         = asks_i[asking_q].op;
      head.algorithm  = asks_i[asking_q].algorithm;
    end
  end

  // A bank without the last key for such a frame serves it only if none has that. Which one serves is a matter of the
  // order of frames alone, or the host would not know which bank of a tile is the next one to be loaded.
  logic [Tiles-1:0][1:0] serves_q, sized_q, current_q, able_q, key_banks_q;
  logic [Tiles-1:0] here_q, other_q, more_q;
  area_t [Tiles-1:0][1:0] next_q;  // where a bank's next key will lie
  area_t [Tiles-1:0] tile_next_q;
  area_t key_next_q;
  logic area_used_q;
  logic [5:0] busy_q;
  logic loader_busy_q;
  // Lanes of tiles.
  logic [Tiles-1:0][4:0] free_count_q;
  logic [Tiles-1:0] idle_q, any_free_q, still_q;
  lane_t [Tiles-1:0] free_q;

  always_ff @(posedge clk_i) begin
    logic used;
    for (int unsigned t = 0; t < Tiles; t++) begin
      for (int unsigned b = 0; b < 2; b++) begin
        serves_q[t][b] <= serves(sets_i[t][b], head);
        able_q[t][b] <= serves_q[t][b] && (current_q[t][b] || current_q == '0);
        current_q[t][b] <= serves_q[t][b] && keys_i[t][b].valid && !keys_i[t][b].stale;
        next_q[t][b] <= next_area(keys_i[t][b].area, areas(sets_i[t][b].key_words, sets_i[t][b].hash));
        // A key says of how many words it is, so that sets for other lengths of keys can lie beside.
        sized_q[t][b] <= head.result_len == (sets_i[t][b].hash ? 8'd16 : sets_i[t][b].key_words);
        key_banks_q[t][b] <= serves_q[t][b] && sized_q[t][b]
            && (run_q[t] == 1'(b) || !(serves_q[t][run_q[t]] && sized_q[t][run_q[t]]));
      end
      // A tile whose exit waits for this frame to go cannot take it.
      here_q[t] <= able_q[t][run_q[t]] && !(from_tile_q && asking_q == tile_t'(t));
      other_q[t] <= able_q[t][!run_q[t]] && !(from_tile_q && asking_q == tile_t'(t));
      tile_next_q[t] <= next_q[t][key_banks_q[t][1]];
    end
    key_next_q <= tile_next_q[0];
    for (int t = Tiles - 1; t >= 0; t--) if (key_banks_q[t] != '0) key_next_q <= tile_next_q[t];
    used = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned l = 0; l < Lanes; l++) begin
      used |= !free_i[t][l] && lane_keys_q[t][l].key_valid && lane_keys_q[t][l].area == key_next_q
          && key_banks_q[t][run_q[t]];
    end
    area_used_q   <= used;
    still_q       <= idle_q & ~switching_i;
    busy_q        <= {busy_q[4:0], loader_busy_i};
    // The loader and the tiles have to mean the same banks.
    loader_busy_q <= loader_busy_i || busy_q != '0 || switching_i != '0;
  end

  // -- where it goes ----------------------------------------------------------------------------------------

  logic to_lane, ready, served_q, change_q, go_q, to_switch_q, wrong_q, refuse_q;
  tile_t choice_q, tile_q;
  logic [Tiles-1:0] changes_q;

  assign to_lane = !loads_q && !loading_key_q;
  // What has been asked before a wipe comes to its end.
  assign ready   = from_tile_q || (!hold_i && !(wipe_q && (idle_q != '1 || loader_busy_q)));

  always_ff @(posedge clk_i) begin
    choice_q <= '0;
    if (here_q == '0) begin
      for (int t = Tiles - 1; t >= 0; t--) if (other_q[t]) choice_q <= tile_t'(t);
    end else begin
      for (int t = Tiles - 1; t >= 0; t--)
      if (here_q[t] && (here_q == Tiles'(1 << t) || more_q[t])) choice_q <= tile_t'(t);
    end
    // Of two tiles one has not less.
    for (int unsigned t = 0; t < Tiles; t++) more_q[t] <= free_count_q[t] >= free_count_q[Tiles-1-t];
    served_q <= here_q != '0;
    change_q <= here_q == '0 && other_q != '0;
    // A set that has just been loaded may add a tile, which is not asked to change.
    changes_q <= other_q;
    tile_q    <= to_lane ? choice_q : '0;
    // Of a tile's frame: words of keys are a key and nothing else, results of ciphers are messages.
    if (asks_i[asking_q].keys) wrong_q <= head.op != OpKey || head.flags.wipe;
    else wrong_q <= !(head.op inside {OpHash, OpHmacStates}) || head.flags.wipe;
    // Two tiles do not wait for each other to change.
    refuse_q <= from_tile_q && (wrong_q || (to_lane && !loader_busy_q && !served_q && (!change_q || others)));
    for (int unsigned t = 0; t < Tiles; t++) begin
      free_count_q[t] <= 5'($countones(free_i[t]));
      for (int unsigned l = 0; l < Lanes; l++) if (free_i[t][l]) free_q[t] <= lane_t'(l);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      go_q        <= 1'b0;
      to_switch_q <= 1'b0;
      any_free_q  <= '0;
      idle_q      <= '0;
    end else begin
      for (int unsigned t = 0; t < Tiles; t++) begin
        any_free_q[t] <= free_i[t] != '0 && !open_i[t] && at_q != Pass;
        idle_q[t]     <= free_i[t] == '1 && at_q != Pass;
      end
      go_q        <= 1'b0;
      to_switch_q <= 1'b0;
      if (loads_q) go_q <= ready && !loader_busy_q;
      else if (loading_key_q) go_q <= ready && !loader_busy_q && !area_used_q;
      // Keys under way may be that of this frame, and so may sets if there is no other one for it: those that are loaded
      // serve nobody.
      else if (!(loader_busy_q && (loader_key_q || !(served_q || change_q)))) begin
        if (change_q) to_switch_q <= ready && (other_q & ~still_q) == '0;
        else go_q <= ready && any_free_q[choice_q];
      end
    end
  end

  // -- the frame --------------------------------------------------------------------------------------------

  logic passed;

  always_comb begin
    beat_o = '0;
    if (at_q == Pass && from_tile_q) beat_o = forward;
    else if (at_q == Pass) beat_o = '{in_valid, in_last, in_beat};
  end
  assign ready_in = at_q == Pass && ((to_lane_q & lanes_ready_i) != '0 || (to_loader_q && loader_ready_i));
  assign forward_ready_o = ready_in && from_tile_q;
  assign in_ready = ready_in && !from_tile_q;
  assign passed = beat_o.valid && ready_in && beat_o.last;
  assign passing_o = at_q == Pass;
  assign wipe_o = at_q == Decide && (go_q || to_switch_q) && wipe_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q          <= Wait;
      run_q         <= '0;
      loading_key_q <= 1'b0;
      loads_q       <= 1'b0;
      wipe_q        <= 1'b0;
      looks_q       <= '0;
      to_lane_q     <= '0;
      to_loader_q   <= 1'b0;
      lane_keys_q   <= '0;
      key_q         <= '0;
      lane_q        <= '0;
      given_o       <= '0;
      key_banks_o   <= '0;
      key_area_o    <= '0;
      key_serves_o  <= '0;
      loader_key_q  <= 1'b0;
      switch_o      <= '0;
      taken_o       <= '0;
      refused_o     <= '0;
      from_tile_q   <= 1'b0;
      asking_q      <= '0;
    end else begin
      given_o   <= '0;
      switch_o  <= '0;
      taken_o   <= '0;
      refused_o <= '0;
      unique case (at_q)
        Wait: begin
          looks_q       <= '0;
          from_tile_q   <= asks;
          asking_q      <= asks ? asking : asking_q;
          loads_q       <= head.op == OpLoad;
          loading_key_q <= head.op == OpKey;
          wipe_q        <= head.flags.wipe;
          if (asks || (in_valid && !from_tile_q)) at_q <= Look;
        end
        Look: begin
          looks_q <= looks_q + 1'b1;
          if (from_tile_q && looks_q == '0) begin
            loads_q       <= head.op == OpLoad;
            loading_key_q <= head.op == OpKey;
            wipe_q        <= 1'b0;
          end
          if (looks_q == (from_tile_q ? 3'd6 : 3'd5)) at_q <= Decide;
          if (from_tile_q ? !asked : asks) at_q <= Wait;
        end
        Decide:
        if (from_tile_q && (!asked || refuse_q)) begin
          at_q                <= Wait;
          refused_o[asking_q] <= asked;
        end else if ((from_tile_q ? others : asks) && !go_q && !to_switch_q) begin
          at_q <= Wait;
        end else begin
          if (from_tile_q && (to_switch_q || go_q)) taken_o[asking_q] <= 1'b1;
          if (to_switch_q) begin
            switch_o <= changes_q;
            run_q    <= run_q ^ changes_q;
          end
          if (to_switch_q || go_q) begin
            at_q <= Pass;
            if (to_lane) begin
              automatic keys_t keys = keys_i[tile_q][run_q[tile_q]^to_switch_q];
              to_lane_q[tile_q] <= 1'b1;
              lane_q[tile_q]    <= free_q[tile_q];
              key_q[tile_q]     <= '{key_valid: keys.valid, area: keys.area};
              for (int unsigned t = 0; t < Tiles; t++)
              for (int unsigned l = 0; l < Lanes; l++) begin
                if (tile_q == tile_t'(t) && free_q[t] == lane_t'(l)) begin
                  given_o[t][l]     <= 1'b1;
                  lane_keys_q[t][l] <= '{key_valid: keys.valid, area: keys.area};
                end
              end
            end else begin
              to_loader_q  <= 1'b1;
              loader_key_q <= loading_key_q;
              if (loading_key_q) begin
                key_banks_o  <= key_banks_q;
                key_area_o   <= key_next_q;
                key_serves_o <= serves_q;
              end
            end
          end
        end
        default: begin
          if (passed) begin
            at_q        <= Wait;
            from_tile_q <= 1'b0;
            to_lane_q   <= '0;
            to_loader_q <= 1'b0;
          end
        end
      endcase
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Who serves a frame, by the sets and keys of all banks: the tile that it goes to, or those that have to change their
// banks first; and of a key the banks that it goes to. It is asked one step after the other, a register behind each.
//
// A bank without the last key for such a frame serves it only if none has that. Of several tiles that run a set for it the
// one with the most free lanes takes it, if which one it is shows nowhere: where they have the last key, or none is asked for.
//
// Clocks: 5 from a header to the tile, 4 to the banks of a key and their area.
module array_serve
  import array_front_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1,
  // Of a tile.
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,

  // The header's first beat; tiles that cannot take it; of several tiles the first one takes it in any case.
  input header_t             head_i,
  input logic    [Tiles-1:0] without_i,
  input logic                first_i,

  input logic  [Tiles-1:0][Lanes-1:0] free_i,
  input logic  [Tiles-1:0]            run_i,
  input set_t  [Tiles-1:0][      1:0] sets_i,
  input keys_t [Tiles-1:0][      1:0] keys_i,

  // A tile runs a set that serves it; none does, but these would if they changed; the tile.
  output logic                   here_o,
  output logic                   change_o,
  output logic  [Tiles-1:0]      changes_o,
  output tile_t                  tile_o,
  // Of a key: the banks that it goes to, at most one of a tile, and where in them; those whose frames it is for.
  output logic  [Tiles-1:0][1:0] key_banks_o,
  output logic  [Tiles-1:0][1:0] key_serves_o,
  output area_t                  key_area_o
);

  logic [Tiles-1:0][1:0] serves_q, sized_q, current_q, able_q, banks_q;
  logic [Tiles-1:0] here_q, other_q;
  logic any_q;  // it shows nowhere
  area_t [Tiles-1:0][1:0] next_q;  // where a bank's next key will lie
  area_t [Tiles-1:0] tile_next_q;
  area_t area_q;
  // Of two tiles the first one has fewer free lanes.
  logic [Tiles-1:0][Tiles-1:0] fewer_q;
  logic [Tiles-1:0][4:0] count_q;
  logic [Tiles-1:0] first_other, best;
  tile_t tile;

  always_ff @(posedge clk_i) begin
    any_q <= !first_i && (current_q != '0 || head_i.op == OpHash);
    for (int unsigned t = 0; t < Tiles; t++) begin
      for (int unsigned b = 0; b < 2; b++) begin
        serves_q[t][b] <= serves(sets_i[t][b], head_i);
        able_q[t][b] <= serves_q[t][b] && (current_q[t][b] || current_q == '0);
        current_q[t][b] <= serves_q[t][b] && keys_i[t][b].valid && !keys_i[t][b].stale;
        next_q[t][b] <= next_area(keys_i[t][b].area, areas(sets_i[t][b].key_words, sets_i[t][b].hash));
        // A key says of how many words it is, so that sets for other lengths of keys can lie beside.
        sized_q[t][b] <= head_i.result_len == (sets_i[t][b].hash ? 8'd16 : sets_i[t][b].key_words);
        banks_q[t][b] <= serves_q[t][b] && sized_q[t][b]
            && (run_i[t] == 1'(b) || !(serves_q[t][run_i[t]] && sized_q[t][run_i[t]]));
      end
      here_q[t] <= able_q[t][run_i[t]] && !without_i[t];
      other_q[t] <= able_q[t][!run_i[t]] && !without_i[t];
      tile_next_q[t] <= next_q[t][banks_q[t][1]];
    end
    area_q <= tile_next_q[0];
    for (int t = Tiles - 1; t >= 0; t--) if (banks_q[t] != '0) area_q <= tile_next_q[t];
  end

  always_comb begin
    best = here_q;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned u = 0; u < Tiles; u++) if (here_q[u] && fewer_q[t][u] && any_q) best[t] = 1'b0;
    first_other = here_q == '0 ? other_q : best;
    tile = '0;
    for (int t = Tiles - 1; t >= 0; t--) if (first_other[t]) tile = tile_t'(t);
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned t = 0; t < Tiles; t++) begin
      count_q[t] <= 5'($countones(free_i[t]));
      for (int unsigned u = 0; u < Tiles; u++) fewer_q[t][u] <= count_q[t] < count_q[u];
    end
    here_o    <= here_q != '0;
    change_o  <= here_q == '0 && other_q != '0;
    changes_o <= other_q;
    tile_o    <= tile;
  end

  assign key_banks_o  = banks_q;
  assign key_serves_o = serves_q;
  assign key_area_o   = area_q;

endmodule

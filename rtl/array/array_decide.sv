// SPDX-License-Identifier: Apache-2.0
//
// Whether the frame that is looked at may go: what it may depend on is known, and where it goes there is room.
//
// Clocks: 2 from what lanes and loader say, 1 from all else; 7 more from the loader's end.
module array_decide
  import array_front_pkg::*;
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

  // The frame; a tile's is a key, or will be. One is on its way. The tile that it goes to if it goes to one.
  input source_e     source_i,
  input frame_kind_t kind_i,
  input header_t     head_i,
  input logic        result_key_i,
  input logic        passing_i,
  input tile_t       to_tile_i,

  // Who serves it (array_serve); tiles that frames will come to, a key that will come and whose it is, and whether the area
  // of this frame's is in use (array_plans).
  input logic             here_i,
  input logic             change_i,
  input logic [Tiles-1:0] changes_i,
  input logic [Tiles-1:0] wanted_i,
  input logic             key_way_i,
  input logic             key_used_i,
  input logic [      7:0] algorithm_i,

  // Lanes, and the loader, which has a key.
  input logic     [Tiles-1:0][Lanes-1:0] free_i,
  input logic     [Tiles-1:0]            open_i,
  input logic     [Tiles-1:0]            switching_i,
  input logic                            loader_busy_i,
  input logic                            loader_key_i,
  input loading_t                        loading_i,

  // It may; tiles change for it first. A free lane of each tile.
  output logic              go_o,
  output logic              to_switch_o,
  output lane_t [Tiles-1:0] lane_o
);

  logic [5:0] busy_q;
  logic loader_busy_q, apart_q, same_q;
  logic [Tiles-1:0] idle_q, any_free_q, still_q;
  logic ready, unknown, free, switches;

  // What has been asked before a wipe comes to its end.
  assign ready = !hold_i && !(kind_i.wipes && (idle_q != '1 || loader_busy_q));
  // Keys under way may be that of this frame, and so may a set if no tile runs one: it has no key.
  assign unknown = (loader_busy_q && (loader_key_i || !(here_i || apart_q))) || (key_way_i && same_q);
  assign switches = (changes_i & ~still_q) == '0;

  always_comb begin
    free = 1'b0;
    for (int unsigned t = 0; t < Tiles; t++) if (to_tile_i == tile_t'(t)) free |= any_free_q[t];
  end

  always_ff @(posedge clk_i) begin
    // What the loader has is for other frames; a key that is on its way is for this one.
    apart_q       <= loading_i.known && loading_i.algorithm != head_i.algorithm;
    same_q        <= algorithm_i == head_i.algorithm;
    still_q       <= idle_q & ~switching_i & ~wanted_i;
    busy_q        <= {busy_q[4:0], loader_busy_i};
    // What the loader has changed comes through all that is asked. The loader and the tiles have to mean the same banks.
    loader_busy_q <= loader_busy_i || busy_q != '0 || switching_i != '0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned l = 0; l < Lanes; l++) if (free_i[t][l]) lane_o[t] <= lane_t'(l);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {go_o, to_switch_o, any_free_q, idle_q} <= '0;
    end else begin
      for (int unsigned t = 0; t < Tiles; t++) begin
        any_free_q[t] <= free_i[t] != '0 && !open_i[t] && !passing_i;
        idle_q[t]     <= free_i[t] == '1 && !passing_i;
      end
      go_o        <= 1'b0;
      to_switch_o <= 1'b0;
      unique case (source_i)
        Host:
        if (kind_i.loads) go_o <= ready && !loader_busy_q && !key_way_i;
        else if (kind_i.key) go_o <= ready && !loader_busy_q && !key_way_i && !key_used_i;
        else if (ready && !unknown && !(kind_i.expands && key_way_i)) begin
          if (change_i) to_switch_o <= switches;
          else go_o <= free;
        end
        Tile: go_o <= result_key_i ? !loader_busy_q && !key_used_i : free;
        default:
        if (kind_i.wrong) go_o <= 1'b1;
        else if (result_key_i) go_o <= !loader_busy_q || (!loader_key_i && apart_q);
        else if (!unknown) begin
          if (change_i) to_switch_o <= switches;
          else go_o <= 1'b1;
        end
      endcase
    end
  end

endmodule

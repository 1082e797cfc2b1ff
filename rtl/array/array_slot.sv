// SPDX-License-Identifier: Apache-2.0
//
// Tiles of the array as a slot: behind the boundary that every slot has, with two kinds of frame of its own, which load
// context sets and keys. Each tile has lanes, of which each has a frame, and takes a block from one of them at each of its
// starts. Tiles have nothing in common but the entrance, the loader and the exit: each runs a set of its own, or all the
// same one.
//
// Cycles per block: the set's contexts at full load; of one frame alone whose blocks wait for each other the latency and
// about 45, rounded up to contexts.
`include "slot_ports.svh"

module array_slot
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  // 1, 2 or 4.
  parameter int unsigned Tiles = 2,
  // Frames in flight in a tile, a power of two.
  parameter int unsigned Lanes = 8,
  // Blocks that a tile begins at once, 1 or 2.
  parameter int unsigned Ways  = 2
) (
  `SLOT_PORTS
);

  // The deepest memory's words, and what its last word takes to leave the elements.
  localparam int unsigned Buffers = Lanes << BeatBits;
  localparam int unsigned ClearCycles = (Buffers > 512 ? Buffers : 512) + 128;

  clear_t clear;
  logic hold, wipe;

  // -- the entrance -----------------------------------------------------------------------------------------

  stream_t beat;
  logic to_loader, loader_ready, loader_left, loader_used_q, loader_busy;
  logic [Tiles-1:0] to_lane, lanes_ready, open;
  logic [Tiles-1:0][Lanes-1:0] free, given, planned;
  logic [Tiles-1:0] joins;
  loading_t loading;
  lane_t [Tiles-1:0] lane;
  lane_key_t [Tiles-1:0] lane_key;
  set_t [Tiles-1:0][1:0] sets;
  keys_t [Tiles-1:0][1:0] keys;
  logic [Tiles-1:0][1:0] key_banks, key_serves;
  area_t key_area;
  logic [Tiles-1:0] run, switch, switching;
  ask_t [Tiles-1:0] asks;
  stream_t [Tiles-1:0] forwards;
  logic passing, forward_ready;
  logic [Tiles-1:0] taken, refused;

  array_intake #(
    .Tiles(Tiles),
    .Lanes(Lanes)
  ) u_intake (
    .clk_i,
    .rst_ni,
    .hold_i         (hold),
    .s_axis_i       ({s_axis_tvalid, s_axis_tlast, s_axis_tdata}),
    .s_axis_ready_o (s_axis_tready),
    .beat_o         (beat),
    .to_lane_o      (to_lane),
    .to_loader_o    (to_loader),
    .lanes_ready_i  (lanes_ready),
    .loader_ready_i (loader_ready),
    .wipe_o         (wipe),
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
    .loader_busy_i  (loader_busy || loader_used_q),
    .loading_i      (loading),
    .sets_i         (sets),
    .keys_i         (keys),
    .key_banks_o    (key_banks),
    .key_area_o     (key_area),
    .key_serves_o   (key_serves),
    .run_o          (run),
    .switch_o       (switch),
    .switching_i    (switching)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) loader_used_q <= 1'b0;
    else loader_used_q <= (loader_used_q || to_loader) && !loader_left;
  end

  // -- the loader -------------------------------------------------------------------------------------------

  stream_t loader_in, loader_answer;
  header_t   loader_header;
  request_t  loader_frame;
  response_t loader_response;
  logic loader_answer_ready, unused_response_ready, loader_shell_forget, loader_forget;
  logic [7:0] fault;
  logic [Tiles-1:0] load_writes, lane_writes, state_write;
  logic load_ready;
  write_t [Tiles-1:0] load_write;
  logic [Tiles-1:0][6:0] state_at;
  logic [63:0] state_data;

  // The loader answers a header late, and its shell waits for it as for a clear.
  logic [1:0] heads_q;
  logic looked;
  clear_t loader_wait;

  assign loader_wait = '{active: clear.active || !looked, index: clear.index};
  // What several tiles take goes on when all of them can take it at once. Until then one that can writes the same again.
  assign load_ready  = (load_writes & lane_writes) == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) heads_q <= '0;
    else if (loader_left) heads_q <= '0;
    else if (loader_in.valid && loader_ready && !heads_q[1]) heads_q <= heads_q + 2'd1;
  end

  assign loader_in = '{beat.valid && to_loader, beat.last, to_loader ? beat.data : '0};

  slot_shell u_loader_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (loader_wait),
    .forget_o      (loader_shell_forget),
    .s_axis_i      (loader_in),
    .s_axis_ready_o(loader_ready),
    .m_axis_o      (loader_answer),
    .m_axis_ready_i(loader_answer_ready),
    .header_o      (loader_header),
    .frame_o       (loader_frame),
    .answer_i      (loader_response),
    .answer_ready_o(unused_response_ready),
    .refuse_i      (1'b0)
  );

  array_loader #(
    .Tiles(Tiles)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .header_i     (loader_header),
    .frame_i      (loader_frame),
    .answer_o     (loader_response),
    .heads_i      (heads_q[1]),
    .looked_o     (looked),
    .fault_o      (fault),
    .forget_o     (loader_forget),
    .run_i        (run),
    .key_banks_i  (key_banks),
    .key_area_i   (key_area),
    .key_serves_i (key_serves),
    .sets_o       (sets),
    .keys_o       (keys),
    .busy_o       (loader_busy),
    .loading_o    (loading),
    .writes_o     (load_writes),
    .write_o      (load_write),
    .write_ready_i(load_ready),
    .state_write_o(state_write),
    .state_at_o   (state_at),
    .state_data_o (state_data)
  );

  // -- tiles and their lanes --------------------------------------------------------------------------------

  logic [Tiles-1:0] lanes_forget, answers_ready, answers_left, empty, out_ready;
  stream_t [Tiles-1:0] out;

  // The first tile's exit has the loader's answers.
  assign loader_answer_ready = answers_ready[0];
  assign loader_left         = answers_left[0];

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    set_t set;
    settings_t settings;
    stream_t lanes_in;
    logic start, bank, changing, changing_q;
    logic [1:0] switch_q;
    logic [3:0] since_q;
    logic [Ways-1:0][KeyWordBits-1:0] key_base_now;
    logic [StreamBits-1:0] input_base, output_base, read_at;
    logic [Ways-1:0][Outputs-1:0][31:0] words;
    write_t lane_write, tile_write;

    // Everything that a set says has a register of its own behind it: the bank changes when nobody works.
    always_ff @(posedge clk_i) set <= sets[t][run[t]];

    assign lanes_in = '{beat.valid && to_lane[t], beat.last, to_lane[t] ? beat.data : '0};

    array_lanes #(
      .Lanes(Lanes),
      .Ways (Ways)
    ) u_lanes (
      .clk_i,
      .rst_ni,
      .clear_i        (clear),
      .changing_i     (changing),
      .hold_i         (switching[t]),
      .set_i          (set),
      .run_i          (run[t]),
      .s_i            (lanes_in),
      .s_ready_o      (lanes_ready[t]),
      .lane_i         (lane[t]),
      .key_i          (lane_key[t]),
      .given_i        (given[t]),
      .free_o         (free[t]),
      .open_o         (open[t]),
      .joins_o        (joins[t]),
      .planned_i      (planned[t]),
      .forget_o       (lanes_forget[t]),
      .state_write_i  (state_write[t]),
      .state_at_i     (state_at[t]),
      .state_data_i   (state_data),
      .start_i        (start),
      .input_base_i   (input_base),
      .output_base_i  (output_base),
      .key_base_o     (key_base_now),
      .write_o        (lane_write),
      .read_at_o      (read_at),
      .words_i        (words),
      .ask_o          (asks[t]),
      .passing_i      (passing),
      .taken_i        (taken[t]),
      .refused_i      (refused[t]),
      .forward_o      (forwards[t]),
      .forward_ready_i(forward_ready),
      .loader_i       (t == 0 ? loader_answer : '0),
      .loader_ready_o (answers_ready[t]),
      .loader_left_o  (answers_left[t]),
      .fault_i        (fault),
      .empty_o        (empty[t]),
      .m_axis_o       (out[t]),
      .m_axis_ready_i (out_ready[t])
    );

    // The set has its register, and the settings theirs; lanes have found out when to choose by the end.
    assign changing     = switch_q != '0 || changing_q;
    assign switching[t] = changing || since_q != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {switch_q, changing_q, since_q} <= '0;
      else begin
        switch_q   <= {switch_q[0], switch[t]};
        changing_q <= switch_q[1] || (changing_q && bank != run[t]);
        if (switch_q[1]) since_q <= 4'd12;
        else if (since_q != '0) since_q <= since_q - 4'd1;
      end
    end

    always_ff @(posedge clk_i) begin
      settings <= '{
        bank: run[t],
        memory_stride: set.memory_stride,
        output_stride: StreamBits'(set.output_words),
        input_stride: StreamBits'(set.input_words),
        last: set.last_context
      };
    end

    // Nobody else writes when the tile is to change to another bank: its lanes and the loader are idle.
    assign lane_writes[t] = lane_write.target != TargetNone;
    always_comb begin
      tile_write = '0;
      if (lane_writes[t]) tile_write = lane_write;
      else if (load_writes[t]) tile_write = load_write[t];
      if (switch_q[1]) tile_write = '{target: TargetSettings, data: 64'(settings), default: '0};
    end

    array_tile #(
      .Ways(Ways)
    ) u_tile (
      .clk_i,
      .rst_ni,
      .clear_i      (clear),
      .write_i      (tile_write),
      .start_o      (start),
      .key_base_i   (key_base_now),
      .input_base_o (input_base),
      .output_base_o(output_base),
      .bank_o       (bank),
      .read_at_i    ({Ways{read_at}}),
      .words_o      (words)
    );
  end

  // -- the exit ---------------------------------------------------------------------------------------------

  stream_t answers;
  logic exit_empty;

  assign {m_axis_tvalid, m_axis_tlast, m_axis_tdata} = answers;

  if (Tiles == 1) begin : gen_one
    assign answers    = out[0];
    assign out_ready  = m_axis_tready;
    assign exit_empty = 1'b1;
  end else begin : gen_exit
    array_exit #(
      .Tiles(Tiles)
    ) u_exit (
      .clk_i,
      .rst_ni,
      .s_i           (out),
      .s_ready_o     (out_ready),
      .m_axis_o      (answers),
      .m_axis_ready_i(m_axis_tready),
      .empty_o       (exit_empty)
    );
  end

  // -- what is forgotten ------------------------------------------------------------------------------------

  // Whatever was asked before is answered first, and what the entrance had just decided.
  logic forget_q, forget, wiping_q, over_q;
  logic [3:0] held_q;

  assign forget = forget_q && held_q == '1 && over_q && !clear.active;
  assign hold   = forget_q || wiping_q || clear.active;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      forget_q <= 1'b0;
      wiping_q <= 1'b0;
      over_q   <= 1'b0;
      held_q   <= '0;
    end else begin
      forget_q <= lanes_forget != '0 || loader_shell_forget || loader_forget || (forget_q && !forget);
      held_q   <= {held_q[2:0], forget_q};
      // Those who say it are far from each other, and none of them begins anything any more.
      over_q   <= free == '1 && open == '0 && !loader_used_q && !loader_busy && empty == '1 && exit_empty;
      wiping_q <= wipe || (wiping_q && lanes_forget == '0 && !loader_shell_forget);
    end
  end

  slot_clear #(
    .ClearCycles(ClearCycles)
  ) u_clear (
    .clk_i,
    .rst_ni,
    .forget_i(forget),
    .clear_o (clear)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// A tile of the array as a slot: behind the boundary that every slot has, with two kinds of frame of its own, which
// load context sets and keys. Each lane is a slot_shell with a frame of its own; the tile takes a block from one of
// them at each of its starts.
//
// Cycles per block: the set's contexts at full load; of one frame alone 40, twice the contexts and the latency, or so.
`include "slot_ports.svh"

module array_slot
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  // Frames in flight, a power of two.
  parameter int unsigned Lanes = 2
) (
  `SLOT_PORTS
);

  // The deepest memory's words, and what its last word takes to leave the elements.
  localparam int unsigned ClearCycles = 640;
  localparam int unsigned QueueDepth = 512;

  clear_t clear;
  logic hold;

  // -- the entrance -----------------------------------------------------------------------------------------

  stream_t beat;
  logic [Lanes:0] to, ready, left;
  logic [Lanes-1:0] free, used_q, busy;
  logic loader_used_q;
  lane_key_t [Lanes-1:0] lane_key;
  logic [Lanes-1:0][KeyWordBits-1:0] lane_base;
  set_t [1:0] sets;
  area_t [1:0] area;
  logic [1:0] key_valid;
  logic switching_q;
  logic [1:0] switch_q;
  logic recent, key_known, key_bank, run, switch, wipe;
  logic loader_busy;
  set_t set;

  // Everything that a set says has a register of its own behind it: the bank changes when nobody works.
  always_ff @(posedge clk_i) set <= sets[run];

  array_intake #(
    .Lanes(Lanes)
  ) u_intake (
    .clk_i,
    .rst_ni,
    .hold_i        (hold),
    .s_axis_i      ({s_axis_tvalid, s_axis_tlast, s_axis_tdata}),
    .s_axis_ready_o(s_axis_tready),
    .beat_o        (beat),
    .to_o          (to),
    .ready_i       (ready),
    .wipe_o        (wipe),
    .free_i        (free),
    .key_o         (lane_key),
    .loader_busy_i (loader_busy || loader_used_q),
    .sets_i        (sets),
    .area_i        (area),
    .key_valid_i   (key_valid),
    .recent_i      (recent),
    .key_known_o   (key_known),
    .key_bank_o    (key_bank),
    .run_o         (run),
    .switch_o      (switch),
    .switching_i   (switch_q != '0 || switching_q)
  );

  // A lane is free when its answer has left and the tile has no block of it.
  assign free = ~used_q & ~busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q        <= '0;
      loader_used_q <= 1'b0;
    end else begin
      used_q        <= (used_q | to[Lanes-1:0]) & ~left[Lanes-1:0];
      loader_used_q <= (loader_used_q || to[Lanes]) && !left[Lanes];
    end
  end

  // Where the words of a lane's key begin.
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) lane_base[l] <= key_base(run, lane_key[l].area, set.key_words);
  end

  // -- lanes ------------------------------------------------------------------------------------------------

  logic [Lanes-1:0] block_valid, grant, state_valid, lane_forget, full, ended;
  logic [Lanes-1:0][63:0] take_data;
  logic [3:0] take_at;
  result_t [Lanes-1:0] result;
  state_e [Lanes-1:0] state_wanted;
  state_beat_t [Lanes-1:0] state_beat;
  stream_t [Lanes:0] answer;
  logic [Lanes:0] answer_ready;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    stream_t queued_in, shell_in, shell_out;
    logic shell_in_ready, shell_out_ready;
    logic unused_full, unused_empty, unused_answer_empty;
    header_t header;
    request_t frame;
    response_t response;
    logic response_ready;

    assign queued_in = '{beat.valid && to[l], beat.last, beat.data};

    array_queue #(
      .Depth(QueueDepth)
    ) u_requests (
      .clk_i,
      .rst_ni,
      .clear_i  (clear),
      .s_i      (queued_in),
      .s_ready_o(ready[l]),
      .m_o      (shell_in),
      .m_ready_i(shell_in_ready),
      .full_o   (unused_full),
      .empty_o  (unused_empty)
    );

    slot_shell u_shell (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .forget_o      (lane_forget[l]),
      .s_axis_i      (shell_in),
      .s_axis_ready_o(shell_in_ready),
      .m_axis_o      (shell_out),
      .m_axis_ready_i(shell_out_ready),
      .header_o      (header),
      .frame_o       (frame),
      .answer_i      (response),
      .answer_ready_o(response_ready),
      .refuse_i      (1'b0)
    );

    array_lane u_lane (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .set_i         (set),
      .key_i         (lane_key[l]),
      .header_i      (header),
      .frame_i       (frame),
      .answer_o      (response),
      .answer_ready_i(response_ready),
      .block_valid_o (block_valid[l]),
      .grant_i       (grant[l]),
      .take_at_i     (take_at),
      .take_data_o   (take_data[l]),
      .result_i      (result[l]),
      .state_valid_o (state_valid[l]),
      .state_o       (state_wanted[l]),
      .state_i       (state_beat[l]),
      .busy_o        (busy[l])
    );

    array_queue #(
      .Depth(QueueDepth)
    ) u_answers (
      .clk_i,
      .rst_ni,
      .clear_i  (clear),
      .s_i      (shell_out),
      .s_ready_o(shell_out_ready),
      .m_o      (answer[l]),
      .m_ready_i(answer_ready[l]),
      .full_o   (full[l]),
      .empty_o  (unused_answer_empty)
    );

    assign ended[l] = shell_out.valid && shell_out_ready && shell_out.last;
  end

  // -- the loader -------------------------------------------------------------------------------------------

  stream_t   loader_in;
  header_t   loader_header;
  request_t  loader_frame;
  response_t loader_response;
  logic unused_response_ready, loader_shell_forget, loader_forget;
  logic [7:0] fault;
  write_t load_write, feed_write, tile_write;
  logic feed_writes;
  logic state_write;
  logic [6:0] state_at;
  logic [63:0] state_data;

  // The loader answers a header late, and its shell waits for it as for a clear.
  logic [1:0] heads_q;
  logic looked;
  clear_t loader_wait;

  assign loader_wait = '{active: clear.active || !looked, index: clear.index};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) heads_q <= '0;
    else if (left[Lanes]) heads_q <= '0;
    else if (loader_in.valid && ready[Lanes] && !heads_q[1]) heads_q <= heads_q + 2'd1;
  end

  assign loader_in   = '{beat.valid && to[Lanes], beat.last, beat.data};
  assign feed_writes = feed_write.target != TargetNone;

  slot_shell u_loader_shell (
    .clk_i,
    .rst_ni,
    .clear_i       (loader_wait),
    .forget_o      (loader_shell_forget),
    .s_axis_i      (loader_in),
    .s_axis_ready_o(ready[Lanes]),
    .m_axis_o      (answer[Lanes]),
    .m_axis_ready_i(answer_ready[Lanes]),
    .header_o      (loader_header),
    .frame_o       (loader_frame),
    .answer_i      (loader_response),
    .answer_ready_o(unused_response_ready),
    .refuse_i      (1'b0)
  );

  array_loader u_loader (
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
    .key_known_i  (key_known),
    .key_bank_i   (key_bank),
    .sets_o       (sets),
    .area_o       (area),
    .key_valid_o  (key_valid),
    .recent_o     (recent),
    .busy_o       (loader_busy),
    .write_o      (load_write),
    .write_ready_i(!feed_writes),
    .state_write_o(state_write),
    .state_at_o   (state_at),
    .state_data_o (state_data)
  );

  array_states #(
    .Lanes(Lanes)
  ) u_states (
    .clk_i,
    .rst_ni,
    .clear_i     (clear),
    .write_i     (state_write),
    .write_at_i  (state_at),
    .write_data_i(state_data),
    .bank_i      (run),
    .valid_i     (state_valid),
    .state_i     (state_wanted),
    .key_i       (lane_key),
    .beat_o      (state_beat)
  );

  // -- the tile ---------------------------------------------------------------------------------------------

  logic start, bank;
  logic [KeyWordBits-1:0] key_base_now;
  logic [StreamBits-1:0] input_base, output_base, read_at;
  logic [Outputs-1:0][31:0] words;
  settings_t settings;

  array_feed #(
    .Lanes(Lanes)
  ) u_feed (
    .clk_i,
    .rst_ni,
    .set_i        (set),
    .hold_i       (switch_q != '0 || switching_q || clear.active),
    .valid_i      (block_valid),
    .grant_o      (grant),
    .take_at_o    (take_at),
    .take_data_i  (take_data),
    .key_base_i   (lane_base),
    .result_o     (result),
    .start_i      (start),
    .input_base_i (input_base),
    .output_base_i(output_base),
    .key_base_o   (key_base_now),
    .write_o      (feed_write),
    .read_at_o    (read_at),
    .words_i      (words)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {switch_q, switching_q} <= '0;
    else begin
      // The set has its register, and the settings theirs.
      switch_q    <= {switch_q[0], switch};
      switching_q <= switch_q[1] || (switching_q && bank != run);
    end
  end

  always_ff @(posedge clk_i) begin
    settings <= '{
      bank: run,
      memory_stride: set.memory_stride,
      output_stride: pairs(6'(set.output_words)),
      input_stride: pairs(set.input_words),
      last: set.last_context
    };
  end

  // Nobody else writes when the tile is to change to another bank: lanes and loader are idle.
  always_comb begin
    tile_write = feed_writes ? feed_write : load_write;
    if (switch_q[1]) tile_write = '{target: TargetSettings, data: 64'(settings), default: '0};
  end

  array_tile u_tile (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .write_i      (tile_write),
    .start_o      (start),
    .key_base_i   (key_base_now),
    .input_base_o (input_base),
    .output_base_o(output_base),
    .bank_o       (bank),
    .read_at_i    (read_at),
    .words_o      (words)
  );

  // -- the exit ---------------------------------------------------------------------------------------------

  logic empty;
  stream_t out;

  array_outlet #(
    .Lanes(Lanes)
  ) u_outlet (
    .clk_i,
    .rst_ni,
    .s_i           (answer),
    .s_ready_o     (answer_ready),
    .full_i        (full),
    .ended_i       (ended),
    .fault_i       (fault),
    .left_o        (left),
    .empty_o       (empty),
    .m_axis_o      (out),
    .m_axis_ready_i(m_axis_tready)
  );

  assign {m_axis_tvalid, m_axis_tlast, m_axis_tdata} = out;

  // -- what is forgotten ------------------------------------------------------------------------------------

  // Whatever was asked before is answered first, and what the entrance had just decided.
  logic forget_q, forget, wiping_q;
  logic [2:0] held_q;

  assign forget = forget_q && held_q == '1 && free == '1 && !loader_used_q && !loader_busy && empty && !clear.active;
  assign hold = forget_q || wiping_q || clear.active;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      forget_q <= 1'b0;
      wiping_q <= 1'b0;
      held_q   <= '0;
    end else begin
      forget_q <= lane_forget != '0 || loader_shell_forget || loader_forget || (forget_q && !forget);
      held_q   <= {held_q[1:0], forget_q};
      wiping_q <= wipe || (wiping_q && lane_forget == '0 && !loader_shell_forget);
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

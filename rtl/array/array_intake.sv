// SPDX-License-Identifier: Apache-2.0
//
// The entrance: looks at a frame's first beat, waits until the frame may go, and passes it to a lane or to the loader.
// A frame goes to a free lane at once if the set that runs serves it. If the other bank's does, the lanes come to their ends
// and the tile changes to that bank while the frame is on its way; if none does, it waits for the loader, and a lane refuses it. Frames that
// load go to the loader while the lanes work, but a key waits until no lane uses the area that it will lie in.
//
// Clocks: 9 from the first beat to its way, and 5 from the loader's end to that of a frame that waits for it.
module array_intake
  import array_front_pkg::*;
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Lanes = 16
) (
  input logic clk_i,
  input logic rst_ni,
  // A clear is at work, or about to be.
  input logic hold_i,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,

  // Beats to whoever the frame is for: a lane, or the loader.
  output stream_t beat_o,
  output logic    to_lane_o,
  output logic    to_loader_o,
  input  logic    lanes_ready_i,
  input  logic    loader_ready_i,
  // A frame that wipes has been given away.
  output logic    wipe_o,

  // Lanes that have nothing to do with a frame any more; one has not all of its own yet. The lane that has been given a
  // frame, and what that frame may use, until the next one.
  input  logic      [Lanes-1:0] free_i,
  input  logic                  open_i,
  output logic      [Lanes-1:0] given_o,
  output lane_t                 lane_o,
  output lane_key_t             key_o,

  // The loader and the banks.
  input  logic        loader_busy_i,
  input  set_t  [1:0] sets_i,
  input  area_t [1:0] area_i,
  input  logic  [1:0] key_valid_i,
  input  logic        recent_i,
  output logic        key_known_o,
  output logic        key_bank_o,

  // The bank that runs is to be the other one; it is not yet.
  output logic run_o,
  output logic switch_o,
  input  logic switching_i
);

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

  at_e  at_q;
  logic loader_key_q;  // what the loader has is a key
  logic run_q, loading_key_q, loads_q, wipe_q;
  logic [1:0] serves_q, sized_q;
  logic [2:0] looks_q;
  logic to_lane_q, to_loader_q;
  lane_key_t [Lanes-1:0] keys_q;
  lane_key_t key_q;
  lane_t lane_q;
  logic key_known_q, key_bank_q;
  lane_t free_q;
  logic any_free_q, idle_q;

  assign run_o       = run_q;
  assign key_o       = key_q;
  assign key_known_o = key_known_q;
  assign key_bank_o  = key_bank_q;
  assign lane_o      = lane_q;
  assign to_lane_o   = to_lane_q;
  assign to_loader_o = to_loader_q;

  // -- what the frame is ------------------------------------------------------------------------------------

  header_t head;
  assign head = header_t'({64'b0, in_beat});

  // Of two banks that serve it the one that runs, unless the last key was the other one's.
  // Everything that is asked of banks and lanes comes in the clocks in which the frame is looked at, one step after the
  // other; the loader counts as busy until what it has changed has come through them.
  logic other_q, here_q, pick_q, key_found_q, area_used_q;
  lane_key_t [1:0] bank_key_q;
  area_t key_next_q;
  area_t [1:0] next_q;  // where a bank's next key will lie
  logic [1:0][4:0] areas_q;
  logic [3:0] busy_q;
  logic loader_busy_q, go_q, to_switch_q;

  always_ff @(posedge clk_i) begin
    logic used;
    for (int unsigned b = 0; b < 2; b++) begin
      serves_q[b] <= serves(sets_i[b], head);
      sized_q[b]  <= head.result_len == (sets_i[b].hash ? 8'd16 : sets_i[b].key_words);
    end
    here_q  <= serves_q[run_q];
    other_q <= serves_q[!run_q] && (!serves_q[run_q] || (recent_i == !run_q && key_valid_i[!run_q]));
    for (int unsigned b = 0; b < 2; b++) bank_key_q[b] <= '{key_valid: key_valid_i[b], area: area_i[b]};
    for (int unsigned b = 0; b < 2; b++) begin
      areas_q[b] <= areas(sets_i[b].key_words, sets_i[b].hash);
      next_q[b]  <= 5'(area_i[b]) + 5'd1 >= areas_q[b] ? '0 : area_i[b] + 2'd1;
    end
    key_next_q    <= next_q[pick_q];
    busy_q        <= {busy_q[2:0], loader_busy_i};
    // The loader and the tile have to mean the same bank.
    loader_busy_q <= loader_busy_i || busy_q != '0 || switching_i;
    used = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++)
    used |= !free_i[l] && keys_q[l].key_valid && keys_q[l].area == key_next_q;
    area_used_q <= used && pick_q == run_q;
    // A key says of how many words it is, so that sets for other lengths of keys can lie beside.
    pick_q      <= serves_q[run_q] && sized_q[run_q] ? run_q : !run_q;
    key_found_q <= (serves_q & sized_q) != '0;
  end

  logic to_lane, ready;
  assign to_lane = !loads_q && !loading_key_q;
  assign ready   = !hold_i && !(wipe_q && (!idle_q || loader_busy_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      go_q        <= 1'b0;
      to_switch_q <= 1'b0;
    end else begin
      go_q        <= 1'b0;
      to_switch_q <= 1'b0;
      if (loads_q) go_q <= ready && !loader_busy_q;
      else if (loading_key_q) go_q <= ready && !loader_busy_q && !area_used_q;
      // Sets and keys under way may be those of this frame.
      else if (!(loader_busy_q && (!here_q || other_q || loader_key_q))) begin
        if (other_q) to_switch_q <= ready && idle_q;
        else go_q <= ready && any_free_q;
      end
    end
  end

  // -- the frame --------------------------------------------------------------------------------------------

  logic passed;

  assign beat_o   = '{valid: in_valid && at_q == Pass, last: in_last, data: at_q == Pass ? in_beat : '0};
  assign in_ready = at_q == Pass && ((to_lane_q && lanes_ready_i) || (to_loader_q && loader_ready_i));
  assign passed   = in_valid && in_ready && in_last;
  assign wipe_o   = at_q == Decide && (go_q || to_switch_q) && wipe_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q          <= Wait;
      run_q         <= 1'b0;
      loading_key_q <= 1'b0;
      loads_q       <= 1'b0;
      wipe_q        <= 1'b0;
      looks_q       <= '0;
      to_lane_q     <= 1'b0;
      to_loader_q   <= 1'b0;
      keys_q        <= '0;
      key_q         <= '0;
      lane_q        <= '0;
      given_o       <= '0;
      key_known_q   <= 1'b0;
      key_bank_q    <= 1'b0;
      free_q        <= '0;
      any_free_q    <= 1'b0;
      idle_q        <= 1'b0;
      loader_key_q  <= 1'b0;
      switch_o      <= 1'b0;
    end else begin
      any_free_q <= free_i != '0 && !open_i && at_q != Pass;
      given_o    <= '0;
      idle_q     <= free_i == '1 && at_q != Pass;
      for (int unsigned l = 0; l < Lanes; l++) if (free_i[l]) free_q <= lane_t'(l);
      switch_o <= 1'b0;
      unique case (at_q)
        Wait:
        if (in_valid) begin
          at_q          <= Look;
          looks_q       <= '0;
          loads_q       <= head.op == OpLoad;
          loading_key_q <= head.op == OpKey;
          wipe_q        <= head.flags.wipe;
        end
        Look: begin
          looks_q <= looks_q + 1'b1;
          if (looks_q == 3'd5) at_q <= Decide;
        end
        Decide: begin
          if (to_switch_q) begin
            switch_o <= 1'b1;
            run_q    <= !run_q;
          end
          if (to_switch_q || go_q) begin
            at_q <= Pass;
            if (to_lane) begin
              to_lane_q <= 1'b1;
              lane_q    <= free_q;
              key_q     <= bank_key_q[run_q^to_switch_q];
              for (int unsigned l = 0; l < Lanes; l++) begin
                given_o[l] <= free_q == lane_t'(l);
                if (free_q == lane_t'(l)) keys_q[l] <= bank_key_q[run_q^to_switch_q];
              end
            end else begin
              to_loader_q  <= 1'b1;
              loader_key_q <= loading_key_q;
              key_known_q  <= key_found_q;
              key_bank_q   <= pick_q;
            end
          end
        end
        default: begin
          if (passed) begin
            at_q        <= Wait;
            to_lane_q   <= 1'b0;
            to_loader_q <= 1'b0;
          end
        end
      endcase
    end
  end

endmodule

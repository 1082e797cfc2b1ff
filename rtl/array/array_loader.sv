// SPDX-License-Identifier: Apache-2.0
//
// Frames that load: a context set into the bank that does not run of each tile that its frame names, or a key into an area
// of every bank that it is for. What is wrong with a set is found before it counts: a bank has no set from the first beat of a load until the
// last one was right. A new set's bank forgets its keys first.
//
// Clocks: of a set its words, or those that are written into the tile if there are more, and KeyRoom + 1 for the keys
// forgotten. A key's words, one a clock. 9 behind either of them.
module array_loader
  import array_pkg::*;
  import array_front_pkg::*;
  import array_load_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1,
  // Words of keys that a bank has; fewer in proofs.
  parameter int unsigned Room  = KeyRoom
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // The shell.
  input  header_t         header_i,
  input  request_t        frame_i,
  output response_t       answer_o,
  // The answer to the header stands: so many clocks after its second beat.
  input  logic            heads_i,
  output logic            looked_o,
  // Why a set was refused; stands until the next frame starts.
  output logic      [7:0] fault_o,
  // A key was cut short.
  output logic            forget_o,

  // Which banks run. Of a key: the banks that it goes to, one of a tile at most, where in them, and all whose frames it is
  // for.
  input logic  [Tiles-1:0]      run_i,
  input logic  [Tiles-1:0][1:0] key_banks_i,
  input area_t                  key_area_i,
  input logic  [Tiles-1:0][1:0] key_serves_i,

  output set_t     [Tiles-1:0][1:0] sets_o,
  output keys_t    [Tiles-1:0][1:0] keys_o,
  output logic                      busy_o,
  output loading_t                  loading_o,

  // Into the tiles, of which some take it and then at once, and into the stores of their states.
  output logic   [Tiles-1:0]      writes_o,
  output write_t [Tiles-1:0]      write_o,
  input  logic                    write_ready_i,
  output logic   [Tiles-1:0]      state_write_o,
  output logic   [Tiles-1:0][6:0] state_at_o,
  output logic   [     63:0]      state_data_o
);

  at_e at_q;
  // Tiles that a set or a key goes to, and their banks.
  logic [Tiles-1:0] tiles_q, banks_q;
  set_t [Tiles-1:0][1:0] sets_q;
  set_t new_q;
  keys_t [Tiles-1:0][1:0] keys_q;

  assign sets_o = sets_q;
  assign keys_o = keys_q;
  assign busy_o = at_q != Idle;

  // -- the header -------------------------------------------------------------------------------------------

  logic load, hash, aead;
  logic [Tiles-1:0] target, target_banks;
  logic [Tiles-1:0][KeyWordBits-1:0] base;
  status_e verdict;

  array_accept #(
    .Tiles(Tiles)
  ) u_accept (
    .clk_i,
    .header_i,
    .heads_i,
    .looked_o,
    .run_i,
    .key_banks_i,
    .key_area_i,
    .sets_i   (sets_q),
    .load_o   (load),
    .hash_o   (hash),
    .aead_o   (aead),
    .target_o (target),
    .banks_o  (target_banks),
    .base_o   (base),
    .verdict_o(verdict)
  );

  // -- a beat and what is written of it ----------------------------------------------------------------------

  // A beat is held until all of it is written. What the next one is follows from the one before.
  logic take, step, done, writes, full;
  logic open_q, held_q, first_q, tail_q, is_crc_q;  // the last beat; and it is a set's CRC
  logic [63:0] beat_q;
  // Words of the beat to be written behind the first one, a bit each; of the section's beats.
  logic [6:0] left_q, parts_q;
  logic [4:0] head_q;  // which beat of the head
  logic constants_q;
  logic data_q;  // within a section, or of a key
  logic writing_q;  // and it is written into the tile
  logic chain_q, contexts_kind_q, bytes_kind_q, small_q;  // of the section
  logic [31:0] left_words_q;
  logic last_word_q;
  logic [15:0] sections_q;  // still to come
  logic [9:0] entry_q;  // of a table or of the constants
  logic [11:0] context_q;
  logic [$clog2(ContextWords)-1:0] word_q;
  logic [15:0] contexts_q;
  logic [Tiles-1:0][KeyWordBits-1:0] key_at_q;
  logic [7:0] purge_q;
  logic [2:0] state_beat_q;
  section_t section;
  write_t kind_q;  // what all writes of a section have in common

  assign section = section_t'(beat_q);
  assign writes = writing_q && !is_crc_q;
  assign step = held_q && !(writes && full);
  assign done = step && (!left_q[0] || !writes);
  assign take = frame_i.valid && answer_o.ready;
  // All of the head has come. Who asks is far away.
  always_ff @(posedge clk_i)
    loading_o <= {
      load && (at_q == Set || at_q == Check) && head_q == '0, new_q.algorithm
    };

  assign answer_o = '{
      ready: open_q && (!held_q || done),
      valid: 1'b0,
      done: at_q == Over,
      beat: '0,
      length: '0,
      verdict: verdict
    };

  // What a section is, from its head.
  logic [6:0] parts;
  logic section_writes, section_bad, section_small;
  write_t section_kind;

  assign {parts, section_kind} = place_of(section);
  assign section_writes        = section.kind != Chain;
  assign section_bad           = section.kind == '0 || section.kind > Chain;
  assign section_small         = is_small(section);

  // It would be written behind the end of what a bank has: a table's entries, constants, contexts.
  logic past;
  always_comb begin
    past = entry_q[9];
    if (constants_q) past = entry_q[9:ConstantBits] != '0;
    if (contexts_kind_q) past = context_q[11:ContextBits] != '0;
  end

  // What goes into the tile waits until it is taken; of what does not wait the target is none.
  write_t out, common;
  logic [Tiles-1:0] out_tiles;
  logic [Tiles-1:0][8:0] out_at, at;
  logic out_valid, out_ready, valid;

  assign full = !out_ready;

  always_comb begin
    out      = kind_q;
    out.data = bytes_kind_q ? {56'b0, beat_q[7:0]} : beat_q;
    out.at   = '0;
    for (int unsigned t = 0; t < Tiles; t++)
    out_at[t] = contexts_kind_q ? {1'b0, context_q[7:0]} : entry_q[8:0];
    if (contexts_kind_q) out.lane = 4'(word_q);
    if (!load || at_q == Purge) begin
      out.target = TargetKey;
      out.rotate = 1'b0;
      out.lane   = '0;
      for (int unsigned t = 0; t < Tiles; t++) out_at[t] = 9'(key_at_q[t]);
    end
    if (at_q == Purge) out.data = '0;
    out_valid = at_q == Purge || (held_q && writes);
    out_tiles = tiles_q;
  end

  // Whether it is taken does not come to the registers of its many bits.
  logic [Tiles-1:0] tiles;

  skid_buffer #(
    .Width($bits(write_t) + 10 * Tiles)
  ) u_out (
    .clk_i,
    .rst_ni,
    .s_valid_i(out_valid),
    .s_ready_o(out_ready),
    .s_data_i ({out_tiles, out_at, out}),
    .m_valid_o(valid),
    .m_ready_i(write_ready_i),
    .m_data_o ({tiles, at, common})
  );

  assign writes_o = tiles & {Tiles{valid}};
  always_comb begin
    for (int unsigned t = 0; t < Tiles; t++) begin
      write_o[t]    = common;
      write_o[t].at = at[t];
    end
  end

  // -- faults -----------------------------------------------------------------------------------------------

  logic at0_q, at1_q, no_magic_q, other_length_q, other_version_q, bad_q, other_q, wrong_crc_q;
  logic crc_valid_q;
  logic [31:0] crc_q, crc_beat_q;
  logic [7:0] fault_q;

  assign fault_o = fault_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {at0_q, at1_q, no_magic_q, other_length_q, other_version_q, wrong_crc_q, crc_valid_q} <= '0;
      crc_q                                                                                 <= '1;
      crc_beat_q                                                                            <= '0;
    end else begin
      at0_q           <= first_q && head_q[0];
      at1_q           <= first_q && head_q[1];
      no_magic_q      <= beat_q != Magic;
      other_length_q  <= beat_q[63:32] != {3'b0, header_i.payload_len[31:3]};
      other_version_q <= beat_q[31:0] != Version;
      wrong_crc_q     <= beat_q != {32'b0, ~crc_q};
      crc_valid_q     <= first_q && load && !tail_q;
      crc_beat_q      <= crc_of(beat_q);
      if (frame_i.start) crc_q <= '1;
      else if (crc_valid_q) crc_q <= crc_of({32'b0, crc_q}) ^ crc_beat_q;
    end
  end

  // All that was announced has come, there is room for it, and the interval is long enough to bring a block's words and to
  // leave room for all blocks that are on their way.
  logic [ 2:0] settle_q;  // clocks until what follows counts
  logic [15:0] shortest_q;
  logic all_came_q, counted_q, in_range_q, long_q, room_q, some_q, shaped_q, whole_q;

  always_ff @(posedge clk_i) begin
    shortest_q <= shortest(new_q);
    all_came_q <= sections_q == '0 && !data_q && word_q == '0;
    counted_q <= contexts_q == 16'(context_q);
    in_range_q <= contexts_q <= 16'(1 << ContextBits);
    long_q <= contexts_q >= shortest_q;
    room_q <= {contexts_q, FlightBits'(0)} >= 22'(new_q.latency) + 22'(FlightClocks);
    some_q <= new_q.input_words != '0 && new_q.output_words != '0 && new_q.key_words <= 8'(KeyRoom);
    shaped_q <= is_shaped(new_q);
    whole_q <= all_came_q && counted_q && in_range_q && long_q && room_q && some_q && shaped_q;
  end

  // -- states -----------------------------------------------------------------------------------------------

  // Those of keys, a set's first one; in a purge all of a bank's. Their stores are far away.
  logic state_write;

  assign state_write = at_q == Purge || (done && data_q && !is_crc_q && (load ? chain_q : hash));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {state_write_o, state_at_o, state_data_o} <= '0;
    else begin
      state_data_o  <= at_q == Purge ? '0 : beat_q;
      state_write_o <= state_write ? tiles_q : '0;
      for (int unsigned t = 0; t < Tiles; t++) begin
        state_at_o[t] <= {banks_q[t], 2'b0, StateFirst, state_beat_q[1:0]};
        if (!load) state_at_o[t] <= {banks_q[t], key_area_i, 1'b0, state_beat_q};
        if (at_q == Purge) state_at_o[t] <= {banks_q[t], purge_q[5:0]};
      end
    end
  end

  // -- the frame --------------------------------------------------------------------------------------------

  logic dropped, purged;
  assign dropped  = frame_i.drop;
  assign forget_o = dropped && !load && (at_q == Key || at_q == Check);
  assign purged   = purge_q == 8'(Room - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q <= Idle;
      fault_q <= '0;
      {tiles_q, banks_q} <= '0;
      sets_q <= '0;
      new_q <= '0;
      keys_q <= '0;
      {bad_q, other_q, open_q, held_q, first_q, tail_q, is_crc_q, beat_q, left_q, parts_q, head_q, data_q}      <= '0;
      {writing_q, chain_q, contexts_kind_q, constants_q, bytes_kind_q, small_q, kind_q, left_words_q, last_word_q} <= '0;
      {sections_q, entry_q, context_q, word_q, contexts_q, key_at_q, purge_q, state_beat_q, settle_q} <= '0;
    end else begin
      if (at0_q && no_magic_q) bad_q <= 1'b1;
      if (at1_q && other_length_q) bad_q <= 1'b1;
      if (at1_q && other_version_q) other_q <= 1'b1;

      first_q <= take;
      held_q  <= take || (held_q && !done);
      if (take) tail_q <= frame_i.last;
      if (take) is_crc_q <= frame_i.last && load;
      // The beat that is held turns as its parts are written.
      if (take) beat_q <= frame_i.beat;
      else if (step && !done) beat_q <= bytes_kind_q ? beat_q >> 8 : beat_q >> 32;

      if (step && writes && load && past) bad_q <= 1'b1;
      if (step && writes) begin
        left_q <= left_q >> 1;
        for (int unsigned t = 0; t < Tiles; t++) key_at_q[t] <= key_at_q[t] + 1'b1;
        entry_q <= entry_q + (small_q ? 10'd4 : 10'd1);
        if (contexts_kind_q) begin
          word_q <= word_q + 1'b1;
          if (word_q == '1) context_q <= context_q + 1'b1;
        end
      end

      // The beats that say what follows are written nowhere, and go in the clock in which they are there.
      if (first_q && load && !tail_q) begin
        head_q <= head_q << 1;
        if (head_q[2]) begin
          contexts_q         <= beat_q[15:0];
          new_q.last_context <= beat_q[7:0] - 8'd1;
          new_q.latency      <= beat_q[27:16];
          new_q.swap_in      <= beat_q[39:32] == 8'd1;
          new_q.permuted     <= beat_q[39:32] == 8'd2;
          new_q.swap_out     <= beat_q[47:40] == 8'd1;
        end
        if (head_q[3]) begin
          new_q.input_words   <= beat_q[5:0];
          // No cipher, hash or key has so many words.
          new_q.aead          <= beat_q[15:0] == {8'd12, 8'd16};
          new_q.output_words  <= beat_q[15:8];
          new_q.key_words     <= beat_q[23:16];
          new_q.memory_stride <= beat_q[40:32];
        end
        if (head_q[4]) begin
          sections_q      <= beat_q[15:0];
          new_q.algorithm <= beat_q[23:16];
          new_q.decrypt   <= beat_q[24];
          new_q.keys      <= beat_q[25];
          new_q.hash      <= 1'b0;
        end
        if (!data_q && head_q == '0) begin
          sections_q      <= sections_q - 1'b1;
          left_words_q    <= section.words;
          last_word_q     <= section.words == 32'd1;
          data_q          <= section.words != '0;
          writing_q       <= section.words != '0 && section_writes;
          left_q          <= section.words != '0 ? parts : '0;
          parts_q         <= parts;
          kind_q          <= section_kind;
          chain_q         <= section.kind == Chain;
          contexts_kind_q <= section.kind == Contexts;
          bytes_kind_q    <= section.kind == Bytes;
          small_q         <= section_small;
          entry_q         <= section.kind == Constants ? '0 : {section.at[15:9] != '0, section.at[8:0]};
          constants_q     <= section.kind == Constants;
          state_beat_q    <= '0;
          if (section.kind == Chain) new_q.hash <= 1'b1;
          if (sections_q == '0 || section_bad) bad_q <= 1'b1;
        end
      end
      if (done && data_q && load && !tail_q) begin
        left_words_q <= left_words_q - 32'd1;
        last_word_q  <= left_words_q == 32'd2;
        data_q       <= !last_word_q;
        if (last_word_q) writing_q <= 1'b0;
        state_beat_q <= state_beat_q + 1'b1;
        left_q       <= last_word_q ? '0 : parts_q;
      end
      if (done && !load) begin
        state_beat_q <= state_beat_q + 1'b1;
        left_q       <= 7'd1;
      end
      if (done && tail_q) begin
        at_q     <= Check;
        settle_q <= '1;
        open_q   <= 1'b0;
      end
      if (take && frame_i.last) open_q <= 1'b0;

      if (at_q == Purge && !full) begin
        purge_q <= purge_q + 1'b1;
        for (int unsigned t = 0; t < Tiles; t++) key_at_q[t] <= key_at_q[t] + 1'b1;
        if (purged) begin
          at_q   <= Set;
          open_q <= 1'b1;
        end
      end

      if (at_q == Check) begin
        settle_q <= settle_q - 3'd1;
        if (settle_q == '0) begin
          at_q <= Over;
          if (!load) begin
            for (int unsigned t = 0; t < Tiles; t++)
            for (int unsigned b = 0; b < 2; b++) begin
              if (key_banks_i[t][b]) keys_q[t][b] <= '{valid: 1'b1, stale: 1'b0, area: key_area_i};
              // An AEAD's frames are others than those of the same cipher's modes.
              else if (key_serves_i[t][b] && sets_q[t][b].aead == aead) keys_q[t][b].stale <= 1'b1;
            end
          end else if (bad_q) fault_q <= StatusBadSet;
          else if (other_q) fault_q <= StatusOtherArray;
          else if (wrong_crc_q) fault_q <= StatusBadCrc;
          else if (!whole_q) fault_q <= StatusBadSet;
          else begin
            for (int unsigned t = 0; t < Tiles; t++) begin
              if (tiles_q[t]) begin
                sets_q[t][banks_q[t]]       <= new_q;
                sets_q[t][banks_q[t]].valid <= 1'b1;
              end
            end
          end
        end
      end
      if (at_q == Over) at_q <= Idle;

      if (frame_i.start) begin
        {bad_q, other_q, sections_q, entry_q, context_q, word_q, small_q, state_beat_q, purge_q} <= '0;
        {chain_q, contexts_kind_q, constants_q, bytes_kind_q, kind_q} <= '0;
        fault_q <= '0;
        head_q <= load ? 5'd1 : '0;
        data_q <= !load;
        writing_q <= !load && !hash;
        left_q <= {6'b0, !load && !hash};
        at_q <= load ? Purge : Key;
        open_q <= !load;
        key_at_q <= base;
        tiles_q <= target;
        banks_q <= target_banks;
        if (load) begin
          for (int unsigned t = 0; t < Tiles; t++) begin
            if (target[t]) begin
              sets_q[t][target_banks[t]].valid <= 1'b0;
              {keys_q[t][target_banks[t]].valid, keys_q[t][target_banks[t]].stale} <= '0;
            end
          end
        end
      end
      if (dropped || clear_i.active) begin
        at_q   <= Idle;
        held_q <= 1'b0;
        open_q <= 1'b0;
      end
      if (clear_i.active) begin
        keys_q <= '0;
        beat_q <= '0;
      end
    end
  end

endmodule

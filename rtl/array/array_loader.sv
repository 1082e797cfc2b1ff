// SPDX-License-Identifier: Apache-2.0
//
// Frames that load: a context set into the bank that does not run, or a key into an area of the bank that its frame
// names. What is wrong with a set is found before it counts: a bank has no set from the first beat of a load until the
// last one was right. A new set's bank forgets its keys first.
//
// Clocks: of a set its words, or those that are written into the tile if there are more, and KeyRoom + 1 for the keys
// forgotten. A key's words, one a clock.
module array_loader
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // The shell.
  input  header_t         header_i,
  input  request_t        frame_i,
  output response_t       answer_o,
  // Why a set was refused; stands until the next frame starts.
  output logic      [7:0] fault_o,
  // A key was cut short.
  output logic            forget_o,

  // Which bank runs. Of a key: it is for a bank that has such a set, and which one that is.
  input logic run_i,
  input logic key_known_i,
  input logic key_bank_i,

  output set_t  [1:0] sets_o,
  // Of each bank: the area of the last key, and whether there is one; which of them had the last key.
  output area_t [1:0] area_o,
  output logic  [1:0] key_valid_o,
  output logic        recent_o,
  output logic        busy_o,

  // Into the tile, and into the store of states.
  output write_t        write_o,
  input  logic          write_ready_i,
  output logic          state_write_o,
  output logic   [ 6:0] state_at_o,
  output logic   [63:0] state_data_o
);

  typedef enum logic [2:0] {
    Idle,
    Purge,
    Set,
    Key,
    Check,
    Over
  } at_e;

  // As in a set's sections.
  typedef enum logic [7:0] {
    Contexts  = 8'd1,
    Pair      = 8'd2,
    Words     = 8'd3,
    Bytes     = 8'd4,
    Constants = 8'd5,
    Chain     = 8'd6
  } kind_e;

  typedef struct packed {
    logic [31:0] words;
    logic [15:0] at;
    logic [7:0]  mask;
    logic [7:0]  kind;
  } section_t;

  localparam logic [63:0] Magic = 64'h0A02_5445_5345_4341;

  at_e at_q;
  logic [7:0] fault_q;
  logic bank_q;
  set_t [1:0] sets_q;
  set_t new_q;
  area_t [1:0] area_q;
  logic [1:0] key_valid_q;
  logic recent_q;

  assign sets_o      = sets_q;
  assign area_o      = area_q;
  assign key_valid_o = key_valid_q;
  assign recent_o    = recent_q;
  assign busy_o      = at_q != Idle;
  assign fault_o     = fault_q;

  // -- the header -------------------------------------------------------------------------------------------

  logic [3:0] left_q, parts;  // words of the beat to be written
  logic load, plain, key_fits;
  area_t area_next;  // where the next key of that bank lies
  set_t  key_set;

  assign load = header_i.op == OpLoad;
  assign key_set = sets_q[key_bank_i];
  assign plain = header_i.iv_len == '0 && !header_i.flags.partial && !header_i.flags.resume;
  // A hash's key is two states of four beats each.
  assign key_fits = key_set.hash ? header_i.payload_len == 32'd64
      : header_i.payload_len == {22'b0, key_set.key_words, 2'b0} && key_set.key_words != '0;

  always_comb begin
    answer_o = '{ready: 1'b0, valid: 1'b0, done: at_q == Over, beat: '0, length: '0, verdict: StatusOk};
    answer_o.ready = (at_q == Set || at_q == Key) && (left_q == '0 || (left_q == 4'd1 && write_ready_i));
    if (!load && !key_known_i) answer_o.verdict = StatusUnknownAlgorithm;
    else if (!plain) answer_o.verdict = StatusUnknownOperation;
    else if (header_i.flags.fresh_key || (!load && !key_fits)) answer_o.verdict = StatusBadKeyLength;
    else if (load && (header_i.payload_len[2:0] != '0 || header_i.payload_len < 32'd64 || header_i.payload_len[31:17] != '0))
      answer_o.verdict = StatusBadLength;
  end

  // -- a beat and what is written of it ----------------------------------------------------------------------

  logic take, head, tail, data;
  logic [13:0] index_q;  // of the beat in the frame
  logic [15:0] sections_q;  // still to come
  section_t section_q, section;
  logic [63:0] beat_q;
  logic [31:0] crc_q;
  logic beat_valid_q;
  logic [8:0] entry_q;  // of a table or of the constants, words of contexts
  logic [11:0] context_q;
  logic [2:0] word_q;

  assign take    = frame_i.valid && answer_o.ready;
  assign section = section_t'(frame_i.beat);
  assign head    = index_q < 14'd5;
  assign tail    = frame_i.last;
  // Within a section.
  assign data    = section_q.words != '0;

  always_comb begin
    parts = 4'd1;
    if (at_q == Key) parts = key_set.hash ? 4'd0 : 4'd2;
    else if (head || tail || !data) parts = 4'd0;
    else begin
      unique case (section_q.kind)
        Words, Constants: parts = 4'd2;
        Bytes:            parts = 4'd8;
        Chain:            parts = 4'd0;
        default:          parts = 4'd1;
      endcase
    end
  end

  function automatic logic [31:0] crc(logic [31:0] last, logic [63:0] beat);
    logic [31:0] c;
    c = last;
    for (int unsigned i = 0; i < 64; i++) c = {1'b0, c[31:1]} ^ (c[0] ^ beat[i] ? 32'hEDB8_8320 : 32'd0);
    return c;
  endfunction

  logic [KeyWordBits-1:0] key_at_q;
  logic [7:0] purge_q;

  always_comb begin
    write_o = '0;
    if (at_q == Purge) begin
      write_o.target = TargetKey;
      write_o.at     = 9'(key_at_q);
    end else if (left_q != '0) begin
      write_o.data = beat_q;
      if (!load) begin
        write_o.target = TargetKey;
        write_o.at     = 9'(key_at_q);
      end else begin
        unique case (section_q.kind)
          Contexts: begin
            write_o.target = TargetContext;
            write_o.lane   = {1'b0, word_q};
            write_o.at     = {1'b0, context_q[7:0]};
          end
          Constants: begin
            write_o.target = TargetConstant;
            write_o.at     = entry_q;
          end
          Chain: ;
          default: begin
            write_o.target = TargetTable;
            write_o.rotate = section_q.kind != Pair;
            write_o.lane   = section_q.mask[3:0];
            write_o.at     = 9'(section_q.at) + entry_q;
            if (section_q.kind == Bytes) write_o.data = {56'b0, beat_q[7:0]};
          end
        endcase
      end
    end
  end

  // Tables of 64 words lie at every fourth address. A section's own number of words says how long its table is.
  logic small_q;
  logic [15:0] contexts_q;
  logic purged;
  assign purged = purge_q == 8'(KeyRoom - 1);

  // All that was announced has come, there is room for it, and the interval is long enough to bring a block's words.
  logic whole;
  assign whole = sections_q == '0 && section_q.words == '0 && word_q == '0 && contexts_q == 16'(context_q)
      && contexts_q <= 16'(1 << ContextBits) && contexts_q >= 16'(pairs(
    new_q.input_words
  )) + 16'd5 && new_q.input_words != '0 && new_q.output_words != '0 && new_q.key_words <= 8'(KeyRoom) &&
    (new_q.hash ? new_q.output_words <= 4'd8 && new_q.input_words == 6'd16 + 6'(new_q.output_words) :
     new_q.output_words == 4'(new_q.input_words) && new_q.input_words inside {6'd2, 6'd4});

  // States: those of keys, a set's first one; in a purge all of a bank's.
  logic [2:0] state_beat_q;
  always_comb begin
    state_write_o = 1'b0;
    state_at_o    = {key_bank_i, area_next, 1'b0, state_beat_q};
    state_data_o  = frame_i.beat;
    if (at_q == Purge) begin
      state_write_o = 1'b1;
      state_at_o    = {bank_q, purge_q[5:0]};
      state_data_o  = '0;
    end else if (at_q == Key) begin
      state_write_o = take && key_set.hash;
    end else if (at_q == Set) begin
      state_write_o = take && !head && !tail && data && section_q.kind == Chain;
      state_at_o    = {bank_q, 2'b0, StateFirst, state_beat_q[1:0]};
    end
  end

  always_comb begin
    area_next = area_q[key_bank_i] + 2'd1;
    if (5'(area_next) >= areas(key_set.key_words, key_set.hash)) area_next = '0;
  end

  // -- the frame --------------------------------------------------------------------------------------------

  logic dropped;
  assign dropped  = frame_i.drop;
  assign forget_o = dropped && at_q == Key || dropped && at_q == Check && !load;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q         <= Idle;
      fault_q      <= '0;
      bank_q       <= 1'b0;
      sets_q       <= '0;
      new_q        <= '0;
      area_q       <= '0;
      key_valid_q  <= '0;
      recent_q     <= 1'b0;
      index_q      <= '0;
      sections_q   <= '0;
      section_q    <= '0;
      crc_q        <= '1;
      beat_q       <= '0;
      beat_valid_q <= 1'b0;
      left_q       <= '0;
      entry_q      <= '0;
      context_q    <= '0;
      word_q       <= '0;
      key_at_q     <= '0;
      purge_q      <= '0;
      small_q      <= 1'b0;
      contexts_q   <= '0;
      state_beat_q <= '0;
    end else begin
      beat_valid_q <= take && at_q == Set && !tail;
      if (beat_valid_q) crc_q <= crc(crc_q, beat_q);

      if (left_q != '0 && write_ready_i) begin
        left_q   <= left_q - 4'd1;
        key_at_q <= key_at_q + 1'b1;
        if (section_q.kind == Contexts) begin
          word_q <= word_q + 1'b1;
          if (word_q == '1) context_q <= context_q + 1'b1;
        end
        entry_q <= entry_q + (small_q ? 9'd4 : 9'd1);
      end

      if (take) begin
        index_q <= index_q + 1'b1;
        left_q  <= parts;
        if (tail) at_q <= Check;
      end

      if (at_q == Purge && write_ready_i) begin
        purge_q  <= purge_q + 1'b1;
        key_at_q <= key_at_q + 1'b1;
        if (purged) at_q <= Set;
      end

      if (take && at_q == Set && !tail) begin
        unique case (index_q)
          14'd0: if (frame_i.beat != Magic) fault_q <= StatusBadSet;
          14'd1: begin
            if (frame_i.beat[63:32] != {3'b0, header_i.payload_len[31:3]}) fault_q <= StatusBadSet;
            else if (frame_i.beat[31:0] != Version && fault_q == '0) fault_q <= StatusOtherArray;
          end
          14'd2: begin
            contexts_q         <= frame_i.beat[15:0];
            new_q.last_context <= frame_i.beat[7:0] - 8'd1;
            new_q.latency      <= frame_i.beat[27:16];
            new_q.swap_in      <= frame_i.beat[39:32] == 8'd1;
            new_q.permuted     <= frame_i.beat[39:32] == 8'd2;
            new_q.swap_out     <= frame_i.beat[47:40] == 8'd1;
          end
          14'd3: begin
            new_q.input_words   <= frame_i.beat[5:0];
            new_q.output_words  <= frame_i.beat[11:8];
            new_q.key_words     <= frame_i.beat[23:16];
            new_q.memory_stride <= frame_i.beat[40:32];
          end
          14'd4: begin
            sections_q      <= frame_i.beat[15:0];
            new_q.algorithm <= frame_i.beat[23:16];
            new_q.decrypt   <= frame_i.beat[24];
            new_q.hash      <= 1'b0;
          end
          default: begin
            if (!data) begin
              section_q <= section;
              sections_q <= sections_q - 1'b1;
              small_q      <= (section.kind == Pair && section.words == 32'd64)
                  || (section.kind == Words && section.words == 32'd32) || (section.kind == Bytes && section.words == 32'd8);
              state_beat_q <= '0;
              if (sections_q == '0 || section.kind == '0 || section.kind > Chain) fault_q <= StatusBadSet;
              if (section.kind == Chain) new_q.hash <= 1'b1;
            end else begin
              section_q.words <= section_q.words - 1'b1;
              if (section_q.kind == Chain) state_beat_q <= state_beat_q + 1'b1;
            end
          end
        endcase
      end
      if (take && at_q == Key) state_beat_q <= state_beat_q + 1'b1;

      // The beat that is held turns as its parts are written.
      if (take) beat_q <= frame_i.beat;
      else if (left_q != '0 && write_ready_i) begin
        beat_q <= section_q.kind == Bytes && load ? beat_q >> 8 : beat_q >> 32;
      end
      // A section's first entry: the one before has been written when a head comes.
      if (take && at_q == Set && !head && !data) entry_q <= '0;

      if (at_q == Check && left_q == '0 && !beat_valid_q && !dropped) begin
        at_q <= Over;
        if (!load) begin
          area_q[key_bank_i]      <= area_next;
          key_valid_q[key_bank_i] <= 1'b1;
          recent_q                <= key_bank_i;
        end else if (fault_q == '0) begin
          if (beat_q != {32'b0, ~crc_q}) fault_q <= StatusBadCrc;
          else if (!whole) fault_q <= StatusBadSet;
          else begin
            sets_q[bank_q]       <= new_q;
            sets_q[bank_q].valid <= 1'b1;
          end
        end
      end
      if (at_q == Over) at_q <= Idle;

      if (frame_i.start) begin
        index_q      <= '0;
        fault_q      <= '0;
        crc_q        <= '1;
        sections_q   <= '0;
        section_q    <= '0;
        entry_q      <= '0;
        context_q    <= '0;
        word_q       <= '0;
        small_q      <= 1'b0;
        state_beat_q <= '0;
        purge_q      <= '0;
        at_q         <= load ? Purge : Key;
        if (load) begin
          bank_q               <= !run_i;
          sets_q[!run_i].valid <= 1'b0;
          key_valid_q[!run_i]  <= 1'b0;
          key_at_q             <= key_base(!run_i, '0, '0);
        end else begin
          key_at_q <= key_base(key_bank_i, area_next, key_set.key_words);
        end
      end
      if (dropped || clear_i.active) begin
        at_q   <= Idle;
        left_q <= '0;
      end
      if (clear_i.active) begin
        key_valid_q <= '0;
        beat_q      <= '0;
      end
    end
  end

endmodule

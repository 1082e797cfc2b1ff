// SPDX-License-Identifier: Apache-2.0
//
// The modes around any hash core: padding, hash from the initial or a given state, HMAC from the states of
// a key or from the key itself, truncation. All chaining states live here, in one memory of words: the
// running one and the two that a key is turned into, which stay for later frames. A core reads the state of
// the message from it and writes the new state to it; the end of a message is a read of the same memory.
//
// Secrets are gone 17 clocks (33 with states of 8 words) after a wipe, a reset or a frame that fails before
// its key is set up; the next frame waits for it, and the key counts as missing at once.
//
// With two ways (pair_front) there are two of these around one core. The last key is then kept outside, and a frame
// without one begins with a copy of it.
//
// Clocks of a frame, from its first beat at the shell to the end of its trailer, for n blocks of C clocks and a
// whole digest (MD5: C = 66, SHA-1: C = 85; n counts the padding): hash n C + 21 and n C + 28; HMAC-96 with kept
// states (n + 1) C + 32 and (n + 1) C + 43; 10 and 12 more if the states come with the frame; 145 and 193 more
// if the key does, whatever its length.
module hash_modes
  import slot_pkg::*;
#(
  // Code of the algorithm in the header.
  parameter  logic        [7:0] Algorithm   = AlgSha1,
  // 64: words of 32 bits, 128: words of 64 bits; 16 words make a block.
  parameter  int unsigned       BlockBytes  = 64,
  // Chaining state and the part of it that is the digest.
  parameter  int unsigned       StateBytes  = 20,
  parameter  int unsigned       DigestBytes = 20,
  // Byte order of words and length.
  parameter  bit                BigEndian   = 1'b1,
  // Messages in the core at a time.
  parameter  int unsigned       Ways        = 1,
  localparam int unsigned       WordBytes   = BlockBytes / 16,
  localparam int unsigned       WordBits    = 8 * WordBytes,
  localparam int unsigned       AddressBits = StateBytes / WordBytes > 5 ? 5 : 4
) (
  input logic clk_i,
  input logic rst_ni,

  // The shell's side.
  input  header_t        header_i,
  output status_e        verdict_o,
  input  logic           start_i,
  input  logic           beat_valid_i,
  output logic           beat_ready_o,
  input  logic    [63:0] beat_i,
  input  logic           beat_last_i,
  input  logic           abort_i,
  input  logic           wipe_i,
  output logic           result_valid_o,
  input  logic           result_ready_i,
  output logic    [63:0] result_o,
  output logic           done_o,
  output logic    [31:0] result_len_o,

  // Of the kept key, with two ways: there is one; there is none from now on; the one of this frame is complete.
  input  logic                   kept_i,
  output logic                   drop_o,
  output logic                   keep_o,
  // No longer than this the frame needs the kept key, or sets it up; secrets are being overwritten.
  output logic                   keyed_o,
  output logic                   scrub_o,
  // Its words as they are written, and as they are copied.
  output logic                   keep_valid_o,
  output logic [AddressBits-1:0] keep_address_o,
  output logic [   WordBits-1:0] keep_word_o,
  output logic                   copy_o,
  output logic [AddressBits-1:0] copy_address_o,
  input  logic [   WordBits-1:0] copy_word_i,
  // The word is the one of the address; before, it is something else.
  input  logic                   copy_next_i,

  // The core's side.
  output logic                core_clear_o,
  output logic                core_start_o,
  output logic                core_initial_o,
  input  logic                core_idle_i,
  output logic                word_valid_o,
  input  logic                word_ready_i,
  output logic [WordBits-1:0] word_o,
  input  logic [         2:0] state_read_i,
  output logic [WordBits-1:0] state_o,
  input  logic                state_valid_i,
  input  logic                state_final_i,
  input  logic                state_last_i,
  input  logic [         2:0] state_index_i,
  input  logic [WordBits-1:0] state_i
);

  localparam int unsigned StateWords = StateBytes / WordBytes;
  localparam int unsigned DigestWords = (DigestBytes + WordBytes - 1) / WordBytes;

  if (!(BlockBytes inside {64, 128}) || !(StateWords inside {4, 5, 8}) || StateBytes % WordBytes != 0
      || DigestBytes > StateBytes || DigestBytes % WordBytes != 0 || !(Ways inside {1, 2})) begin : gen_illegal
    $error("hash_modes: illegal lengths");
  end

  typedef logic [WordBits-1:0] word_t;
  typedef logic [3:0] place_t;

  // Load: words of a frame into the memory. Copy: the same of the kept key. Touch: only the core's load of the
  // state. Settle: until the core has written the state.
  typedef enum logic [2:0] {
    Scrub,
    Idle,
    Load,
    Touch,
    Send,
    Settle,
    Result,
    Copy
  } phase_e;
  // Whose words are sent.
  typedef enum logic [1:0] {
    KeyIn,
    KeyOut,
    Message,
    Outer
  } kind_e;
  typedef enum logic [1:0] {
    Running,
    OfInner,
    OfOuter
  } region_e;

  // What the next word is made from: one bit is set while words are sent or loaded, and none at other times.
  typedef struct packed {
    logic load;    // a section's words go into the memory and not to the core
    logic beat;
    logic key;     // the key that came in
    logic memory;  // the digest of the inner hash
    logic mark;    // the bit that ends the message, and zeros
    logic zero;
    logic length0;
    logic length1;
  } source_t;

  // Encoded as it is: one flip-flop per place would cost gates.
  (* fsm_encoding = "none" *)
  phase_e phase_d, phase_q;
  (* fsm_encoding = "none" *)
  kind_e kind_d, kind_q;
  source_t source_d, source_q;
  place_t place_d, place_q;  // word within block, section or result
  logic second_d, second_q;  // of two states, or two halves of the memory
  logic half_d, half_q;  // half of the beat
  logic start_q;  // a frame waits
  logic kept;
  logic counted_d, counted_q;  // the number of bytes so far has come or will not come
  logic initial_d, initial_q;  // the message's first block is not done yet, and starts from the initial state
  region_e region_d, region_q;  // where the state of that block is
  logic dirty_d, dirty_q;  // there are secrets to forget before the next frame
  logic abort_q, abort2_q, wipe_q;

  logic is_hash, hmac_fresh;
  assign is_hash    = header_i.op == OpHash;
  assign hmac_fresh = header_i.flags.fresh_key;

  hash_verdict #(
    .Algorithm  (Algorithm),
    .BlockBytes (BlockBytes),
    .StateBytes (StateBytes),
    .DigestBytes(DigestBytes)
  ) u_verdict (
    .clk_i,
    .header_i,
    .kept_i(kept),
    .verdict_o
  );

  function automatic word_t swap(input word_t x);
    word_t y;
    for (int unsigned i = 0; i < WordBytes; i++) y[8*i+:8] = x[8*(BigEndian?WordBytes-1-i : i)+:8];
    return y;
  endfunction

  // -- a beat's bytes as a word ---------------------------------------------------------------------------

  logic send_ready;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [63:0] so_far;  // the beat that says how many bytes the state has seen; not all bits count
  /* verilator lint_on UNUSEDSIGNAL */
  logic word_there, word_take, section_end, ended_inside, half_next;
  logic [2:0] last_len;  // bytes in the last beat; 0: 8
  word_t padded;

  always_comb begin
    if (kind_q == KeyIn) last_len = header_i.key_len[2:0];
    else if (source_q.load) last_len = 3'(StateBytes % 8);
    else last_len = header_i.payload_len[2:0];
  end

  assign word_take = word_there && (source_q.load || send_ready);

  hash_beats #(
    .WordBytes(WordBytes)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .clear_i       (core_clear_o),
    .beat_valid_i,
    .beat_ready_o,
    .beat_i,
    .beat_last_i,
    .last_len_i    (last_len),
    .taking_i      (source_q.beat || source_q.load),
    .mark_first_i  (source_q.mark),
    .mark_inside_i (source_q.beat && kind_q == Message),
    .half_i        (half_q),
    .half_o        (half_next),
    .word_valid_o  (word_there),
    .word_take_i   (word_take),
    .word_o        (padded),
    .section_end_o (section_end),
    .ended_inside_o(ended_inside),
    .count_o       (so_far)
  );

  // -- the words that are sent ----------------------------------------------------------------------------

  (* ram_style = "distributed" *)
  word_t key_memory[16];
  word_t memory_read;
  logic [63:0] bits;  // the message's length
  logic low_part, high_part;

  assign low_part  = BigEndian ? source_q.length1 : source_q.length0;
  assign high_part = WordBytes == 4 && (BigEndian ? source_q.length0 : source_q.length1);

  // A word comes to the core from one of four registers, of which the others are zero.
  word_t plain, beat_word_q, memory_word_q, key_word_q, low_word_q;
  logic word_valid_q, outer_length_q;
  logic result_step, result_hold;
  logic own, fetch, send_valid, sent;

  localparam word_t OuterLength = word_t'(32'(8 * (BlockBytes + DigestBytes)));

  assign plain = swap(padded) ^ (!source_q.load && kind_q == KeyIn ? {WordBytes{8'h36}} : '0);

  // The memory is read here, and not by the core: while the core waits for the digest's next word, or idles.
  assign own = source_q.memory || phase_q == Result;
  assign fetch = own && !word_valid_q && !result_hold;

  assign send_valid = (source_q.beat && word_there) || (source_q.memory && !word_valid_q) || source_q.key
                    || source_q.mark || source_q.zero || source_q.length0 || source_q.length1;

  assign send_ready = !word_valid_q || word_ready_i;
  assign sent = send_valid && send_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) word_valid_q <= 1'b0;
    else word_valid_q <= !core_clear_o && (sent || (word_valid_q && !word_ready_i));
  end

  // Zero unless it is its turn: a synchronous reset, and no gate per bit.
  always_ff @(posedge clk_i) begin
    if (core_clear_o) beat_word_q <= '0;
    else if (send_ready) beat_word_q <= plain;

    if (core_clear_o || (send_ready && !own)) memory_word_q <= '0;
    else if (own ? fetch : send_ready) memory_word_q <= memory_read;

    // The key, or the high part of the length.
    if (core_clear_o || (send_ready && !source_q.key && !(high_part && kind_q != Outer))) key_word_q <= '0;
    else if (send_ready)
      key_word_q <= high_part ? word_t'(bits >> 32) : key_memory[place_q] ^ {WordBytes{8'h36 ^ 8'h5c}};

    if (core_clear_o || (send_ready && !(low_part && kind_q != Outer))) low_word_q <= '0;
    else if (send_ready) low_word_q <= bits[WordBits-1:0];

    if (send_ready) outer_length_q <= low_part && kind_q == Outer;
  end

  assign word_o = beat_word_q | memory_word_q | key_word_q | low_word_q | (outer_length_q ? OuterLength : '0);
  assign word_valid_o = word_valid_q;

  // -- the length -----------------------------------------------------------------------------------------

  localparam int unsigned BlockBits = $clog2(BlockBytes);

  logic [60:BlockBits] blocks_q, sum_q;  // before this frame's payload, and all that are whole
  logic count_take;

  assign count_take = source_q.load && !counted_q && !half_q;

  always_ff @(posedge clk_i) begin
    if (phase_q == Idle) blocks_q <= '0;
    else if (count_take) blocks_q <= so_far[60:BlockBits];
  end

  // Known long before it is sent.
  always_ff @(posedge clk_i) begin
    sum_q <= blocks_q + (61 - BlockBits)'(header_i.payload_len[31:BlockBits]) + (61 - BlockBits)'(!is_hash);
  end

  assign bits = {sum_q, header_i.payload_len[BlockBits-1:0], 3'b0};

  // -- the key, between its inner and its outer block -----------------------------------------------------

  // Each word is forgotten as it is read for the outer block: no beat is there then, and plain is zero.
  logic key_write;

  assign key_write = phase_q == Scrub || (sent && !kind_q[1]);

  always_ff @(posedge clk_i) begin
    if (key_write) key_memory[place_q] <= plain;
  end

  // -- the states -----------------------------------------------------------------------------------------

  typedef logic [AddressBits-1:0] address_t;

  function automatic address_t address(input region_e region, input logic [2:0] index);
    if (StateWords > 5) return address_t'({region, index});
    // Five words in four regions of four: the fifth ones share the last region.
    return address_t'(5'(index[2] ? {2'b11, region} : {region, index[1:0]}));
  endfunction

  word_t memory[2**AddressBits];
  word_t memory_data;
  logic memory_write, word_stored;
  address_t read_address, write_address;
  region_e write_region;

  // Where the states go is known long before they come.
  region_e final_region_q;
  logic    load_key_q;

  always_ff @(posedge clk_i) begin
    load_key_q <= kind_q == KeyIn;
    unique case (kind_q)
      KeyIn:   final_region_q <= OfInner;
      KeyOut:  final_region_q <= OfOuter;
      default: final_region_q <= Running;
    endcase
  end

  always_comb begin
    if (own && !word_valid_q) read_address = address(Running, place_q[2:0]);
    else read_address = address(region_q, state_read_i);

    write_region  = state_final_i ? final_region_q : Running;
    write_address = address(write_region, state_index_i);
    memory_data   = state_i;
    if (phase_q == Scrub || source_q.load) memory_data = swap(padded);
    if (Ways > 1 && phase_q == Copy) memory_data = copy_word_i;
    if (source_q.load || (Ways > 1 && phase_q == Copy)) begin
      if (source_q.load && !load_key_q) write_region = Running;
      else write_region = second_q ? OfOuter : OfInner;
      write_address = address(write_region, place_q[2:0]);
    end
    if (phase_q == Scrub) write_address = address_t'({second_q, place_q});
  end

  assign word_stored  = source_q.load && word_take && counted_q;
  assign memory_write = phase_q == Scrub || word_stored || state_valid_i || (Ways > 1 && phase_q == Copy);
  assign memory_read  = memory[read_address];
  assign state_o      = memory_read;

  always_ff @(posedge clk_i) begin
    if (memory_write) memory[write_address] <= memory_data;
  end

  // -- the kept key ---------------------------------------------------------------------------------------

  if (Ways == 1) begin : gen_kept
    logic kept_q, unused;

    assign kept   = kept_q;
    assign unused = &{1'b0, kept_i, copy_word_i, copy_next_i};

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) kept_q <= 1'b0;
      else kept_q <= (kept_q || keep_o) && !drop_o;
    end
  end else begin : gen_shared
    assign kept = kept_i;
  end

  assign scrub_o        = dirty_q;
  assign keep_valid_o   = memory_write && (phase_q == Scrub || (phase_q != Copy && write_region != Running));
  assign keep_address_o = write_address;
  assign keep_word_o    = memory_data;
  assign copy_o         = phase_q == Copy;
  assign copy_address_o = write_address;

  // -- the result -----------------------------------------------------------------------------------------

  hash_result #(
    .WordBytes(WordBytes)
  ) u_result (
    .clk_i,
    .rst_ni,
    .active_i(phase_q == Result),
    .length_i(header_i.result_len[$clog2(WordBytes)+3:0]),
    .place_i (place_q),
    .half_i  (half_q),
    .word_i  (swap(memory_word_q)),
    .step_o  (result_step),
    .hold_o  (result_hold),
    .result_valid_o,
    .result_ready_i,
    .result_o,
    .done_o
  );

  assign result_len_o = 32'(header_i.result_len);

  // -- the frame ------------------------------------------------------------------------------------------

  logic settled, load_last, send_last;
  logic payload_any_q, key_any_q;  // there are bytes

  // A core of two ways looks at each of them in every second clock, and begins by itself when it has a block.
  assign core_clear_o = dirty_q || abort_q || (Ways > 1 && abort2_q);
  assign core_initial_o = initial_q;
  assign core_start_o = phase_q == Touch
                      || (Ways == 1 && (word_valid_q || (phase_q == Send && kind_q != Outer)));

  assign settled = phase_q == Settle && core_idle_i && !word_valid_q;
  assign load_last = word_stored && place_q == place_t'(StateWords - 1) && (second_q || kind_q == Message);
  assign send_last = source_q.length1 || (source_q.beat && section_end && header_i.flags.partial)
                   || (place_q == '1 && !kind_q[1]);

  // What the word that follows is made from.
  always_comb begin
    source_d = '0;
    unique case (phase_q)
      Idle: begin
        source_d.load = start_q && (hmac_fresh ? header_i.op == OpHmacStates : header_i.flags.resume);
        source_d.beat = start_q && hmac_fresh && header_i.op != OpHmacStates && key_any_q;
        source_d.zero = start_q && hmac_fresh && header_i.op != OpHmacStates && !key_any_q;
      end
      Load:    source_d.load = source_q.load && !load_last;
      Send: begin
        if (!sent) source_d = source_q;
        else if (!send_last) begin
          source_d.key = source_q.key;
          source_d.memory = source_q.memory && place_q != place_t'(DigestWords - 1);
          source_d.beat = source_q.beat && !section_end;
          source_d.mark    = (source_q.memory && place_q == place_t'(DigestWords - 1))
                           || (source_q.beat && section_end && kind_q[1] && !ended_inside);
          source_d.zero    = ((source_q.beat && section_end && (!kind_q[1] || ended_inside))
                           || source_q.mark || source_q.zero) && (place_q != 4'd13 || !kind_q[1]);
          source_d.length0 = ((source_q.beat && section_end && ended_inside) || source_q.mark || source_q.zero)
                           && place_q == 4'd13 && kind_q[1];
          source_d.length1 = source_q.length0;
        end
      end
      Settle: begin
        source_d.key    = settled && kind_q == KeyIn;
        source_d.beat   = settled && kind_q == KeyOut && payload_any_q;
        source_d.mark   = settled && kind_q == KeyOut && !payload_any_q && !header_i.flags.partial;
        source_d.memory = settled && kind_q == Message && !is_hash;
      end
      default: source_d = '0;
    endcase
  end

  always_comb begin
    phase_d   = phase_q;
    kind_d    = kind_q;
    place_d   = place_q;
    second_d  = second_q;
    half_d    = half_q;
    drop_o    = 1'b0;
    keep_o    = 1'b0;
    keyed_o   = 1'b0;
    counted_d = counted_q;
    dirty_d   = dirty_q;
    initial_d = initial_q && !state_last_i;
    region_d  = state_last_i ? Running : region_q;

    unique case (phase_q)
      Idle: begin
        place_d   = '0;
        second_d  = 1'b0;
        half_d    = 1'b0;
        counted_d = hmac_fresh;
        initial_d = 1'b1;
        region_d  = Running;
        if (dirty_q) phase_d = Scrub;
        else if (start_q) begin
          if (hmac_fresh) begin
            drop_o  = 1'b1;
            kind_d  = KeyIn;
            phase_d = header_i.op == OpHmacStates ? Load : Send;
          end else if (Ways > 1 && !is_hash) begin
            kind_d  = KeyOut;
            phase_d = Copy;
          end else begin
            kind_d  = header_i.flags.resume ? Message : KeyOut;
            phase_d = header_i.flags.resume ? Load : Settle;
          end
        end
      end
      Scrub: begin
        place_d = place_q + place_t'(1);
        if (place_q == '1) begin
          second_d = Ways == 1 || !second_q;
          half_d   = Ways > 1 && (half_q || second_q);
          if (Ways == 1 ? AddressBits == 4 || second_q : half_q && second_q) begin
            phase_d = Idle;
            dirty_d = 1'b0;
          end
        end
      end
      Load: begin
        if (word_take) begin
          half_d    = half_next;
          counted_d = counted_q || half_q || WordBytes == 8;
        end
        if (word_stored) begin
          place_d = place_q + place_t'(1);
          if (place_q == place_t'(StateWords - 1)) begin
            place_d  = '0;
            second_d = 1'b1;
          end
        end
        if (source_q == '0) begin
          phase_d = Settle;
          kind_d  = KeyOut;
        end
      end
      Send: begin
        if (sent) begin
          place_d = place_q + place_t'(1);
          if (source_q.beat) half_d = half_next;
        end
        if (source_q == '0) phase_d = Settle;
      end
      Touch: if (!core_idle_i) phase_d = Settle;
      Settle: begin
        place_d = '0;
        half_d  = 1'b0;
        if (settled) begin
          phase_d = Send;
          unique case (kind_q)
            KeyIn: begin
              kind_d    = KeyOut;
              initial_d = 1'b1;
            end
            // The key, if there is one, is kept; the message begins.
            KeyOut: begin
              kind_d    = Message;
              keep_o    = !is_hash;
              keyed_o   = 1'b1;
              initial_d = is_hash && !header_i.flags.resume;
              region_d  = is_hash ? Running : OfInner;
              if (header_i.flags.partial && !payload_any_q) phase_d = Touch;
            end
            Message: begin
              kind_d   = Outer;
              region_d = OfOuter;
              if (is_hash) phase_d = Result;
            end
            default: phase_d = Result;
          endcase
        end
      end
      default: begin
        if (Ways > 1 && phase_q == Copy) begin
          if (copy_next_i) begin
            place_d = place_q + place_t'(1);
            if (place_q == place_t'(StateWords - 1)) begin
              place_d  = '0;
              second_d = 1'b1;
              if (second_q) phase_d = Settle;
            end
          end
        end else begin
          if (result_step) begin
            half_d  = !half_q;
            place_d = place_q + place_t'(1);
          end
          if (done_o) phase_d = Idle;
        end
      end
    endcase

    // A key that is not set up yet is lost with its frame.
    if (wipe_q || (abort_q && !is_hash && !kind_q[1])) begin
      dirty_d = 1'b1;
      drop_o  = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    payload_any_q <= header_i.payload_len != '0;
    key_any_q     <= header_i.key_len != '0;
  end

  // The first clock after a reset is as one after an abort, and so a synchronous reset is enough for most.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q  <= 1'b0;
      dirty_q  <= 1'b1;
      abort_q  <= 1'b1;
      abort2_q <= 1'b1;
      wipe_q   <= 1'b0;
    end else begin
      start_q  <= start_i || (start_q && (phase_q != Idle || dirty_q));
      dirty_q  <= dirty_d;
      abort_q  <= abort_i;
      abort2_q <= abort_q;
      wipe_q   <= wipe_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (core_clear_o) source_q <= '0;
    else source_q <= source_d;

    if (abort_q) begin
      phase_q   <= Idle;
      kind_q    <= Message;
      place_q   <= '0;
      second_q  <= 1'b0;
      half_q    <= 1'b0;
      counted_q <= 1'b0;
      initial_q <= 1'b0;
      region_q  <= Running;
    end else begin
      phase_q   <= phase_d;
      kind_q    <= kind_d;
      place_q   <= place_d;
      second_q  <= second_d;
      half_q    <= half_d;
      counted_q <= counted_d;
      initial_q <= initial_d;
      region_q  <= region_d;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The reconfigurable unit: sequencer, residence table and control store for the microcode, and the custom configured
// unit (eight rows of a word, and what works on them).
//
// Microcode in memory begins with a word 0xa5, bit 8 whether it is to stay, bits 3:0 the number of words behind it (1 to
// 15). A word is {operation[3:0], row[3:0], 4'b0, more[3:0], offset, mask or number[15:0]}:
//   0 end                          1 load a row, and so many more, from operand + offset      2 store them there
//   3 run the operation of this number (bits 7:0: 1 MixColumns, 2 InvMixColumns on rows 0 to 3; 3 AES, 4 triple DES,
//     5 IDEA, 8 DES, with bit 8 to decrypt, and with bits 15:10 not zero to take a key of so many bytes from the rows;
//     6 a round of AES on rows 0 to 3 with the key in rows 4 to 7, with bit 8 backwards, with bit 9 without MixColumns;
//     7 SHA-1: eight rows of the message, with bit 8 from the beginning, with bit 9 the digest to rows 0 to 4)
//   4 the row is the result        5 set: what is loaded, from the list at the operand, is to do what the mask says
//   6 as 1, by exclusive-or        7, 8 the operand, the count of a loop are what is at operand + offset
//   9 the operand goes on by bits 15:4; while the count is not used up, the word of number bits 3:0 is next
// A set goes on while the core does; whatever runs on the unit waits for it. What the unit then can do is said by who
// loads; a set that was refused leaves nothing. A loop ends: its count has 16 bits.
//
// Clocks: 2, and for each word or row 1 (a clock more where a row or an operand is awaited), for 3 what is
// asked for or what the cipher takes; if the microcode is not there 3 and a word a clock more.
module molen_unit
  import core_pkg::*;
  import molen_pkg::*;
#(
  // What there is besides MixColumns: molen_ciphers', 3 a round of AES, 4 SHA-1.
  parameter logic [4:0] Ciphers = 5'b11111
) (
  input logic clk_i,
  input logic rst_ni,

  // Clocks of MixColumns and its inverse besides the first.
  input logic [4:0] more_clocks_i,

  input  unit_req_t req_i,
  output unit_rsp_t rsp_o,

  // The memory port, while there is a request.
  output word_t address_o,
  output logic  write_o,
  output word_t data_o,
  input  word_t data_i,

  // Sets, to whoever loads them: what is wanted and the list of steps in the library's memory; that it is there, and
  // what it can do, or that it is refused.
  output logic         set_o,
  output logic         set_partial_o,
  output logic  [15:0] set_mask_o,
  output word_t        set_list_o,
  input  logic         set_done_i,
  input  logic         set_refused_i,
  input  logic  [15:0] set_can_i
);

  typedef enum logic [2:0] {
    Idle,
    Look,
    Header,
    Fill,
    Run
  } state_t;

  typedef enum logic [3:0] {
    MicroEnd     = 4'd0,
    MicroLoad    = 4'd1,
    MicroStore   = 4'd2,
    MicroRun     = 4'd3,
    MicroOut     = 4'd4,
    MicroSet     = 4'd5,
    MicroXor     = 4'd6,
    MicroOperand = 4'd7,
    MicroCount   = 4'd8,
    MicroLoop    = 4'd9
  } micro_t;

  // What a word that comes from memory is for.
  typedef enum logic [1:0] {
    ForRow,
    ForXor,
    ForOperand,
    ForCount
  } load_t;

  state_t state_q;
  unit_req_t req_q;
  word_t [7:0] rows_q;
  word_t [3:0] mixed, ciphered, round;
  word_t [4:0] digest;
  word_t result_q, hits_q, misses_q, waits_q, sets_q, operand_q;
  store_at_t at_q;
  logic [3:0] left_q, read_q;  // words to fill; of the microcode, the next to be read
  logic [4:0] count_q;
  logic load_q;
  load_t load_for_q;
  logic [2:0] load_row_q, row;
  logic [ 3:0] more_q;  // rows of this word that are done
  logic [15:0] rounds_q;  // of a loop, this one included
  logic busy_set_q, refused_q;
  logic fresh_q;  // the microcode was filled for this instruction
  logic [15:0] can_q;  // what the unit is configured for, a bit an operation
  logic [3:0] keyed_q;  // ciphers that have a key

  logic hit, begins, filled;
  place_t place, free;
  word_t micro;
  logic [3:0] operation, code;
  logic wants_unit, waits_for_set, waits, able, known, run_ends, rows_end, again;
  logic is_cipher, is_round, is_hash, takes_key, cipher_done, round_done, hash_done, runs;
  logic [1:0] cipher;
  logic good_header, trap, good, turn;  // turn: a word is worked on
  logic [5:0] clear_q;
  clear_t clear;

  molen_residence u_residence (
    .clk_i,
    .rst_ni,
    .address_i (req_q.address),
    .hit_o     (hit),
    .place_o   (place),
    .stays_i   (data_i[8]),
    .free_o    (free),
    .begin_i   (begins),
    .filled_i  (filled),
    .write_i   (state_q == Fill),
    .write_at_i(at_q),
    .data_i,
    .read_at_i (at_q),
    .data_o    (micro)
  );

  mix_columns u_mix (
    .inverse_i(micro[1]),
    .row_i    (rows_q[3:0]),
    .row_o    (mixed)
  );

  molen_ciphers #(
    .Ciphers(Ciphers[2:0])
  ) u_ciphers (
    .clk_i,
    .rst_ni,
    .clear_i  (clear),
    .start_i  (runs && is_cipher),
    .cipher_i (cipher),
    .key_i    (takes_key),
    .decrypt_i(micro[8]),
    .length_i (micro[15:10]),
    .row_i    (rows_q),
    .row_o    (ciphered),
    .done_o   (cipher_done)
  );

  if (Ciphers[3]) begin : gen_round
    molen_round u_round (
      .clk_i,
      .rst_ni,
      .start_i  (runs && is_round),
      .decrypt_i(micro[8]),
      .last_i   (micro[9]),
      .block_i  (rows_q[3:0]),
      .key_i    (rows_q[7:4]),
      .block_o  (round),
      .done_o   (round_done)
    );
  end else begin : gen_no_round
    assign {round, round_done} = '0;
  end

  if (Ciphers[4]) begin : gen_hash
    molen_hash u_hash (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .start_i(runs && is_hash),
      .begin_i(micro[8]),
      .end_i  (micro[9]),
      .row_i  (rows_q),
      .row_o  (digest),
      .done_o (hash_done)
    );
  end else begin : gen_no_hash
    assign {digest, hash_done} = '0;
  end

  // More than any of the cores needs to forget (ClearCycles of their slots).
  assign clear = '{active: clear_q != '1, index: ClearBits'(clear_q)};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) clear_q <= '0;
    else if (set_o) clear_q <= '0;
    else if (clear.active) clear_q <= clear_q + 6'd1;
  end

  assign operation = micro[31:28];
  assign wants_unit = operation == MicroRun || operation == MicroSet;
  assign waits_for_set = wants_unit && busy_set_q;
  // A word comes a clock after it was asked for; rows may come behind one another.
  assign waits = waits_for_set || (load_q && !(operation inside {MicroLoad, MicroXor} && load_for_q inside {ForRow, ForXor}));
  assign turn = state_q == Run && !waits;
  assign code = micro[3:0];
  assign is_cipher = code inside {4'd3, 4'd4, 4'd5, 4'd8};
  assign is_round = code == 4'd6;
  assign is_hash = code == 4'd7;
  assign cipher = code == 4'd8 ? 2'd1 : 2'(code - 4'd3);
  assign takes_key = micro[15:10] != '0;
  always_comb begin
    unique case (code)
      4'd1, 4'd2: known = micro[15:8] == '0;
      // Keys are whole beats, of 32 bytes at most; that of DES is one.
      4'd3, 4'd4, 4'd5:
      known = Ciphers[3'(cipher)] && !micro[9] && micro[12:10] == '0 && micro[15:10] <= 6'd32;
      4'd6: known = Ciphers[3] && !takes_key;
      4'd7: known = Ciphers[4] && !takes_key && micro[9:8] != 2'b11;
      4'd8: known = Ciphers[1] && !micro[9] && micro[15:10] inside {6'd0, 6'd8};
      default: known = 1'b0;
    endcase
    if (micro[7:4] != '0) known = 1'b0;
  end
  assign able = known && can_q[code-4'd1] && (!is_cipher || takes_key || keyed_q[cipher]);
  assign runs = turn && operation == MicroRun && at_q[3:0] != '1 && !refused_q && able;
  always_comb begin
    run_ends = count_q == more_clocks_i;
    if (is_cipher) run_ends = cipher_done;
    if (is_round) run_ends = round_done;
    if (is_hash) run_ends = hash_done;
  end
  assign rows_end = !(operation inside {MicroLoad, MicroXor, MicroStore}) || more_q == micro[19:16];
  assign row = 3'(micro[27:24] + more_q);
  assign again = operation == MicroLoop && rounds_q > 16'd1;
  assign good_header = data_i[31:24] == 8'ha5 && data_i[3:0] != '0;
  assign begins = state_q == Header && good_header;
  assign filled = state_q == Fill && left_q == 4'd1;
  // A set in microcode is for the instructions that set, and nothing else is.
  assign good        = operation <= MicroLoop && (operation == MicroEnd || (operation == MicroSet) == (req_q.operation != UnitExecute));

  always_comb begin
    rsp_o = '{done: 1'b0, trap: 1'b0, cause: CauseMicrocode, data: result_q};
    if (state_q == Header && !good_header) rsp_o.trap = 1'b1;
    if (turn) begin
      if (!good || at_q[3:0] == 4'd15) rsp_o.trap = 1'b1;
      else if (wants_unit && refused_q) {rsp_o.trap, rsp_o.cause} = {1'b1, CauseRefused};
      else if (operation == MicroRun && !able) {rsp_o.trap, rsp_o.cause} = {1'b1, CauseOperation};
      // An end is a trap in the last word only, where nothing else can be.
      rsp_o.done = operation == MicroEnd && good && at_q[3:0] != 4'd15;
    end
    if (state_q == Look && req_q.operation == UnitControl) begin
      rsp_o.done = 1'b1;
      unique case (req_q.number)
        5'd0:    rsp_o.data = hits_q;
        5'd1:    rsp_o.data = misses_q;
        5'd2:    rsp_o.data = waits_q;
        5'd3:    rsp_o.data = {15'd0, busy_set_q, can_q};
        5'd4:    rsp_o.data = sets_q;
        default: rsp_o.data = '0;
      endcase
    end
  end
  assign trap = rsp_o.trap;

  always_comb begin
    address_o = operand_q + {16'd0, micro[15:0]} + {26'd0, more_q, 2'd0};
    if (state_q == Look) address_o = req_q.address;
    if (state_q == Header || state_q == Fill) address_o = req_q.address + {26'd0, read_q, 2'd0};
    write_o = turn && operation == MicroStore && good && !trap;
  end
  assign data_o        = rows_q[row];

  assign set_o         = turn && operation == MicroSet && !trap;
  assign set_partial_o = req_q.operation == UnitPset;
  assign set_mask_o    = micro[15:0];
  assign set_list_o    = operand_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      hits_q     <= '0;
      misses_q   <= '0;
      waits_q    <= '0;
      sets_q     <= '0;
      busy_set_q <= 1'b0;
      refused_q  <= 1'b0;
      can_q      <= '0;
      keyed_q    <= '0;
    end else begin
      unique case (state_q)
        Idle: if (req_i.valid) state_q <= Look;
        Look: begin
          state_q <= hit ? Run : Header;
          if (req_q.operation == UnitControl) state_q <= Idle;
          else if (hit) hits_q <= hits_q + 32'd1;
          else misses_q <= misses_q + 32'd1;
        end
        Header: state_q <= good_header ? Fill : Idle;
        Fill: if (filled) state_q <= Look;
        default: if (rsp_o.done || trap) state_q <= Idle;
      endcase
      // Found behind a miss it is no hit.
      if (state_q == Look && hit && fresh_q) hits_q <= hits_q;
      if (state_q == Run && waits_for_set) waits_q <= waits_q + 32'd1;
      if (runs && is_cipher && takes_key && cipher_done) keyed_q[cipher] <= 1'b1;
      if (busy_set_q) sets_q <= sets_q + 32'd1;
      if (set_o) begin
        busy_set_q <= 1'b1;
        // What is being written computes nothing, and forgets.
        can_q      <= '0;
        keyed_q    <= '0;
      end else if (busy_set_q && (set_done_i || set_refused_i)) begin
        busy_set_q <= 1'b0;
        refused_q  <= set_refused_i;
        if (!set_refused_i) can_q <= set_can_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (req_i.valid) req_q <= req_i;
    if (state_q == Idle) fresh_q <= 1'b0;
    if (state_q == Fill) fresh_q <= 1'b1;

    if (state_q == Look) begin
      at_q      <= {place, 4'd0};
      read_q    <= 4'd1;
      operand_q <= req_q.operand;
    end
    if (state_q == Header) begin
      at_q   <= {free, 4'd0};
      left_q <= data_i[3:0];
      read_q <= 4'd2;
    end
    if (state_q == Fill) begin
      at_q   <= at_q + store_at_t'(1);
      left_q <= left_q - 4'd1;
      read_q <= read_q + 4'd1;
    end
    if (turn) begin
      if (operation == MicroRun) count_q <= run_ends ? '0 : count_q + 5'd1;
      if (operation == MicroLoop) begin
        operand_q <= operand_q + {20'd0, micro[15:4]};
        rounds_q  <= rounds_q - 16'd1;
      end
      more_q <= rows_end ? '0 : more_q + 4'd1;
      if (again) at_q[3:0] <= micro[3:0];
      else if (rows_end && (operation != MicroRun || run_ends)) at_q <= at_q + store_at_t'(1);
    end
    if (state_q != Run) begin
      count_q <= '0;
      more_q  <= '0;
    end

    load_q     <= turn && operation inside {MicroLoad, MicroXor, MicroOperand, MicroCount};
    load_row_q <= row;
    unique case (operation)
      MicroXor:     load_for_q <= ForXor;
      MicroOperand: load_for_q <= ForOperand;
      MicroCount:   load_for_q <= ForCount;
      default:      load_for_q <= ForRow;
    endcase
    if (load_q && load_for_q == ForOperand) operand_q <= data_i;
    if (load_q && load_for_q == ForCount) rounds_q <= data_i[15:0];
    for (int unsigned r = 0; r < 8; r++) begin
      if (load_q && load_row_q == 3'(r) && load_for_q == ForRow) rows_q[r] <= data_i;
      if (load_q && load_row_q == 3'(r) && load_for_q == ForXor) rows_q[r] <= rows_q[r] ^ data_i;
    end
    if (turn && operation == MicroRun && run_ends) begin
      if (!is_hash) rows_q[3:0] <= is_cipher ? ciphered : is_round ? round : mixed;
      else if (micro[9]) rows_q[4:0] <= digest;
    end
    if (state_q == Idle) result_q <= '0;
    if (turn && operation == MicroOut) result_q <= rows_q[row];
  end

  logic unused;
  assign unused = ^{micro, req_q};

endmodule

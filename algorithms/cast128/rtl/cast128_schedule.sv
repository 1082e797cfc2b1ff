// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of CAST-128 (RFC 2144, 2.4): 64 steps, half of them make words of x and z and half round
// keys. Each is the exclusive-or of five S-box entries and, for x and z, of an older word. Four lookups are of
// four different S-boxes and depend on the step before; the fifth does not and goes first, alone: the other
// S-boxes then look up byte 0, and what they give is a constant to take off again.
//
// Clocks: 4 + 64 * Phases + Phases from the clock behind the last key beat to the one in which the last round
// key is written; busy_o for as long.
module cast128_schedule
  import core_pkg::*;
  import cast_pkg::*;
  import cast128_tables_pkg::*;
#(
  // Clocks per step: 2, or 3 with a register behind the lookups.
  parameter int unsigned Phases = 2
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input key_beat_t key_i,

  output logic busy_o,

  // The maskings 0 to 15, then the rotations.
  output made_t made_o
);

  if (!(Phases inside {2, 3})) begin : gen_illegal
    $error("cast128_schedule: Phases must be 2 or 3");
  end

  // -- what a step looks up -------------------------------------------------------------------------------

  typedef struct packed {
    // Bytes for S5 to S8, from the left; the first two are of one word, and so are the last two.
    logic [3:0][3:0] main;
    logic [3:0] fifth;  // byte of the fifth lookup
  } lookups_t;

  // Steps 8g to 8g + 3 make z from x (g even) or x from z, steps 8g + 4 to 8g + 7 round keys from those new
  // words. Bytes are of the words being made, but for the first main ones and the fifth ones of 8g to 8g + 3.
  function automatic lookups_t lookups(input logic [4:0] step);
    unique case (step)
      5'd0: return 20'hDFCE_8;
      5'd8: return 20'h5746_0;
      5'd16: return 20'hDFCE_8;
      5'd24: return 20'h5746_0;
      5'd1, 5'd17: return 20'h0213_A;
      5'd9, 5'd25: return 20'h0213_2;
      5'd2, 5'd18: return 20'h7654_9;
      5'd10, 5'd26: return 20'h7654_1;
      5'd3, 5'd19: return 20'hA9B8_B;
      5'd11, 5'd27: return 20'hA9B8_3;
      5'd4: return 20'h8976_2;
      5'd5: return 20'hAB54_6;
      5'd6: return 20'hCD32_9;
      5'd7: return 20'hEF10_C;
      5'd12: return 20'h32CD_8;
      5'd13: return 20'h10EF_D;
      5'd14: return 20'h7689_3;
      5'd15: return 20'h54AB_7;
      5'd20: return 20'h32CD_9;
      5'd21: return 20'h10EF_C;
      5'd22: return 20'h7689_2;
      5'd23: return 20'h54AB_6;
      5'd28: return 20'h8976_3;
      5'd29: return 20'hAB54_7;
      5'd30: return 20'hCD32_8;
      default: return 20'hEF10_D;
    endcase
  endfunction

  // The older word, by step: x0, x2, x3, x1 or z2, z0, z1, z3.
  function automatic logic [1:0] base_word(input logic odd, input logic [1:0] i);
    unique case (i)
      2'd0: return odd ? 2'd2 : 2'd0;
      2'd1: return odd ? 2'd0 : 2'd2;
      2'd2: return odd ? 2'd1 : 2'd3;
      default: return odd ? 2'd3 : 2'd1;
    endcase
  endfunction

  // The S-box of the fifth lookup.
  function automatic logic [1:0] fifth_lane(input logic [2:0] step);
    return step[2] ? step[1:0] : {!step[1], step[0]};
  endfunction

  // Which words are read, for the first and the last two S-boxes, which byte of them, and whether it counts.
  typedef struct packed {
    logic [2:0]      low;
    logic [2:0]      high;
    logic [3:0][1:0] at;
    logic [3:0]      on;
  } select_t;

  function automatic select_t select(input logic [4:0] step, input logic fifth);
    lookups_t bytes = lookups(step);
    // Of the words that are not being made.
    logic old = !step[2] && (step[1:0] == 2'd0 || fifth);
    select.low  = {!step[3] ^ old, fifth ? bytes.fifth[3:2] : bytes.main[3][3:2]};
    select.high = {!step[3] ^ old, fifth ? bytes.fifth[3:2] : bytes.main[0][3:2]};
    for (int unsigned t = 0; t < 4; t++) begin
      select.at[t] = fifth ? bytes.fifth[1:0] : bytes.main[3-t][1:0];
      select.on[t] = !fifth || fifth_lane(step[2:0]) == 2'(t);
    end
  endfunction

  // What the three other S-boxes give for byte 0.
  function automatic word_t rest(input logic [1:0] t);
    rest = '0;
    for (int unsigned k = 0; k < 4; k++) if (2'(k) != t) rest ^= KeyTables[3-k][255];
  endfunction

  // -- control --------------------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    Idle,
    Copy,
    Run
  } state_e;

  localparam logic [1:0] LastPhase = 2'(Phases - 1);
  localparam logic [1:0] WritePhase = 2'(Phases - 2);

  state_e state_d, state_q;
  logic [6:0] step_d, step_q;  // in Copy the word; 64: only the last word is written
  logic [1:0] phase_d, phase_q;
  logic [5:0] made;  // the step whose word is written in this one
  logic writing, is_key, odd;

  assign busy_o  = state_q != Idle;
  assign writing = state_q == Run && phase_q == WritePhase && step_q != '0;
  assign made    = step_q[5:0] - 6'd1;
  assign is_key  = step_q[2];
  assign odd     = step_q[3];

  always_comb begin
    state_d = state_q;
    step_d  = step_q;
    phase_d = '0;
    unique case (state_q)
      Copy: begin
        step_d = step_q + 7'd1;
        if (step_q[1:0] == 2'd3) begin
          step_d  = '0;
          state_d = Run;
        end
      end
      Run: begin
        phase_d = phase_q + 2'd1;
        if (phase_q == LastPhase) begin
          phase_d = '0;
          step_d  = step_q + 7'd1;
          if (step_q[6]) state_d = Idle;
        end
      end
      default: ;
    endcase
    if (clear_i.active || key_i.valid) begin
      step_d  = '0;
      phase_d = '0;
      state_d = key_i.valid && key_i.last ? Copy : Idle;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      step_q  <= '0;
      phase_q <= '0;
    end else begin
      state_q <= state_d;
      step_q  <= step_d;
      phase_q <= phase_d;
    end
  end

  // -- the key as it came ---------------------------------------------------------------------------------

  logic [4:0] len_q;
  logic [63:0] beat;
  word_t padded;

  ram_logic #(
    .Width(64),
    .Depth(2),
    .Quiet(1'b1)
  ) u_beats (
    .clk_i,
    .clear_i,
    .write_i     (key_i.valid),
    .write_at_i  (key_i.index[0]),
    .write_data_i(key_i.data),
    .read_at_i   (step_q[1]),
    .read_data_o (beat)
  );

  always_ff @(posedge clk_i) begin
    if (clear_i.active) len_q <= '0;
    else if (key_i.valid) len_q <= key_i.len[4:0];
  end

  // Bytes behind its end are zero.
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    logic [7:0] picked;
    logic keep;
    assign picked = step_q[0] ? beat[32+8*b+:8] : beat[8*b+:8];
    assign keep = {1'b0, step_q[1:0], 2'(b)} < len_q;
    assign padded[31-8*b-:8] = picked & {8{keep}};
  end

  // -- x and z: words 0 to 3 and 4 to 7 -------------------------------------------------------------------

  logic [2:0] write_address, base_address;
  word_t word_d, low, high, base;

  assign base_address  = {odd, base_word(odd, step_q[1:0])};
  assign write_address = state_q == Copy ? {1'b0, step_q[1:0]} : {!made[3], made[1:0]};

  // Known a clock ahead.
  select_t select_q;
  always_ff @(posedge clk_i) select_q <= select(step_d[4:0], phase_d == '0);

  // Three copies: as many words are read at once.
  logic [2:0][2:0] read_address;
  word_t [2:0] read;

  assign read_address      = {base_address, select_q.high, select_q.low};
  assign {base, high, low} = read;

  for (genvar r = 0; r < 3; r++) begin : gen_words
    ram_logic #(
      .Width(32),
      .Depth(8)
    ) u_words (
      .clk_i,
      .clear_i,
      .write_i     (state_q == Copy || (writing && !made[2])),
      .write_at_i  (write_address),
      .write_data_i(word_d),
      .read_at_i   (read_address[r]),
      .read_data_o (read[r])
    );
  end

  // -- lookups --------------------------------------------------------------------------------------------

  logic [1:0] lane;  // the S-box of the fifth lookup
  word_t address;
  word_t [3:0] entry, found;
  word_t sum, acc_q;

  assign lane = fifth_lane(step_q[2:0]);

  for (genvar t = 0; t < 4; t++) begin : gen_lane
    word_t from;
    assign from = t < 2 ? low : high;
    assign address[31-8*t-:8] = from[8*(3-32'(select_q.at[t]))+:8] & {8{select_q.on[t]}};
  end

  cast_lookup #(
    .Tables(KeyTables)
  ) u_lookup (
    .clk_i,
    .address_i(address),
    .entry_o  (entry)
  );

  if (Phases == 3) begin : gen_stage
    always_ff @(posedge clk_i) found <= entry;
  end else begin : gen_no_stage
    assign found = entry;
  end

  assign sum = found[0] ^ found[1] ^ found[2] ^ found[3];

  assign word_d = state_q == Copy ? padded : acc_q ^ sum;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) acc_q <= '0;
    else if (phase_q == WritePhase) acc_q <= (base & ~{32{is_key}}) ^ rest(lane);
    else if (phase_q == LastPhase) acc_q <= acc_q ^ sum;
  end

  assign made_o = '{
      valid: writing && made[2],
      rotation: made[5],
      index: {2'd0, made[4:3], made[1:0]},
      word: acc_q ^ sum
    };

  logic unused;
  assign unused = ^key_i;

endmodule

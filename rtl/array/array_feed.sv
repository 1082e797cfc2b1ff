// SPDX-License-Identifier: Apache-2.0
//
// Blocks of several lanes into a tile and their results back. At every start of the tile a lane that has a block is
// chosen for the start behind it, and its words are written where that one reads them; a start without a lane
// computes what nobody takes. Results come in the order of the starts, at a time that the set says.
//
// Clocks: an interval of the set from the choice to the start; the set's latency; 8 to the result's first beat.
module array_feed
  import array_pkg::*;
  import array_front_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input logic clk_i,
  input logic rst_ni,

  // That of the bank that runs. It stands while any lane has a block.
  input set_t set_i,
  // The tile forgets, or changes to another bank: nothing is chosen.
  input logic hold_i,

  // Lanes.
  input  logic    [Lanes-1:0]                  valid_i,
  output logic    [Lanes-1:0]                  grant_o,
  output logic    [      3:0]                  take_at_o,
  input  logic    [Lanes-1:0][           63:0] take_data_i,
  input  logic    [Lanes-1:0][KeyWordBits-1:0] key_base_i,
  output result_t [Lanes-1:0]                  result_o,

  // The tile.
  input  logic                           start_i,
  input  logic   [ StreamBits-1:0]       input_base_i,
  input  logic   [ StreamBits-1:0]       output_base_i,
  output logic   [KeyWordBits-1:0]       key_base_o,
  output write_t                         write_o,
  output logic   [ StreamBits-1:0]       read_at_o,
  input  logic   [    Outputs-1:0][31:0] words_i
);

  if (Inputs != 2 || Outputs != 2 || Lanes < 2 || Lanes != 1 << $clog2(Lanes)) begin : gen_illegal
    $error("array_feed: beats are of two words, and lanes a power of two");
  end

  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
  typedef logic [LaneBits-1:0] lane_t;

  // -- whose turn it is -------------------------------------------------------------------------------------

  lane_t pick_q, last_q;
  logic pick_valid_q;
  logic next_valid_q;  // the block of the start to come
  lane_t next_lane_q;
  logic [KeyWordBits-1:0] next_base_q;
  logic start_q, started_valid_q;
  lane_t started_lane_q;

  // The first one behind the lane that had its turn last.
  lane_t pick;
  always_comb begin
    pick = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (valid_i[lane_t'(32'(last_q)+Lanes-i)]) pick = lane_t'(32'(last_q) + Lanes - i);
    end
  end

  logic choose;
  assign choose     = start_i && pick_valid_q && !hold_i;
  assign key_base_o = next_base_q;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) grant_o[l] = choose && pick_q == lane_t'(l);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {pick_q, last_q, pick_valid_q, next_valid_q, next_lane_q, next_base_q} <= '0;
      {start_q, started_valid_q, started_lane_q} <= '0;
    end else begin
      pick_q       <= pick;
      pick_valid_q <= valid_i != '0 && !choose;
      start_q      <= start_i;
      if (start_i) begin
        started_valid_q <= next_valid_q;
        started_lane_q  <= next_lane_q;
        next_valid_q    <= choose;
        next_lane_q     <= pick_q;
        next_base_q     <= key_base_i[pick_q];
      end
      if (choose) last_q <= pick_q;
    end
  end

  // -- words into the tile ----------------------------------------------------------------------------------

  // A state's words go in front of a block's. If their number is odd each beat is made of two halves.
  logic [3:0] state_beats_q, steps_q;
  logic [3:0] first_take_q;
  logic brief_q;  // a state of one beat
  logic odd_q;
  logic [StreamBits-1:0] stride_q;

  always_ff @(posedge clk_i) begin
    logic [3:0] state_beats;
    state_beats = set_i.hash ? (set_i.output_words + 4'd1) >> 1 : '0;
    state_beats_q <= state_beats;
    first_take_q <= {set_i.hash, 3'b0};
    brief_q <= state_beats == 4'd1;
    odd_q <= set_i.hash && set_i.output_words[0];
    // The last one's number.
    steps_q       <= state_beats + (set_i.hash ? 4'd7 : 4'(set_i.input_words >> 1) - 4'd1)
                     + 4'(set_i.hash && set_i.output_words[0]);
    stride_q <= pairs(set_i.input_words);
  end

  // A lane is asked for a beat, and has it two clocks later; for the first one it is asked before it is chosen.
  logic copy_q, taken_q;
  lane_t copy_lane_q, taken_lane_q;
  logic [3:0] step_q, take_q;
  logic of_state, last_of_state;
  logic taken_state_q, taken_hold_q, beat_valid_q, beat_state_q, beat_hold_q;
  logic [63:0] beat_q, beat;
  logic [31:0] carry_q;
  logic [StreamBits-1:0] at_q;

  assign of_state      = step_q < state_beats_q;
  assign last_of_state = step_q + 4'd1 == state_beats_q;
  assign take_at_o     = take_q;

  always_comb begin
    beat = beat_q;
    if (!beat_state_q) beat = set_i.permuted ? des_in(beat_q) : swapped_pair(beat_q, set_i.swap_in);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {copy_q, copy_lane_q, step_q, take_q, taken_q, taken_lane_q, taken_state_q, taken_hold_q} <= '0;
      {beat_valid_q, beat_state_q, beat_hold_q, beat_q, carry_q, at_q} <= '0;
      write_o <= '0;
    end else begin
      if (choose) begin
        copy_q      <= 1'b1;
        copy_lane_q <= pick_q;
        step_q      <= '0;
        take_q      <= brief_q ? '0 : first_take_q + 4'd1;
      end else if (copy_q) begin
        step_q <= step_q + 4'd1;
        take_q <= step_q + 4'd2 == state_beats_q ? '0 : take_q + 4'd1;
        copy_q <= step_q != steps_q;
      end else begin
        take_q <= first_take_q;
      end
      taken_q       <= copy_q;
      taken_lane_q  <= copy_lane_q;
      taken_state_q <= of_state && !(odd_q && last_of_state);
      taken_hold_q  <= odd_q && last_of_state;
      beat_valid_q  <= taken_q;
      beat_state_q  <= taken_state_q;
      beat_hold_q   <= taken_hold_q;
      beat_q        <= taken_q ? take_data_i[taken_lane_q] : '0;
      // Of the state's last beat only the low half is a word, which waits as it is.
      if (taken_hold_q) beat_q[63:32] <= '0;
      write_o <= '0;
      if (start_q) at_q <= input_base_i + stride_q;
      if (beat_valid_q) begin
        carry_q <= beat_hold_q ? beat_q[31:0] : beat[63:32];
        if (!beat_hold_q) begin
          at_q           <= at_q + 1'b1;
          write_o.target <= TargetInput;
          write_o.at     <= 9'(at_q);
          write_o.data   <= odd_q && !beat_state_q ? {beat[31:0], carry_q} : beat;
        end
      end else begin
        carry_q <= '0;
      end
    end
  end

  // -- results out of it ------------------------------------------------------------------------------------

  // A lane has one block under way at most, so that there are no more of them than lanes.
  typedef struct packed {
    lane_t                 lane;
    logic [StreamBits-1:0] base;
    logic [11:0]           due;
  } flight_t;

  flight_t flights[1<<LaneBits];
  flight_t first;
  logic [LaneBits:0] begun_q, over_q;
  logic [11:0] now_q;
  logic due_q, reading_q;
  lane_t read_lane_q;
  logic [1:0] read_step_q, read_last_q;
  logic [StreamBits-1:0] read_base_q;

  // Who asked for the word that comes: three clocks back.
  typedef struct packed {
    logic       valid;
    logic       last;
    logic [1:0] index;
    lane_t      lane;
  } ask_t;

  ask_t ask;
  ask_t [2:0] asked_q;
  result_t found_q;
  logic [Lanes-1:0] found_lane_q;
  logic [11:0] latency_q;
  logic swap_q, permuted_q, odd_last_q;
  logic [63:0] words;

  assign first     = flights[over_q[LaneBits-1:0]];
  assign read_at_o = read_base_q + StreamBits'(read_step_q);
  assign ask       = '{reading_q, read_step_q == read_last_q, read_step_q, read_lane_q};

  always_comb begin
    words = words_i;
    // Of the last beat of an odd number of words only one counts.
    if (odd_last_q) words[63:32] = '0;
    words = permuted_q ? des_out(words) : swapped_pair(words, swap_q);
    for (int unsigned l = 0; l < Lanes; l++) begin
      result_o[l] = found_q;
      result_o[l].valid = found_lane_q[l];
    end
  end

  always_ff @(posedge clk_i) begin
    latency_q   <= set_i.latency + 12'd2;
    read_last_q <= 2'((set_i.output_words - 4'd1) >> 1);
    swap_q      <= !set_i.hash && set_i.swap_out;
    permuted_q  <= !set_i.hash && set_i.permuted;
    odd_last_q  <= asked_q[1].last && set_i.output_words[0];
    if (start_q && started_valid_q) begin
      flights[begun_q[LaneBits-1:0]] <= '{started_lane_q, output_base_i, now_q + latency_q};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {begun_q, over_q, now_q, due_q, reading_q, read_lane_q, read_step_q, read_base_q} <= '0;
      {asked_q, found_q, found_lane_q} <= '0;
    end else begin
      now_q <= now_q + 1'b1;
      if (start_q && started_valid_q) begun_q <= begun_q + 1'b1;
      due_q <= begun_q != over_q && first.due == now_q && !due_q;
      if (due_q) begin
        over_q      <= over_q + 1'b1;
        reading_q   <= 1'b1;
        read_lane_q <= first.lane;
        read_base_q <= first.base;
        read_step_q <= '0;
      end else if (reading_q) begin
        read_step_q <= read_step_q + 1'b1;
        reading_q   <= read_step_q != read_last_q;
      end
      asked_q <= {asked_q[1:0], ask};
      found_q <= '{asked_q[2].valid, asked_q[2].last, asked_q[2].index, asked_q[2].valid ? words : '0};
      for (int unsigned l = 0; l < Lanes; l++)
      found_lane_q[l] <= asked_q[2].valid && asked_q[2].lane == lane_t'(l);
    end
  end

endmodule

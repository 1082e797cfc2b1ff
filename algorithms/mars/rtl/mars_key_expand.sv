// SPDX-License-Identifier: Apache-2.0
//
// The expansion of a key. The 15 words of its state run through a ring, one step at a time: the word at the
// head is changed and goes in again at the tail, so that what a step reads besides stands at fixed places. In
// the last stirring pass the words leave for the memories of the expanded key as they are made. A
// multiplication key is repaired on its way: the pattern for it comes rotated from the S-box's memory.
//
// A step takes a clock, and with Ring two, because the S-box then answers through its output register. Both
// lookups share a port of it: in the first clock of a step it is the repair's, in the second the stirring's.
//
// Cycles: 15 to fill the ring, 4 x (15 linear + 4 x 15 stirring), and 2 until the last word has been written;
// with Ring twice as many. Neither depends on the key's length.
module mars_key_expand
  import core_pkg::*;
  import mars_pkg::*;
#(
  parameter bit Ring = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input beat_t beat_i,
  // The word of the key that is wanted.
  input word_t fill_i,

  // With Ring the search to stir is for both, and so is what is found; busy is high from the clock behind the last
  // beat until all keys are written, and ready is of no use.
  output search_t    search_o,
  input  found_t     found_i,
  output expansion_t expansion_o
);

  typedef enum logic [1:0] {
    Rest,
    Fill,
    Linear,
    Stir
  } phase_e;

  phase_e phase_d, phase_q;
  logic [3:0] step_d, step_q;  // the word, 0 to 14
  logic [1:0] pass_d, pass_q;  // of stirring
  logic [1:0] batch_d, batch_q;
  logic [3:0] words_q;  // of the key
  logic       hold_q;  // no whole key yet
  logic busy, ready, write;
  logic  step_last;

  word_t ring_q    [15];
  word_t sum, word;
  logic tick;  // the last clock of a step
  logic leaving, leaving_q, leaving_qq;  // a word for the memories
  word_t repaired;

  // -- control --------------------------------------------------------------------------------------------

  if (Ring) begin : gen_two
    logic second_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) second_q <= 1'b0;
      else second_q <= !second_q && !clear_i.active && !beat_i.valid;
    end

    assign tick  = second_q;
    assign busy  = phase_q != Rest || leaving_q || leaving_qq;
    assign ready = !hold_q;
    assign write = leaving_qq && !second_q;
  end else begin : gen_one
    assign tick  = 1'b1;
    assign write = leaving_qq;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ready <= 1'b0;
        busy  <= 1'b0;
      end else begin
        busy  <= (phase_d != Rest || leaving || beat_i.valid) && !clear_i.active;
        ready <= !(phase_q != Rest || leaving_q || clear_i.active || beat_i.valid || hold_q);
      end
    end
  end

  assign step_last = step_q == 4'd14;

  always_comb begin
    phase_d = phase_q;
    step_d  = step_last ? 4'd0 : step_q + 4'd1;
    pass_d  = pass_q;
    batch_d = batch_q;
    if (step_last) begin
      unique case (phase_q)
        Fill: phase_d = Linear;
        Linear: phase_d = Stir;
        Stir: begin
          pass_d = pass_q + 2'd1;
          if (pass_q == 2'd3) begin
            phase_d = batch_q == 2'd3 ? Rest : Linear;
            batch_d = batch_q + 2'd1;
          end
        end
        default: ;
      endcase
    end
    if (phase_q == Rest) step_d = '0;
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      phase_q <= Rest;
      step_q  <= '0;
      pass_q  <= '0;
      batch_q <= '0;
      words_q <= '0;
      hold_q  <= 1'b1;
    end else begin
      if (beat_i.valid) hold_q <= !beat_i.last;
      if (beat_i.valid) begin
        phase_q <= beat_i.last ? Fill : Rest;
        step_q  <= '0;
        pass_q  <= '0;
        batch_q <= '0;
        words_q <= beat_i.words;
      end else if (tick) begin
        phase_q <= phase_d;
        step_q  <= step_d;
        pass_q  <= pass_d;
        batch_q <= batch_d;
      end
    end
  end

  // -- the ring -------------------------------------------------------------------------------------------

  assign sum = ring_q[0] + found_i.stir;

  always_comb begin
    unique case (phase_q)
      Fill: begin
        if (step_q < words_q) word = fill_i;
        else word = step_q == words_q ? 32'(words_q) : '0;
      end
      Linear:  word = ring_q[0] ^ rol(ring_q[8] ^ ring_q[13], 3) ^ {26'h0, step_q, batch_q};
      default: word = rol(sum, 9);
    endcase
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 15; i++) begin
      if (clear_i.active) ring_q[i] <= '0;
      else if (phase_q != Rest && tick) ring_q[i] <= i == 14 ? word : ring_q[i+1];
    end
  end

  // -- repair, and out to the memories ----------------------------------------------------------------------

  // Word t of the state is number 4t mod 15 of its batch of ten keys. Half of that, rounded down, and then of
  // all the keys.
  logic [2:0] half;
  logic       odd;
  logic [4:0] pair_q, pair_qq;
  logic odd_q, odd_qq;

  always_comb begin
    unique case (step_q)
      4'd0:    {leaving, half, odd} = {1'b1, 4'd0};
      4'd1:    {leaving, half, odd} = {1'b1, 4'd4};
      4'd2:    {leaving, half, odd} = {1'b1, 4'd8};
      4'd4:    {leaving, half, odd} = {1'b1, 4'd1};
      4'd5:    {leaving, half, odd} = {1'b1, 4'd5};
      4'd6:    {leaving, half, odd} = {1'b1, 4'd9};
      4'd8:    {leaving, half, odd} = {1'b1, 4'd2};
      4'd9:    {leaving, half, odd} = {1'b1, 4'd6};
      4'd12:   {leaving, half, odd} = {1'b1, 4'd3};
      4'd13:   {leaving, half, odd} = {1'b1, 4'd7};
      default: {leaving, half, odd} = '0;
    endcase
    if (phase_q != Stir || pass_q != 2'd3) leaving = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      leaving_q  <= 1'b0;
      leaving_qq <= 1'b0;
    end else if (clear_i.active || beat_i.valid) begin
      leaving_q  <= 1'b0;
      leaving_qq <= 1'b0;
    end else if (tick) begin
      leaving_q  <= leaving;
      leaving_qq <= leaving_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (tick || clear_i.active) begin
      odd_q   <= odd;
      odd_qq  <= odd_q;
      pair_q  <= 5'(half) + 5'(batch_q) + {1'b0, batch_q, 2'b00};
      pair_qq <= pair_q;
    end
  end

  assign expansion_o = '{
      busy: busy,
      ready: ready,
      fill: phase_q == Fill,
      index: step_q,
      write: write,
      pair: pair_qq,
      odd: odd_qq,
      word: ring_q[13],
      repaired: repaired
    };

  // The word is at the tail now, its partner, four steps older, behind it. Ten equal bits in a row, ending at
  // i, are three times four.
  word_t w;
  logic [31:0] four, ten_d, ten_q;

  assign w = ring_q[14] | 32'h3;

  always_comb begin
    search_o = '{stir: {1'b0, word[8:0]}, repair: {3'b100, ring_q[14][1:0], ring_q[10][4:0]}};
    if (Ring && !tick) search_o.stir = search_o.repair;
  end

  always_comb begin
    four  = '0;
    ten_d = '0;
    for (int unsigned i = 3; i < 32; i++) four[i] = w[i-:4] == '0 || w[i-:4] == '1;
    for (int unsigned i = 9; i < 32; i++) ten_d[i] = four[i] && four[i-3] && four[i-6];
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) ten_q <= '0;
    else ten_q <= ten_d;
  end

  // One place further. The repair reaches all bits of such a run but those at its ends, and neither bits 0, 1
  // and 31.
  logic [40:0] runs;
  logic [37:0] any_four;
  word_t old, mask;

  // Of a state that is zero no word is repaired: none is leaving.
  assign old  = {ring_q[13][31:2], {2{leaving_qq}}};
  assign runs = {9'h0, ten_q};

  always_comb begin
    mask     = '0;
    any_four = '0;
    for (int unsigned i = 0; i < 38; i++) any_four[i] = runs[i+:4] != '0;
    for (int unsigned i = 2; i < 31; i++) begin
      // Of ten: four, four, and the last two once more with two others.
      mask[i] = (any_four[i] || any_four[i+4] || any_four[i+6]) && (old[i-1+:3] == '0 || old[i-1+:3] == '1);
    end
    repaired = old ^ (found_i.repair & mask);
  end

endmodule

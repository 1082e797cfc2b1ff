// SPDX-License-Identifier: Apache-2.0
//
// The key schedule. The 15 words of its state run through a ring, one step a clock: the word at the head is
// changed and goes in again at the tail, so that what a step reads besides stands at fixed places. In the
// last stirring pass the words leave for the memories of the expanded key as they are made. A multiplication
// key is repaired on its way: the pattern for it comes rotated from the S-box's memory, whose ports the
// schedule has to itself while it runs.
//
// Cycles: all keys can be read 317 clocks after the last key beat, whatever the key's length: 15 to fill the
// ring, 4 x (15 linear + 4 x 15 stirring), and 2 until the last word has been written. No run leaves an old
// word in any memory, so a wipe, which clears the ring, erases the key by running once.
module mars_key_schedule
  import mars_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // Forgets the key. Expected in the first clock after a reset, which leaves the ring as it is.
  input logic wipe_i,

  // The key, two words a beat, the first beat with index 0.
  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,

  // The S-box is needed; all keys can be read.
  output logic busy_o,
  output logic ready_o,

  // A lookup to stir with, and one for the repair, as addresses of mars_sbox.
  output logic  [9:0] stir_address_o,
  input  word_t       stir_i,
  output logic  [9:0] repair_address_o,
  input  word_t       repair_i,

  // K[4 + 2 index] and K[5 + 2 index]; and K[0] to K[3], or, with upper, K[36] to K[39].
  input  logic   [3:0] index_i,
  output word_t        add_key_o,
  output word_t        multiply_key_o,
  input  logic         upper_i,
  output block_t       white_key_o
);

  typedef enum logic [1:0] {
    Idle,
    Fill,
    Linear,
    Stir
  } phase_e;

  phase_e phase_d, phase_q;
  logic [3:0] step_d, step_q;  // the word, 0 to 14
  logic [1:0] pass_d, pass_q;  // of stirring
  logic [1:0] batch_d, batch_q;
  logic  [3:0] words_q;  // of the key
  logic        hold_q;  // no whole key yet
  logic        step_last;

  word_t       ring_q                      [15];
  word_t sum, word;
  word_t add_key, multiply_key;

  // -- control --------------------------------------------------------------------------------------------

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
            phase_d = batch_q == 2'd3 ? Idle : Linear;
            batch_d = batch_q + 2'd1;
          end
        end
        default: ;
      endcase
    end
    if (phase_q == Idle) step_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Idle;
      step_q  <= '0;
      pass_q  <= '0;
      batch_q <= '0;
      words_q <= '0;
      hold_q  <= 1'b1;
    end else begin
      hold_q <= (hold_q && !(key_valid_i && key_last_i)) || wipe_i || (key_valid_i && !key_last_i);
      if (wipe_i || key_valid_i) begin
        if (wipe_i) phase_q <= Linear;
        else phase_q <= key_last_i ? Fill : Idle;
        step_q  <= '0;
        pass_q  <= '0;
        batch_q <= '0;
        words_q <= key_len_i[5:2];
      end else begin
        phase_q <= phase_d;
        step_q  <= step_d;
        pass_q  <= pass_d;
        batch_q <= batch_d;
      end
    end
  end

  // -- the ring -------------------------------------------------------------------------------------------

  assign sum = ring_q[0] + stir_i;

  always_comb begin
    unique case (phase_q)
      Fill: begin
        if (step_q < words_q) word = step_q[0] ? multiply_key : add_key;
        else word = step_q == words_q ? 32'(words_q) : '0;
      end
      Linear:  word = ring_q[0] ^ rol(ring_q[8] ^ ring_q[13], 3) ^ {26'h0, step_q, batch_q};
      default: word = rol(sum, 9);
    endcase
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 15; i++) begin
      if (wipe_i) ring_q[i] <= '0;
      else if (phase_q != Idle) ring_q[i] <= i == 14 ? word : ring_q[i+1];
    end
  end

  logic unused;
  assign unused         = ^key_len_i[1:0];

  assign stir_address_o = {1'b0, word[8:0]};

  // -- repair, and out to the memories ----------------------------------------------------------------------

  // Word t of the state is number 4t mod 15 of its batch of ten keys. Half of that, rounded down, and then of
  // all the keys.
  logic [2:0] half;
  logic       odd;
  logic       leaving;
  logic [4:0] pair_q, pair_qq;
  logic odd_q, odd_qq, leaving_q, leaving_qq;

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
      ready_o    <= 1'b0;
      busy_o     <= 1'b0;
    end else begin
      leaving_q  <= leaving && !wipe_i && !key_valid_i;
      leaving_qq <= leaving_q && !wipe_i && !key_valid_i;
      busy_o     <= phase_d != Idle || leaving || wipe_i || key_valid_i;
      ready_o    <= !(phase_q != Idle || leaving_q || wipe_i || key_valid_i || hold_q);
    end
  end

  always_ff @(posedge clk_i) begin
    odd_q   <= odd;
    odd_qq  <= odd_q;
    pair_q  <= 5'(half) + 5'(batch_q) + {1'b0, batch_q, 2'b00};
    pair_qq <= pair_q;
  end

  // The word is at the tail now, its partner, four steps older, behind it. Ten equal bits in a row, ending at
  // i, are three times four.
  word_t w;
  logic [31:0] four, ten_d, ten_q;

  assign w = ring_q[14] | 32'h3;
  assign repair_address_o = {3'b100, ring_q[14][1:0], ring_q[10][4:0]};

  always_comb begin
    four  = '0;
    ten_d = '0;
    for (int unsigned i = 3; i < 32; i++) four[i] = w[i-:4] == '0 || w[i-:4] == '1;
    for (int unsigned i = 9; i < 32; i++) ten_d[i] = four[i] && four[i-3] && four[i-6];
  end

  always_ff @(posedge clk_i) ten_q <= ten_d;

  // One place further. The repair reaches all bits of such a run but those at its ends, and neither bits 0, 1
  // and 31.
  logic [40:0] runs;
  word_t old, mask, repaired;

  assign old  = {ring_q[13][31:2], 2'b11};
  assign runs = {9'h0, ten_q};

  always_comb begin
    mask = '0;
    for (int unsigned i = 2; i < 31; i++) begin
      mask[i] = runs[i+:10] != '0 && (old[i-1+:3] == '0 || old[i-1+:3] == '1);
    end
    repaired = old ^ (repair_i & mask);
  end

  // -- the expanded key -------------------------------------------------------------------------------------

  // Until the ring is full the two memories hold the key as it came.
  logic outer, lower;
  logic [3:0] index, write_index;
  logic write_add, write_multiply;

  assign lower = pair_qq < 5'd2;
  assign outer = lower || pair_qq >= 5'd18;
  assign index = phase_q == Fill ? {1'b0, step_q[3:1]} : index_i;
  assign write_index = key_valid_i ? {1'b0, key_index_i} : 4'(pair_qq - 5'd2);
  assign write_add = key_valid_i || (leaving_qq && !odd_qq && !outer);
  assign write_multiply = key_valid_i || (leaving_qq && odd_qq && !outer);

  (* ram_style = "distributed" *)
  word_t add_keys[16];
  (* ram_style = "distributed" *)
  word_t multiply_keys[16];

  always_ff @(posedge clk_i) begin
    if (write_add) add_keys[write_index] <= key_valid_i ? key_i[31:0] : ring_q[13];
    if (write_multiply) multiply_keys[write_index] <= key_valid_i ? key_i[63:32] : repaired;
  end

  assign add_key        = add_keys[index];
  assign multiply_key   = multiply_keys[index];
  assign add_key_o      = add_key;
  assign multiply_key_o = multiply_key;

  for (genvar k = 0; k < 4; k++) begin : gen_white
    (* ram_style = "distributed" *)
    word_t keys[2];

    always_ff @(posedge clk_i) begin
      if (leaving_qq && outer && {pair_qq[0], odd_qq} == 2'(k)) keys[!lower] <= ring_q[13];
    end

    assign white_key_o[k] = keys[upper_i];
  end

endmodule

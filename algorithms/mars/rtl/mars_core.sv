// SPDX-License-Identifier: Apache-2.0
//
// MARS, a mixing round in one clock and a core round in two: first the product, then the rotations and sums.
// Decryption is encryption with the words and the keys in opposite order, the rotation by 13 moved to the
// other side, and subtraction in the core; the mixing rounds are the same. What is subtracted comes
// complemented, most of it out of the S-box's memory.
//
// The lookup of a core round runs beside its product. Its address, nine bits of A + K, is therefore made
// beside A itself, from B + K, before the round begins; the first round has no such B and waits a clock.
//
// Forward mixing adds B or D to A when A is done with. That is left to the next two rounds, where it costs no
// time: by then the sum is D. In backward mixing A loses D or B before it is looked up; D at the end of the
// round before, B in a clock of its own.
//
// Cycles per block: 54 (2 to enter, 8, 1 + 16 x 2, 8 + 2, 1 to leave), feedback included: the next block
// enters in the clock in which the result leaves. Key set-up, 317 clocks (mars_key_schedule): a block to be
// decrypted waits for all of it. One to be encrypted enters behind the first ten words of four times ten, where the
// schedule leaves it the S-box for its mixing rounds; the core rounds that go beyond the words that are there wait
// in Lookup for the next ten. None of this depends on the key or on its length.
//
// A clear takes 20 clocks: 16 words of its memories, the first again when nothing comes any more, and what is read.
module mars_core
  import core_pkg::*;
  import mars_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  phase_e phase_d, phase_q;
  logic [3:0] count_d, count_q;  // the round; in Multiply and Add the next one
  logic decrypt_q;
  logic forward_q;  // before the second half of the core
  logic valid_q;
  logic accept;
  logic mixing;  // not in Enter, which is much like Add with nothing to add

  logic key_busy, key_ready;
  logic key_open;  // a block to be encrypted may enter, though the key schedule runs
  logic key_near_d, key_near_q;  // the keys of the round that comes are there; and were, a clock ago
  logic  upper;
  keys_t keys;
  word_t add_key_q, multiply_key_q;

  word_t a_d, b_d, c_d, d_d, a_q, b_q, c_q, d_q;
  word_t sum_q;  // M, complemented in decryption
  word_t found_q;  // S[M], complemented in decryption
  ahead_t ahead, ahead_q;  // B + the next K, as far as it makes an address; and the next A + K
  word_t  product_q;  // R before its rotations; zero in mixing
  block_t block_q;

  // -- control --------------------------------------------------------------------------------------------

  assign rsp_o.result_valid = valid_q;
  assign rsp_o.result = block_q;
  assign rsp_o.block_ready  = (key_ready || (key_open && !req_i.decrypt)) && phase_q == Idle && (!valid_q || req_i.result_ready);
  assign accept = req_i.block_valid && rsp_o.block_ready;

  always_comb begin
    phase_d = phase_q;
    count_d = count_q;
    unique case (phase_q)
      Idle: if (accept) phase_d = Enter;
      Enter: phase_d = Forward;
      Forward: begin
        count_d = count_q == 4'd7 ? 4'd0 : count_q + 4'd1;
        if (count_q == 4'd7) phase_d = Lookup;
      end
      // With the keys that were there a clock ago.
      Lookup: begin
        if (key_near_q) count_d = count_q + 4'd1;
        if (key_near_q) phase_d = Multiply;
      end
      Multiply: phase_d = Add;
      Add: begin
        if (count_q == 4'd0) phase_d = Backward;
        else if (!key_near_q) phase_d = Lookup;
        else begin
          count_d = count_q + 4'd1;
          phase_d = Multiply;
        end
      end
      Backward: begin
        count_d = count_q == 4'd7 ? 4'd0 : count_q + 4'd1;
        if (count_q == 4'd7) phase_d = Leave;
        else if (count_q[1:0] == 2'd2) phase_d = Adjust;
      end
      Adjust: phase_d = Backward;
      default: phase_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= (phase_q == Leave || (valid_q && !req_i.result_ready)) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      phase_q   <= Idle;
      count_q   <= '0;
      decrypt_q <= 1'b0;
      forward_q <= 1'b1;
    end else begin
      phase_q <= phase_d;
      count_q <= count_d;
      if (phase_q == Idle) begin
        decrypt_q <= req_i.decrypt;
        forward_q <= 1'b1;
      end else if (phase_q == Add && count_q == 4'd8) begin
        forward_q <= 1'b0;
      end
    end
  end

  // -- keys -----------------------------------------------------------------------------------------------

  search_t search;
  words_t  s;  // of lookups

  assign upper = phase_q == Idle ? req_i.decrypt : !decrypt_q;

  mars_key_schedule u_key_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .req_i,
    .busy_o  (key_busy),
    .ready_o (key_ready),
    .open_o  (key_open),
    .search_o(search),
    .found_i ('{stir: s.c, repair: s.y}),
    .index_i ((phase_q == Forward ? 4'd0 : count_q) ^ {4{decrypt_q}}),
    .near_o  (key_near_d),
    .upper_i (upper),
    .keys_o  (keys)
  );

  // Of a block that has entered the first words are there.
  always_ff @(posedge clk_i) key_near_q <= key_near_d || phase_q == Forward;

  // -- the first half of a core round -----------------------------------------------------------------------

  word_t factor, sum;
  logic [31:0] product, low;
  logic [15:0] middle;

  assign factor  = decrypt_q ? a_q : rol(a_q, 13);
  assign sum     = (decrypt_q ? rol(a_q, 19) : a_q) + add_key_q;

  // The low half of the product, from three of 16 x 16 bits.
  assign low     = factor[15:0] * multiply_key_q[15:0];
  assign middle  = 16'(factor[31:16] * multiply_key_q[15:0]) + 16'(factor[15:0] * multiply_key_q[31:16]);
  assign product = {low[31:16] + middle, low[15:0]};

  // -- a mixing round, or the second half of a core round ----------------------------------------------------

  word_t r5, r10;
  word_t rotated;  // L, complemented in decryption
  word_t l, m;  // what is added to B or D, and to C
  word_t l_sum, m_sum, f_sum, crossed, exclusive, side, b_sum, turned;
  logic subtract, side_carry, core_forward;

  assign mixing       = phase_q != Add && phase_q != Enter;
  assign core_forward = !mixing && forward_q;
  assign subtract     = phase_q == Add ? decrypt_q : !forward_q;

  assign r5           = rol(product_q, 5);
  assign r10          = rol(product_q, 10);

  assign rotated      = rotate(found_q ^ r5 ^ r10, r10[4:0]);

  // In forward mixing the adder of B and D has the late sums.
  always_comb begin
    if (!mixing) l = rotated;
    else if (!forward_q) l = s.l;
    else if (count_q[1:0] == 2'd1) l = c_q;
    else if (count_q[1:0] == 2'd2) l = a_q;
    else l = '0;
  end

  assign m         = mixing ? s.c : rotate(sum_q, r5[4:0]);
  assign l_sum     = (core_forward ? b_q : d_q) + l + 32'(subtract);
  assign m_sum     = c_q + m + 32'(subtract);

  // The next A: of forward mixing; and of the backward half of the core and backward mixing.
  assign f_sum     = (b_q ^ s.x) + s.l;
  assign crossed   = b_q ^ r10;
  assign exclusive = crossed ^ s.x;
  always_comb begin
    side       = '0;
    side_carry = 1'b0;
    if (phase_q == Backward && count_q[1:0] == 2'd1) begin
      side       = ~rol(a_q, 24);
      side_carry = 1'b1;
    end else if (phase_q == Adjust) begin
      side       = a_q;
      side_carry = 1'b1;
    end
  end
  assign b_sum = exclusive + side + 32'(side_carry);

  always_comb begin
    if (phase_q == Add) turned = rol(a_q, decrypt_q ? 19 : 13);
    else turned = rol(a_q, forward_q ? 8 : 24);
  end

  // -- lookups --------------------------------------------------------------------------------------------

  assign ahead = ahead_q + rotated[21:0] + 22'(decrypt_q);

  at_t at;
  sought_t sought;

  assign at = '{
      phase: phase_q,
      adjust: phase_d == Adjust,
      turned: count_q == 4'd0,
      forward: forward_q,
      decrypt: decrypt_q
    };
  assign sought = '{
      b: b_q,
      f_sum: f_sum,
      b_sum: b_sum,
      a_key: sum[8:0],
      crossed: decrypt_q ? crossed[21:13] : crossed[8:0],
      key: keys.add[8:0],
      ahead: ahead
    };

  mars_core_lookups u_lookups (
    .clk_i,
    .at_i      (at),
    .sought_i  (sought),
    .key_busy_i(key_busy),
    .search_i  (search),
    .found_o   (s)
  );

  // -- the block ------------------------------------------------------------------------------------------

  block_t entering, leaving;
  logic step;

  for (genvar w = 0; w < 4; w++) begin : gen_white
    assign entering[w] = req_i.block[32*w+:32] + keys.white[w];
  end

  always_comb begin
    if (phase_q == Idle) begin
      // As if a round had to come to put them right.
      {d_d, c_d, b_d} = req_i.decrypt ? {entering[1], entering[2], entering[3]} : entering[2:0];
      a_d             = rol(req_i.decrypt ? entering[0] : entering[3], 24);
    end else begin
      a_d = b_sum;
      if (core_forward) a_d = l_sum;
      else if (phase_q == Forward) a_d = f_sum;
      b_d = m_sum;
      c_d = core_forward ? d_q ^ r10 : l_sum ^ s.y;
      d_d = turned;
    end
    leaving = decrypt_q ? {a_q, b_q, c_q, d_q} : {d_q, c_q, b_q, a_q};
  end

  assign step = accept || phase_q inside {Enter, Forward, Add, Backward};

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      a_q <= '0;
      b_q <= '0;
      c_q <= '0;
      d_q <= '0;
    end else begin
      if (step || phase_q == Adjust) a_q <= a_d;
      if (step) begin
        b_q <= b_d;
        c_q <= c_d;
        d_q <= d_d;
      end
    end
    if (clear_i.active) block_q <= '0;
    else if (phase_q == Leave) for (int unsigned w = 0; w < 4; w++) block_q[w] <= leaving[w] - keys.white[w];

    if (phase_q != Multiply) product_q <= '0;
    else product_q <= product;
    if (phase_q != Multiply) begin
      sum_q   <= '0;
      found_q <= '0;
    end else begin
      sum_q   <= sum ^ {32{decrypt_q}};
      found_q <= s.l;
    end
    if (phase_q != Multiply) ahead_q <= '0;
    else ahead_q <= b_q[21:0] + (decrypt_q ? {keys.add[8:0], 13'h0} : {13'h0, keys.add[8:0]});
    if (phase_q != Multiply) begin
      add_key_q      <= keys.add;
      multiply_key_q <= keys.multiply;
    end
  end

endmodule

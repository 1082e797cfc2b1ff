// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of rc6_core, and the memories of the expanded key: three passes over the words S of the
// expanded key, 44 for 20 rounds, and over the words L of the user's key, in turn
//   A = S[i] = (S[i] + A + B) <<< 3,   B = L[j] = (L[j] + A + B) <<< (A + B),
// a step a clock. What a step knows before its B is added before, so that between two registers there are
//   A = za <<< 3;   B = (A + lb) <<< (A + b);   za' = B + (A + S[i+1]);   lb' = B + L[j+1]
// two sums and a rotation. The words of the last pass go to the memories that the rounds read, one a clock: as many
// as rounds of two clocks use. A block to be encrypted may therefore enter when the first four are there; with two,
// the pair behind the last round would come too late by two clocks.
//
// Clocks from the last key beat: 92 until a block to be encrypted may be prepared for, 134 until all keys are there,
// whatever the key's length.
module rc6_key_schedule
  import core_pkg::*;
  import rc6_pkg::*;
(
  input logic clk_i,

  input clear_t    clear_i,
  input core_req_t req_i,    // its key is zero unless valid

  // The last pair of words, a constant.
  input logic [4:0] final_i,

  // A pair of words to be read; they come in the next clock, those of the first pair crosswise.
  input  logic  [4:0] pair_i,
  output word_t       even_o,
  output word_t       odd_o,

  // The first pair can be read, and of a block that enters in four clocks every pair when it comes to it.
  output logic early_o,
  // All can be read from the next clock on.
  output logic done_o
);

  // A word on its way through the schedule.
  typedef struct packed {
    logic       valid;
    logic [1:0] pass;
    logic [5:0] i;
  } at_t;

  // -- control --------------------------------------------------------------------------------------------

  at_t read_q;  // the word of S that is read
  at_t [3:1] at_q;  // the same 1, 2, 3 clocks later; the third is made
  logic step;  // a step, or the clock in front of the first one
  logic write_l_q;
  logic [2:0] j_last_q, j_q, j_made_q, j_write_q;

  assign step = at_q[2].valid || at_q[3].valid;

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active || req_i.key_valid) begin
      // While beats come the first word is read.
      read_q    <= '{valid: !clear_i.active && req_i.key_last, default: '0};
      at_q      <= '0;
      write_l_q <= 1'b0;
      j_q       <= '0;
      j_made_q  <= '0;
      j_write_q <= '0;
      early_o   <= 1'b0;
      done_o    <= 1'b0;
    end else begin
      if (read_q.valid) begin
        if (read_q.i == {final_i, 1'b1}) begin
          read_q.i     <= '0;
          read_q.pass  <= read_q.pass + 2'd1;
          read_q.valid <= !read_q.pass[1];
        end else begin
          read_q.i <= read_q.i + 6'd1;
        end
      end
      at_q <= {at_q[2:1], read_q};
      if (step) j_q <= j_q == j_last_q ? '0 : j_q + 3'd1;
      j_made_q  <= j_q;
      j_write_q <= j_made_q;
      write_l_q <= at_q[3].valid;
      if (at_q[3].pass == 2'd2 && at_q[3].i == '0) early_o <= 1'b1;
      if (at_q[3].pass == 2'd2 && at_q[3].i == {final_i, 1'b0}) done_o <= 1'b1;
    end
    if (clear_i.active) j_last_q <= '0;
    else if (req_i.key_valid) j_last_q <= 3'(req_i.key_len[5:2] - 4'd1);
  end

  // -- sums and rotations -----------------------------------------------------------------------------------

  word_t a, b, s_q, l;
  word_t za_q, lb_q, b_q;

  assign a = {za_q[28:0], za_q[31:29]};
  assign b = rotl(a + lb_q, a[4:0] + b_q[4:0]);

  always_ff @(posedge clk_i) begin
    if (clear_i.active || req_i.key_valid || !step) begin
      za_q <= '0;
      lb_q <= '0;
      b_q  <= '0;
    end else begin
      za_q <= b + (a + s_q);
      lb_q <= b + l;
      b_q  <= b;
    end
  end

  // -- the user's key ---------------------------------------------------------------------------------------

  word_t [1:0] l_read;

  for (genvar n = 0; n < 2; n++) begin : gen_l
    ram_logic #(
      .Width(32),
      .Depth(4),
      .Quiet(1'b1)
    ) u_l (
      .clk_i,
      .clear_i,
      .write_i     (req_i.key_valid || (write_l_q && j_write_q[0] == 1'(n))),
      .write_at_i  (req_i.key_valid ? req_i.key_index[1:0] : j_write_q[2:1]),
      .write_data_i(req_i.key_valid ? req_i.key[32*n+:32] : b_q),
      .read_at_i   (j_q[2:1]),
      .read_data_o (l_read[n])
    );
  end

  assign l = l_read[j_q[0]];

  // -- words between the passes, and, in the upper half, what the first pass starts from --------------------

  (* ram_style = "block", no_rw_check *)
  word_t work[128];
  word_t s_raw_q;
  logic work_write;
  logic [5:0] work_at;

  initial begin
    for (int unsigned k = 0; k < 128; k++) work[k] = '0;
    for (int unsigned k = 0; k < Words; k++) work[64+k] = P + 32'(k) * Q;
  end

  // What is to be written is zero from the second clock of a clear on; word 0 comes again then.
  assign work_write = clear_i.active || at_q[3].valid;
  assign work_at    = clear_i.active ? clear_i.index[5:0] : at_q[3].i;

  always_ff @(posedge clk_i) begin
    if (work_write) work[{1'b0, work_at}] <= a;
    s_raw_q <= work[{read_q.pass=='0, read_q.i}];
    s_q     <= s_raw_q;
  end

  // -- the expanded key -------------------------------------------------------------------------------------

  logic keep, lead;
  logic  [4:0] pair;
  word_t [1:0] pair_q;

  assign keep   = at_q[3].valid && at_q[3].pass[1];
  assign pair   = at_q[3].i[5:1];
  assign lead   = pair == '0;
  assign even_o = pair_q[0];
  assign odd_o  = pair_q[1];

  for (genvar n = 0; n < 2; n++) begin : gen_pair
    (* ram_style = "block", no_rw_check *)
    word_t words [32];
    logic  write;

    assign write = clear_i.active || (keep && at_q[3].i[0] == (1'(n) ^ lead));

    always_ff @(posedge clk_i) begin
      if (write) words[clear_i.active?clear_i.index[4:0] : pair] <= a;
      pair_q[n] <= words[pair_i];
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The key schedule for rc6_ring, beside the blocks under other keys, and the memories of the expanded keys of all
// contexts. It is
//   A = S[i] = (S[i] + A + B) <<< 3,   B = L[j] = (L[j] + A + B) <<< (A + B),
// 132 times, two clocks each. Sums with what is known early are made early:
//   first clock    A = za <<< 3, to be written; w = (A + lb) <<< (A + B), by the low three bits; sa = A + S[i+1]
//   second clock   B = w <<< (A + B), the rest of it; za = B + sa; lb = B + L[j+1]
// The user's key L and the words S of the first two passes are in memories of their own; those of the last pass
// go to the memories of the context.
//
// Clocks from the last key beat until the key can be used: 270, whatever its length.
module rc6_ring_keys
  import core_pkg::*;
  import rc6_pkg::*;
#(
  parameter int unsigned Contexts = UsualContexts
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  ring_req_t req_i,

  // Pairs of words for the lanes and for the entrances, of what is in two stages, two clocks later.
  input  ring_stage_t       lane_i,
  output word_t       [1:0] lane_o,
  input  ring_stage_t       entry_i,
  output word_t       [1:0] entry_o,
  output logic              busy_o
);

  localparam int unsigned KeyBits = $clog2(Contexts);
  localparam int unsigned AddressBits = KeyBits + 5;
  localparam logic [4:0] Final = 5'(Rounds + 1);  // the last pair of words
  localparam logic [4:0] Nothing = '1;  // a pair of zeros

  // A word on its way through the schedule.
  typedef struct packed {
    logic       valid;
    logic [1:0] pass;
    logic [5:0] i;
  } at_t;

  // -- control --------------------------------------------------------------------------------------------

  logic started_q;  // not in the middle of a key's beats
  logic [KeyBits-1:0] context_q;
  logic second_q;  // the second clock of a step
  at_t read_q, made_q, write_q;  // the word that is read, the one whose sum is made, the one to be written
  logic written_q;  // the one before it was there
  logic [2:0] j_last_q, j_q, j_made_q, j_write_q;
  logic go, done;

  assign go   = made_q.valid || write_q.valid;
  assign done = second_q && write_q.valid && !made_q.valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_o <= 1'b0;
    else busy_o <= (req_i.key_valid || (busy_o && (read_q.valid || go || !started_q))) && !clear_i.active;
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      started_q <= 1'b1;
      context_q <= '0;
      second_q  <= 1'b0;
      read_q    <= '0;
      made_q    <= '0;
      write_q   <= '0;
      written_q <= 1'b0;
      j_last_q  <= '0;
      j_q       <= '0;
      j_made_q  <= '0;
      j_write_q <= '0;
    end else begin
      if (req_i.key_valid) started_q <= req_i.key_last;
      if (req_i.key_valid) begin
        second_q  <= 1'b0;
        read_q    <= at_t'{valid: req_i.key_last, default: '0};
        made_q    <= '0;
        write_q   <= '0;
        written_q <= 1'b0;
        context_q <= KeyBits'(req_i.key_context);
        j_last_q  <= 3'(req_i.key_len[5:2] - 4'd1);
        j_q       <= '0;
      end else begin
        second_q <= !second_q;
        if (second_q) begin
          made_q    <= read_q;
          write_q   <= done ? '0 : made_q;
          written_q <= write_q.valid;
          if (read_q.i == 6'(Words - 1)) begin
            read_q.i     <= '0;
            read_q.pass  <= read_q.pass + 2'd1;
            read_q.valid <= read_q.valid && !read_q.pass[1];
          end else begin
            read_q.i <= read_q.i + 6'd1;
          end
          if (go) j_q <= j_q == j_last_q ? '0 : j_q + 3'd1;
          j_made_q  <= j_q;
          j_write_q <= j_made_q;
        end
      end
    end
  end

  // -- the user's key ---------------------------------------------------------------------------------------

  word_t a, b, b_q;
  word_t [1:0] l_read;
  word_t l_q;

  for (genvar n = 0; n < 2; n++) begin : gen_l
    logic write;
    logic [1:0] write_at;

    assign write    = req_i.key_valid || (written_q && !second_q && j_write_q[0] == 1'(n));
    assign write_at = req_i.key_valid ? req_i.key_index[1:0] : j_write_q[2:1];

    ram_logic #(
      .Width(32),
      .Depth(4),
      .Quiet(1'b1)
    ) u_l (
      .clk_i,
      .clear_i,
      .write_i     (write),
      .write_at_i  (write_at),
      .write_data_i(req_i.key_valid ? req_i.key[32*n+:32] : b_q),
      .read_at_i   (j_q[2:1]),
      .read_data_o (l_read[n])
    );
  end

  // -- words between the passes, and, in the upper half, what the first pass starts from --------------------

  (* ram_style = "block", no_rw_check *)
  word_t work[128];
  word_t s_raw_q, s_q;
  logic s_write;
  logic [5:0] s_write_at;

  initial begin
    for (int unsigned k = 0; k < 128; k++) work[k] = '0;
    for (int unsigned k = 0; k < Words; k++) work[64+k] = P + 32'(k) * Q;
  end

  assign s_write    = clear_i.active || (write_q.valid && !second_q);
  assign s_write_at = clear_i.active ? clear_i.index[5:0] : write_q.i;

  always_ff @(posedge clk_i) begin
    if (s_write) work[{1'b0, s_write_at}] <= a;
    s_raw_q <= work[{read_q.pass=='0, read_q.i}];
  end

  // -- sums and rotations -----------------------------------------------------------------------------------

  word_t za_q, w_q, sa_q, lb_q;
  logic [4:0] amount;
  logic [4:3] amount_q;

  assign a      = {za_q[28:0], za_q[31:29]};
  assign amount = a[4:0] + b_q[4:0];
  assign b      = rotl(w_q, {amount_q, 3'b000});

  always_ff @(posedge clk_i) begin
    s_q <= s_raw_q;
    l_q <= l_read[j_q[0]];
    if (!go || req_i.key_valid) begin
      za_q     <= '0;
      w_q      <= '0;
      sa_q     <= '0;
      lb_q     <= '0;
      b_q      <= '0;
      amount_q <= '0;
    end else begin
      w_q      <= rotl(a + lb_q, {2'b00, amount[2:0]});
      amount_q <= amount[4:3];
      sa_q     <= a + s_q;
      b_q      <= b;
      za_q     <= b + sa_q;
      lb_q     <= b + l_q;
    end
  end

  // -- expanded keys ----------------------------------------------------------------------------------------

  // The first pair is wanted crosswise, and by the lanes the last one too. For the lanes all but that one are numbered
  // from behind: Rounds - pair.
  logic keep, first, final_, unused;
  logic [4:0] pair, lane_pair, entry_pair;

  // Both count turns from behind: encryption adds pair Rounds - left, decryption subtracts pair left for the next turn.
  always_comb begin
    lane_pair  = lane_i.left[4:0];
    entry_pair = entry_i.left[4:0];
    if (lane_i.decrypt) lane_pair = lane_i.first ? Final : Nothing;
    if (!entry_i.decrypt) entry_pair = entry_i.last ? Final : Nothing;
  end

  assign unused = ^{lane_i, entry_i};

  assign keep   = write_q.valid && write_q.pass[1] && !second_q;
  assign pair   = write_q.i[5:1];
  assign first  = pair == '0;
  assign final_ = pair == Final;

  for (genvar n = 0; n < 2; n++) begin : gen_memory
    ram_block #(
      .Width(32),
      .Depth(2 ** AddressBits),
      .Quiet(1'b1)
    ) u_lane (
      .clk_i,
      .clear_i,
      .write_i     (keep && write_q.i[0] == (1'(n) ^ first ^ final_)),
      .write_at_i  ({context_q, final_ ? pair : 5'(Rounds) - pair}),
      .write_data_i(a),
      .read_i      (1'b1),
      .read_at_i   ({lane_i.key[KeyBits-1:0], lane_pair}),
      .read_data_o (lane_o[n])
    );

    ram_block #(
      .Width(32),
      .Depth(2 ** AddressBits),
      .Quiet(1'b1)
    ) u_entry (
      .clk_i,
      .clear_i,
      .write_i     (keep && write_q.i[0] == (1'(n) ^ first)),
      .write_at_i  ({context_q, pair}),
      .write_data_i(a),
      .read_i      (1'b1),
      .read_at_i   ({entry_i.key[KeyBits-1:0], entry_pair}),
      .read_data_o (entry_o[n])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// MD5 compression for two messages at a time: a ring of two stages in which a step takes a turn of two clocks, and
// the messages take turns. The first stage adds and rotates by up to 3 places, the second one rotates by the rest
// and adds b. A block is begun when all of its words are there, so that no step ever waits; the words of the next
// one are taken meanwhile. As in md5_core the chaining states live in the memories of the front, and the state
// after a block starts the next one as its words become final.
//
// In the clock in which rsp_o.turn is w, all signals but idle are those of way w, and mean what they mean at
// md5_core, except that a block begins by itself and start is for a state without a block; stop has to be high for
// 2 clocks; state comes a clock after its index.
//
// Cycles per block: 130 for each way, and thus 65 with both at work.
module md5_ring
  import core_pkg::*;
  import md5_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  hash_req_t req_i,
  output hash_rsp_t rsp_o
);

  // A step's constant and word are read at count step, and it is computed at step + 3. The state's words are read
  // from count 63 on and added from 64 on, a before the others, as b passes through all of them.
  typedef logic [6:0] count_t;
  localparam count_t ReadCount = count_t'(63);

  typedef struct packed {
    logic       running;
    logic       drain;    // no next block: stop when the state is out
    logic       done;     // the state's words are sums after a block, not loaded ones
    count_t     count;
    logic [4:0] at;       // counts 64, 0, 1, 2, 3
    logic [1:0] read;     // the word of the state that is read: A, D, C, B
    logic       load;     // the word that has been read is one of the initial state, and which one
    logic [1:0] loaded;
    logic [4:0] write;    // where the next word of the message goes: half of the memory, and word
    logic [1:0] full;     // this half holds a block
    logic       half;     // of the block under way
    logic [3:0] step1;    // round and place among four, of the steps to come
    logic [3:0] step2;
    logic [1:0] round;    // of the step
    logic [1:0] fine;
    logic [1:0] coarse;
    logic [1:0] coarse1;  // of the step whose first half is done
    logic       valid;    // a word of the state is out
    logic       sum;
    logic       last;
    logic [1:0] index;
  } way_t;

  localparam way_t Reset = '{count: ReadCount, default: '0};

  // The way whose turn it is, and the other one, whose steps are half done.
  way_t here_q, here_d, away_q;

  logic turn_q, word_take;
  logic [1:0] idle_q, ready_q;  // ready is low in the other way's turn

  assign word_take = req_i.word_valid && ready_q != '0;

  always_comb begin
    here_d         = here_q;
    here_d.at      = {here_q.at[3:0], here_q.running && here_q.count == ReadCount};
    here_d.read    = {here_d.at[0] || here_d.at[1], here_d.at[0] || here_d.at[2]};
    here_d.load    = req_i.initial_state && !here_q.done;
    here_d.loaded  = here_q.read;
    here_d.step1   = {here_q.count[5:4], here_q.count[1:0]};
    here_d.step2   = here_q.step1;
    here_d.round   = here_q.step2[3:2];
    here_d.fine    = fine_rotation(here_q.step2[3:2], here_q.step2[1:0]);
    here_d.coarse  = here_q.step2[1:0];
    here_d.coarse1 = here_q.coarse;
    here_d.valid   = here_q.at[3:0] != '0 && (here_q.done || req_i.initial_state);
    here_d.sum     = here_q.done;
    here_d.last    = here_q.at[3] && here_q.done;
    here_d.index   = {here_q.at[1] || here_q.at[2], here_q.at[1] || here_q.at[3]};

    if (word_take) begin
      here_d.write = here_q.write + 5'd1;
      if (here_q.write[3:0] == '1) here_d.full[here_q.write[4]] = 1'b1;
    end
    if (!here_q.running) begin
      here_d.running = req_i.start || here_q.full[here_q.half];
      here_d.drain   = 1'b0;
      here_d.done    = 1'b0;
      here_d.count   = ReadCount;
    end else begin
      here_d.count = here_q.at[0] ? '0 : here_q.count + count_t'(1);
      if (here_q.at[0] && here_q.done) begin
        here_d.full[here_q.half] = 1'b0;
        here_d.half              = !here_q.half;
      end
      if (here_q.at[1]) here_d.drain = !here_q.full[here_q.half];
      if (here_q.at[3]) begin
        here_d.done = 1'b1;
        if (here_q.drain) here_d.running = 1'b0;
      end
    end
    if (req_i.stop) begin
      here_d.running = 1'b0;
      here_d.at      = '0;
      here_d.write   = '0;
      here_d.full    = '0;
      here_d.half    = 1'b0;
      here_d.valid   = 1'b0;
      here_d.last    = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      here_q  <= Reset;
      away_q  <= Reset;
      idle_q  <= '0;
      ready_q <= '0;
      turn_q  <= 1'b0;
    end else if (clear_i.active) begin
      here_q  <= Reset;
      away_q  <= Reset;
      idle_q  <= '0;
      ready_q <= '0;
      turn_q  <= 1'b0;
    end else begin
      away_q         <= here_d;
      here_q         <= away_q;
      idle_q[turn_q] <= !here_q.running && here_q.full == '0 && here_q.write[3:0] == '0;
      turn_q         <= !turn_q;
      ready_q        <= {!turn_q, turn_q} & {2{!away_q.full[away_q.write[4]]}};
    end
  end

  word_t sum_q;

  assign rsp_o = '{
      turn: turn_q,
      idle: idle_q,
      word_ready: ready_q,
      state_read: {1'b0, here_q.read},
      state_valid: here_q.valid,
      state_final: here_q.sum,
      state_last: here_q.last,
      state_index: {1'b0, here_q.index},
      state: sum_q
    };

  // -- the message ----------------------------------------------------------------------------------------

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  word_t sine[64];

  initial begin
    for (int unsigned i = 0; i < 64; i++) sine[i] = Sine[i];
  end

  logic write_q;
  logic [5:0] write_at_q, read_at_q, sine_at_q;
  word_t write_word_q, message, sine_read_q, sine_q;

  always_ff @(posedge clk_i) begin
    write_q      <= word_take;
    write_at_q   <= {turn_q, here_q.write};
    write_word_q <= req_i.word;
    read_at_q    <= {turn_q, here_q.half, word_index(here_q.count[5:0])};
    sine_at_q    <= here_q.count[5:0];
    sine_read_q  <= sine[sine_at_q];
    sine_q       <= sine_read_q;
  end

  // Two blocks of each way. What is read in the clock of its writing is undefined, and belongs to no step.
  ram_block #(
    .Width(32),
    .Depth(64),
    .Quiet(1'b1)
  ) u_message (
    .clk_i,
    .clear_i,
    .write_i     (write_q),
    .write_at_i  (write_at_q),
    .write_data_i(write_word_q),
    .read_i      (1'b1),
    .read_at_i   (read_at_q),
    .read_data_o (message)
  );

  // -- the steps ------------------------------------------------------------------------------------------

  // Of the way whose turn it is: the working variables, a with the step's constant and word, and those of the
  // step behind; the state's word, and the last sums.
  word_t b_q, c_q, d_q, mka_q, mk_q, state_q, sum1_q;
  // Of the other way, in the middle of the step.
  word_t b_m, c_m, mka_m, fine_m, sum_m, sum1_m, sum2_m;

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      {b_m, c_m, mka_m, fine_m, sum_m, sum1_m, sum2_m} <= '0;
    end else begin
      b_m    <= b_q;
      c_m    <= c_q;
      mka_m  <= d_q + mk_q;
      fine_m <= rotate_fine(mka_q + mix(here_q.round, b_q, c_q, d_q), here_q.fine);
      sum_m  <= state_q + b_q;
      sum1_m <= sum_q;
      sum2_m <= sum1_q;
    end

    // The new state: a in time to be added to the first word, and b last; to a loaded one nothing is added.
    if (!away_q.done) b_q <= '0;
    else b_q <= away_q.at[4] ? sum_m : b_m + rotate_coarse(fine_m, away_q.coarse1);
    c_q     <= away_q.at[3] || away_q.at[4] ? sum1_m : b_m;
    d_q     <= away_q.at[3] ? sum2_m : c_m;
    mka_q   <= mka_m;
    mk_q    <= message + sine_q;
    // To load an initial state is to read the constant.
    state_q <= away_q.load ? Initial[away_q.loaded] : req_i.state;
    sum_q   <= sum_m;
    sum1_q  <= sum1_m;
  end

endmodule

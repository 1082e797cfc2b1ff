// SPDX-License-Identifier: Apache-2.0
//
// Serpent, one block at a time, RoundsPerClock of its 32 rounds in a clock. The expanded key is kept in block
// memory for both directions.
//
// Cycles per block, feedback included (the next block enters in the clock in which the result leaves): 33 with
// one round in a clock, where a clock of its own for what enters makes all of them shorter; else
// 32 / RoundsPerClock. Key set-up: besides its beats a fresh key costs the first block, for 1, 2, 4 or 8 rounds
// in a clock, 6, 4, 12 or 16 clocks if it is encrypted, with the schedule running beside its rounds, and 38, 19,
// 19 or 19 if it is decrypted. Constant in time.
//
// A clear takes 68 clocks: 64 words of its memories, the first again when nothing comes any more, and what is read.
module serpent_core
  import core_pkg::*;
  import serpent_pkg::*;
#(
  // Rounds computed in one clock: 1, 2, 4 or 8.
  parameter int unsigned RoundsPerClock = 1,
  // 0: encryption only, which is all that CTR needs.
  parameter bit Decrypt = 1'b1,
  // Round keys computed in one clock: 1 or 2, and no more than rounds.
  parameter int unsigned KeysPerClock = RoundsPerClock > 1 ? 2 : 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  if (!(RoundsPerClock inside {1, 2, 4, 8})) begin : gen_illegal
    $error("serpent_core: RoundsPerClock must be 1, 2, 4 or 8");
  end
  if (KeysPerClock > RoundsPerClock) begin : gen_illegal_keys
    $error("serpent_core: there cannot be more keys in a clock than rounds");
  end

  localparam bit Load = RoundsPerClock == 1;  // a block enters in a clock of its own
  localparam int unsigned Passes = 32 / RoundsPerClock;
  localparam int unsigned Last = Load ? Passes : Passes - 1;  // clock of a block
  localparam int unsigned Steps = (33 + KeysPerClock - 1) / KeysPerClock;
  // From a step of the schedule until its keys can be read.
  localparam bit Registered = RoundsPerClock == 1;
  localparam int unsigned Latency = Registered ? 5 : 2;

  // The step in which the keys of a block's first clock are fetched, a clock in front of those of the next, and
  // so on: encryption begins so early that every fetch just finds its keys written.
  function automatic int unsigned start();
    start = 0;
    for (int unsigned c = 0; c <= Last; c++) begin
      int unsigned wanted;
      wanted = (Load ? c : RoundsPerClock * (c + 1)) / KeysPerClock + Latency;
      if (wanted > start + c) start = wanted - c;
    end
  endfunction

  localparam int unsigned StartEncrypt = start();
  localparam int unsigned StartDecrypt = Steps - 1 + Latency;

  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic other;  // the next block wants the other direction
  logic accept, active, last;
  logic busy_q, valid_q;
  logic [5:0] clock_q;  // of this block

  // -- keys -----------------------------------------------------------------------------------------------

  logic [5:0] step;
  logic keys_valid;
  logic [5:0] keys_round;
  block_t [KeysPerClock-1:0] plain, merged;
  logic fetch;
  logic may_fetch;
  logic [1:0] filled_q;  // clocks whose keys are here
  logic [5:0] next_q;  // the clock whose keys are to be fetched next
  block_t [RoundsPerClock-1:0] keys, enc_keys;
  block_t enc_door, dec_door;

  serpent_key_schedule #(
    .KeysPerClock(KeysPerClock),
    .Registered  (Registered)
  ) u_key_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    .key_i   (core_key(req_i)),
    .step_o  (step),
    .valid_o (keys_valid),
    .round_o (keys_round),
    .plain_o (plain),
    .merged_o(merged)
  );

  serpent_core_keys #(
    .RoundsPerClock(RoundsPerClock),
    .KeysPerClock  (KeysPerClock),
    .Load          (Load)
  ) u_keys (
    .clk_i,
    .clear_i,
    .valid_i   (keys_valid),
    .round_i   (keys_round),
    .plain_i   (plain),
    .merged_i  (merged),
    .read_i    (fetch),
    .decrypt_i (Decrypt && decrypt_q),
    .clock_i   (next_q),
    .key_o     (keys),
    .enc_door_o(enc_door),
    .dec_door_o(dec_door)
  );

  for (genvar r = 0; r < RoundsPerClock; r++) begin : gen_order
    assign enc_keys[r] = keys[(r+1)%RoundsPerClock];
  end

  assign may_fetch          = step >= 6'(decrypt_q ? StartDecrypt : StartEncrypt);
  assign fetch              = active || (filled_q != 2'd2 && may_fetch && !other);

  // -- control --------------------------------------------------------------------------------------------

  assign rsp_o.result_valid = valid_q;
  assign rsp_o.block_ready  = filled_q == 2'd2 && !busy_q && !other && (!valid_q || req_i.result_ready);
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  assign other              = Decrypt && !busy_q && req_i.decrypt != decrypt_q;
  assign decrypt_d          = decrypt_q ^ other;

  assign active             = accept || busy_q;
  assign last               = active && clock_q == 6'(Last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= (last || (valid_q && !req_i.result_ready)) && !clear_i.active;
    end
  end

  // In the first clock behind a reset they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      decrypt_q <= 1'b0;
      busy_q    <= 1'b0;
      clock_q   <= '0;
      filled_q  <= '0;
      next_q    <= '0;
    end else begin
      decrypt_q <= decrypt_d;
      if (active) begin
        busy_q  <= !last;
        clock_q <= last ? '0 : clock_q + 6'd1;
      end
      if (req_i.key_valid || other) begin
        filled_q <= '0;
        next_q   <= '0;
      end else if (fetch) begin
        filled_q <= filled_q == 2'd2 ? 2'd2 : filled_q + 2'd1;
        next_q   <= next_q == 6'(Last) ? '0 : next_q + 6'd1;
      end
    end
  end

  // -- data path ------------------------------------------------------------------------------------------

  block_t enc_sub, dec_sub, block_q;

  serpent_rounds #(
    .Rounds(RoundsPerClock),
    .Load  (Load)
  ) u_encrypt (
    .clk_i,
    .clear_i (clear_i.active),
    .enable_i(active),
    .door_i  (enc_door),
    .keys_i  (enc_keys),
    .enter_i (!busy_q),
    .block_i (req_i.block),
    .sub_o   (enc_sub)
  );

  if (Decrypt) begin : gen_decrypt
    block_t [RoundsPerClock-1:0] dec_keys;

    for (genvar r = 0; r < RoundsPerClock; r++) begin : gen_order
      assign dec_keys[r] = keys[RoundsPerClock-1-r];
    end

    serpent_rounds #(
      .Rounds (RoundsPerClock),
      .Inverse(1'b1),
      .Load   (Load)
    ) u_decrypt (
      .clk_i,
      .clear_i (clear_i.active),
      .enable_i(active),
      .door_i  (dec_door),
      .keys_i  (dec_keys),
      .enter_i (!busy_q),
      .block_i (req_i.block),
      .sub_o   (dec_sub)
    );
  end else begin : gen_no_decrypt
    logic unused_door;
    assign unused_door = ^dec_door;
    assign dec_sub = '0;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) block_q <= '0;
    else if (last) block_q <= (Decrypt && decrypt_q ? dec_sub : enc_sub) ^ keys[0];
  end

  assign rsp_o.result = block_q;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Serpent, one block at a time, each of the eight rounds of a pass with its own S-box: RoundsPerClock of them
// in a clock, four passes a block. The expanded key is kept in block memory for both directions. With one
// block in feedback most is gained from the area by eight rounds in a clock: all the S-boxes are there anyway,
// and registers between them would cost time only.
//
// Cycles per block: 32 / RoundsPerClock, feedback included: the next block enters in the clock in which the
// result leaves. Key set-up with RoundsPerClock = 8 and KeysPerClock = 2: besides its beats a fresh key costs
// the first block 16 clocks if it is encrypted, with the schedule running beside its rounds, and 19 if it is
// decrypted. Constant in time.
module serpent_core
  import serpent_pkg::*;
#(
  // Rounds computed in one clock: 1, 2, 4 or 8.
  parameter int unsigned RoundsPerClock = 8,
  // 0: encryption only, which is all that CTR needs.
  parameter bit Decrypt = 1'b1,
  // Round keys computed in one clock: 1 or 2.
  parameter int unsigned KeysPerClock = 2
) (
  input logic clk_i,
  input logic rst_ni,
  // Forgets key and state: what a key left in memory is overwritten as by another key.
  input logic wipe_i,

  input logic        key_valid_i,
  input logic [63:0] key_i,
  input logic [ 2:0] key_index_i,
  input logic        key_last_i,
  input logic [ 5:0] key_len_i,
  input logic        key_decrypt_i,

  input  logic   block_valid_i,
  output logic   block_ready_o,
  input  block_t block_i,
  input  logic   decrypt_i,

  output logic   block_valid_o,
  input  logic   block_ready_i,
  output block_t block_o
);

  if (!(RoundsPerClock inside {1, 2, 4, 8})) begin : gen_illegal
    $error("serpent_core: RoundsPerClock must be 1, 2, 4 or 8");
  end

  localparam int unsigned Clocks = 8 / RoundsPerClock;  // of a pass
  localparam int unsigned Steps = (33 + KeysPerClock - 1) / KeysPerClock;

  // Keys of two passes wait in registers, and another pass is fetched whenever one ends. Encryption begins so
  // early that every fetch just finds its keys written. With s steps behind us pass 0 is fetched, in the next
  // clock pass 1, with the end of pass 0 pass 2, and Clocks later pass 3 and the last round key.
  function automatic int unsigned start();
    start = 0;
    for (int unsigned p = 0; p < 4; p++) begin
      int unsigned late, wanted;
      late   = p < 2 ? p : 1 + (p - 1) * Clocks;
      wanted = p == 3 ? Steps : 8 * (p + 1) / KeysPerClock;
      if (wanted > start + late) start = wanted - late;
    end
  endfunction

  localparam int unsigned Start = start();

  logic purge_q;  // the first clock after a reset
  logic wipe;
  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic accept, active, last;
  logic busy_q, valid_q;
  logic [1:0] pass_q;
  logic [2:0] clock_q;  // of this pass
  logic pass_end;

  assign wipe = wipe_i || purge_q;

  // -- keys -----------------------------------------------------------------------------------------------

  logic [5:0] step;
  logic keys_valid;
  logic [5:0] keys_round;
  block_t [KeysPerClock-1:0] plain, merged;
  logic fetch;
  logic may_fetch;
  logic [1:0] filled_q;  // passes whose keys are here
  logic [1:0] next_q;  // the pass to be fetched next
  block_t [8:0] keys;

  serpent_key_schedule #(
    .KeysPerClock(KeysPerClock)
  ) u_key_schedule (
    .clk_i,
    .rst_ni,
    .wipe_i     (wipe),
    .key_valid_i,
    .key_i,
    .key_index_i(key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .step_o     (step),
    .valid_o    (keys_valid),
    .round_o    (keys_round),
    .plain_o    (plain),
    .merged_o   (merged)
  );

  serpent_key_memory #(
    .KeysPerClock(KeysPerClock),
    .Decrypt     (Decrypt)
  ) u_key_memory (
    .clk_i,
    .valid_i  (keys_valid),
    .place_i  (1'b0),
    .round_i  (keys_round),
    .plain_i  (plain),
    .merged_i (merged),
    .read_i   ({9{fetch}}),
    .address_i({9{1'b0, Decrypt && decrypt_q, next_q}}),
    .key_o    (keys)
  );

  // In step s the keys of s - 1 steps can be read.
  assign may_fetch = step >= 6'(decrypt_q ? Steps + 1 : Start + 1);
  assign fetch     = pass_end || (filled_q != 2'd2 && may_fetch && !turn);

  // The beats say where they belong, and which direction comes first shows in time.
  logic unused;
  assign unused        = ^{key_decrypt_i, key_index_i[2]};

  // -- control --------------------------------------------------------------------------------------------

  assign block_valid_o = valid_q;
  assign block_ready_o = filled_q == 2'd2 && !busy_q && !turn && (!valid_q || block_ready_i);
  assign accept        = block_valid_i && block_ready_o;

  assign turn          = Decrypt && !busy_q && decrypt_i != decrypt_q;
  assign decrypt_d     = decrypt_q ^ turn;

  assign active        = accept || busy_q;
  assign pass_end      = active && clock_q == 3'(Clocks - 1);
  assign last          = pass_end && pass_q == 2'd3;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q   <= 1'b1;
      decrypt_q <= 1'b0;
      busy_q    <= 1'b0;
      valid_q   <= 1'b0;
      pass_q    <= '0;
      clock_q   <= '0;
      filled_q  <= '0;
      next_q    <= '0;
    end else begin
      purge_q   <= 1'b0;
      decrypt_q <= decrypt_d;
      valid_q   <= (last || (valid_q && !block_ready_i)) && !wipe;
      if (wipe) begin
        busy_q  <= 1'b0;
        pass_q  <= '0;
        clock_q <= '0;
      end else if (active) begin
        busy_q  <= !last;
        pass_q  <= pass_q + 2'(pass_end);
        clock_q <= pass_end ? '0 : clock_q + 3'd1;
      end
      if (wipe || key_valid_i || turn) begin
        filled_q <= '0;
        next_q   <= '0;
      end else if (fetch) begin
        filled_q <= filled_q == 2'd2 ? 2'd2 : filled_q + 2'd1;
        next_q   <= next_q + 2'd1;
      end
    end
  end

  // -- data path ------------------------------------------------------------------------------------------

  block_t enc_sub, dec_sub, block_q;

  serpent_encrypt #(
    .RoundsPerClock(RoundsPerClock)
  ) u_encrypt (
    .clk_i,
    .wipe_i  (wipe),
    .enable_i(active),
    .head_i  (keys[8]),
    .keys_i  (keys[6:0]),
    .enter_i (!busy_q),
    .block_i,
    .sub_o   (enc_sub)
  );

  if (Decrypt) begin : gen_decrypt
    serpent_decrypt #(
      .RoundsPerClock(RoundsPerClock)
    ) u_decrypt (
      .clk_i,
      .wipe_i  (wipe),
      .enable_i(active),
      .head_i  (keys[8]),
      .keys_i  (keys[7:0]),
      .enter_i (!busy_q),
      .block_i,
      .sub_o   (dec_sub)
    );
  end else begin : gen_no_decrypt
    assign dec_sub = '0;
  end

  // No reset of its own: the first clock after a reset wipes it.
  always_ff @(posedge clk_i) begin
    if (wipe) block_q <= '0;
    else if (last) block_q <= (Decrypt && decrypt_q ? dec_sub : enc_sub) ^ keys[7];
  end

  assign block_o = block_q;

endmodule

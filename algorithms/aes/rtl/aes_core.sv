// SPDX-License-Identifier: Apache-2.0
//
// AES (FIPS 197), one round per clock, key schedule on the fly. The S-box lookups hold the state: a round is
// what lies between their outputs and their inputs. Decryption is the equivalent inverse cipher (5.3.5), its
// round keys passed through InvMixColumns as they are read, so that both directions share one data path.
//
// Cycles per block: 11, 13 or 15 for 128, 192 or 256 key bits, feedback included: the next block enters in
// the clock in which the result leaves. Key set-up: a block can be taken 3 clocks after the last key beat for
// encryption, which is when its two beats have come at the earliest, and rounds + 3 clocks after it for the
// first decryption with a key. Both depend on the key size only.
module aes_core
  import core_pkg::*;
  import aes_pkg::*;
#(
  // SBoxEbr or SBoxTower.
  parameter int unsigned SBox       = SBoxEbr,
  // 0: encryption only, which is all that CTR needs.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  if (!(MaxKeyBits inside {128, 192, 256})) begin : gen_illegal
    $error("aes_core: MaxKeyBits must be 128, 192 or 256");
  end

  // Without decryption the block RAMs have room for a table that makes the last round like all others.
  localparam bit LastAsOthers = SBox == SBoxEbr && !Decrypt;

  logic decrypt_d, decrypt_q;  // direction of the block inside, or of the one that may enter
  logic turn;  // the next block wants the other direction
  logic accept;
  logic busy_d, busy_q;
  logic last_d, last_q;  // this clock computes the last round
  logic valid_q;

  logic primed_q;  // key_q is the first round key of decrypt_q
  logic fetch;
  logic middle;
  logic [3:0] rounds, first, final_;
  logic [3:0] index_d, index_q;  // the round key that key_q takes next
  logic ready_first, ready_all;
  block_t fetched, key_d, key_q;

  block_t block_q;
  block_t y;  // what the S-boxes give for the state in the last round
  block_t round;  // the state after this round, before the next ShiftRows
  block_t state_d;

  aes_key_schedule #(
    .SBox      (SBox),
    .MaxKeyBits(MaxKeyBits)
  ) u_key_schedule (
    .clk_i,
    .rst_ni,
    .clear_i,
    // It needs no warning of decryption: it always runs to the end.
    .key_i        (core_key(req_i)),
    .rounds_o     (rounds),
    .ready_all_o  (ready_all),
    .ready_first_o(ready_first),
    .index_i      (index_q),
    .round_key_o  (fetched)
  );

  // -- control --------------------------------------------------------------------------------------------

  assign rsp_o.result_valid = valid_q;
  assign rsp_o.result       = block_q;
  assign rsp_o.block_ready  = primed_q && !busy_q && !turn && (!valid_q || req_i.result_ready);
  assign accept             = req_i.block_valid && rsp_o.block_ready;

  assign turn               = Decrypt && !busy_q && req_i.decrypt != decrypt_q;
  assign decrypt_d          = decrypt_q ^ turn;
  assign busy_d             = accept || (busy_q && !last_q);
  assign last_d             = (accept || (busy_q && !last_q)) && index_q == final_;

  // Round keys are fetched in a ring: while the last round runs, the first key of the next block comes.
  assign fetch              = accept || busy_q || (!primed_q && (decrypt_q ? ready_all : ready_first));
  assign first              = decrypt_q ? rounds : 4'd0;
  assign final_             = decrypt_q ? 4'd0 : rounds;
  assign middle             = Decrypt && decrypt_q && index_q != first && index_q != final_;

  always_comb begin
    index_d = index_q;
    if (req_i.key_valid || turn) index_d = decrypt_d ? rounds : 4'd0;
    else if (fetch && index_q == final_) index_d = first;
    else if (fetch) index_d = decrypt_q ? index_q - 4'd1 : index_q + 4'd1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      valid_q  <= 1'b0;
      primed_q <= 1'b0;
    end else if (clear_i.active) begin
      busy_q   <= 1'b0;
      valid_q  <= 1'b0;
      primed_q <= 1'b0;
    end else begin
      busy_q   <= busy_d;
      valid_q  <= last_q || (valid_q && !req_i.result_ready);
      primed_q <= (primed_q || fetch) && !req_i.key_valid && !turn;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      decrypt_q <= 1'b0;
      last_q    <= 1'b0;
      index_q   <= '0;
    end else begin
      decrypt_q <= decrypt_d;
      last_q    <= last_d;
      index_q   <= index_d;
    end
  end

  // -- data path, column by column ------------------------------------------------------------------------

  for (genvar c = 0; c < 4; c++) begin : gen_column
    word_t x_c, y_c, fetched_c, s_c, correction, at_rest, entering, own;
    // Kept, or they would be dissolved in the larger sums they are part of, and those made anew for each row.
    (* keep *)logic [ 7:0] sum;
    (* keep *)logic [31:0] block_c;

    assign y[32*c+:32] = y_c;
    assign block_c = req_i.block[32*c+:32];

    // In decryption the round keys between first and last go through InvMixColumns (5.3.5).
    assign fetched_c = fetched[32*c+:32];
    assign key_d[32*c+:32] = middle ? inv_mix_word(fetched_c) : fetched_c;

    // MixColumns, 2 s[r] + 3 s[r+1] + s[r+2] + s[r+3], is 3 s[r] + 2 s[r+1] and the sum of all s, which the four
    // rows share: x[r] + x[r+1] + y[r] and the sum of all y if y = s. What that lacks of InvMixColumns,
    // 14 t[r] + 11 t[r+1] + 13 t[r+2] + 9 t[r+3], is
    //   12 t[r] + 4 t[r+2]                           if y = 9t, with block RAM,
    //   12 t[r] + 8 t[r+1] + 12 t[r+2] + 8 t[r+3]    if y = t, with logic.
    always_comb begin
      correction = x_c ^ ror16(x_c);
      if (SBox == SBoxEbr) correction ^= xtime_word(x_c);
      else correction ^= xtime_word(correction ^ ror8(correction));
      correction = Decrypt && decrypt_q ? xtime_word(correction) : '0;
    end

    // A block enters over lookups at rest; the rows of MixColumns sum to 1, so it sees one of them.
    assign at_rest = SBox == SBoxTower && !decrypt_q ? {4{sub_byte(8'h00)}} : '0;
    assign entering = busy_q ? '0 : block_c ^ at_rest;

    assign s_c = LastAsOthers ? y_c ^ x_c : y_c;
    assign sum = LastAsOthers && last_q ? '0 : s_c[7:0] ^ s_c[15:8] ^ s_c[23:16] ^ s_c[31:24];
    assign own = (LastAsOthers ? y_c : y_c ^ x_c) ^ ror8(x_c);
    assign round[32*c+:32] = {4{sum}} ^ own ^ correction ^ (key_q[32*c+:32] ^ entering);

    // ShiftRows: row r of column c comes from column c+r, or c-r in decryption.
    for (genvar r = 0; r < 4; r++) begin : gen_row
      localparam int unsigned At = 32 * c + 8 * r;
      localparam int unsigned Enc = 32 * ((c + r) % 4) + 8 * r;
      localparam int unsigned Dec = 32 * ((c + 4 - r) % 4) + 8 * r;

      assign state_d[At+:8] = Decrypt && decrypt_q ? round[Dec+:8] : round[Enc+:8];
    end

    aes_sbox #(
      .SBox   (SBox),
      .Decrypt(Decrypt),
      .Triple (LastAsOthers)
    ) u_sbox (
      .clk_i,
      .look_i('{rest: !busy_d, decrypt: decrypt_q, last: last_d, a: state_d[32*c+:32]}),
      .sub_o ({x_c, y_c})
    );
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) key_q <= '0;
    else if (fetch) key_q <= key_d;
    if (clear_i.active) block_q <= '0;
    else if (last_q) block_q <= LastAsOthers ? round : y ^ key_q;
  end

endmodule

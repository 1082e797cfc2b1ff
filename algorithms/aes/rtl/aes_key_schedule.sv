// SPDX-License-Identifier: Apache-2.0
//
// The key schedule (FIPS 197, 5.2) for every key size. A window of the newest words runs through the
// schedule by itself as soon as the key is there, one round key per clock, and writes it into a memory of 16
// round keys. That is as fast as encryption reads them, so encryption may start with the first one while the
// rest is still to come; decryption waits for the last. Later blocks of either direction read the memory.
//
// Round key r can be read from r + 2 clocks after the last key beat on.
module aes_key_schedule
  import core_pkg::*;
  import aes_pkg::*;
#(
  parameter int unsigned SBox       = SBoxEbr,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // The key, two words a beat, the first beat with index 0.
  input key_beat_t key_i,

  // Index of the last round key: 10, 12 or 14.
  output logic [3:0] rounds_o,
  // All round keys up to the last can be read; the first can be read.
  output logic       ready_all_o,
  output logic       ready_first_o,

  input  logic   [3:0] index_i,
  output block_t       round_key_o
);

  localparam int unsigned Words = MaxKeyBits / 32;

  // How the window of Nk words steps by four. Only AES-192 needs to count: its S-box falls on the first word
  // of one step, on the third of the next, and on none of the one after.
  typedef enum logic [1:0] {
    SubFirst,
    SubThird,
    SubNone
  } sub_e;

  word_t [Words-1:0] window_d, window_q;
  word_t [3:0] rest, enter;
  word_t sub_address, sub_x, sub_y, rcon;
  byte_t rcon_q;
  sub_e sub_d, sub_q;
  logic rotate_d, rotate_q;  // the step applies RotWord and Rcon; AES-256 does so every other time
  logic is192, is256;
  logic mix0, mix2;
  logic [3:0] rounds, rounds_q;
  logic [3:0] step_q;  // the round key now in the window
  logic       running_q;  // it is to be written

  // With one key size it is a constant.
  assign rounds = MaxKeyBits == 128 ? 4'd10 : rounds_q;

  assign is192  = MaxKeyBits >= 192 && rounds_q == 4'd12;
  assign is256  = MaxKeyBits >= 256 && rounds_q == 4'd14;

  // Of the next four words, w[i] = w[i-Nk] ^ (w[i-1] or a function of it): all that does not wait for the S-box,
  // and which of them the S-box changes.
  always_comb begin
    mix0    = !is192 || sub_q == SubFirst;
    mix2    = !is192 || sub_q != SubNone;
    rcon    = {24'h0, rotate_q ? rcon_q : 8'h00};
    rest[0] = window_q[0] ^ (mix0 ? rcon : window_q[Words>4?5 : 0]);
    rest[1] = window_q[1] ^ rest[0];
    rest[2] = window_q[2] ^ (is192 && sub_q == SubThird ? rcon : rest[1]);
    rest[3] = window_q[3] ^ rest[2];
  end

  // A key beat takes the way of new words. Only the last of them has to be quick, to the S-box. Of four words,
  // the second and the third are told which beat is theirs, though it would do no harm if both took both: that
  // keeps synthesis from making every word anew from the ones before it.
  logic take1, take2;
  assign take1 = key_i.valid && !(Words == 4 && key_i.index[0]);
  assign take2 = key_i.valid && (Words != 4 || key_i.index[0]);

  always_comb begin
    enter[0] = key_i.valid ? key_i.data[31:0] : rest[0] ^ (sub_y & {32{mix0}});
    enter[1] = take1 ? key_i.data[63:32] : window_q[1] ^ enter[0];
    enter[2] = take2 ? key_i.data[31:0] : Words == 4 ? window_q[2] ^ enter[1] : rest[2] ^ (sub_y & {32{mix2}});
    enter[3] = key_i.valid ? key_i.data[63:32] : rest[3] ^ (sub_y & {32{mix2}});
    for (int unsigned i = 0; i < Words; i++) begin
      if (i >= 4) window_d[i] = is192 ? enter[(i+2)%4] : enter[i%4];
      else if (is256 && !key_i.valid) window_d[i] = window_q[(i+4)%Words];
      else if (is192 && !key_i.valid) window_d[i] = i < 2 ? window_q[(i+4)%Words] : enter[(i+2)%4];
      else window_d[i] = enter[i];
    end
  end

  // What the next step substitutes: the newest word, or, for the third word of a step, the second of it.
  always_comb begin
    sub_d    = SubFirst;
    rotate_d = 1'b1;
    if (is192 && !key_i.valid) begin
      unique case (sub_q)
        SubFirst: sub_d = SubThird;
        SubThird: sub_d = SubNone;
        default:  sub_d = SubFirst;
      endcase
      rotate_d = sub_d != SubNone;
    end else if (is256 && !key_i.valid) begin
      rotate_d = !rotate_q;
    end

    sub_address = enter[3];
    if (is192 && !key_i.valid && sub_d == SubThird) begin
      sub_address ^= window_q[Words>4?4 : 0] ^ window_q[Words>4?5 : 0];
    end
    // Without RotWord only AES-256 steps.
    if (MaxKeyBits < 256 || rotate_d) sub_address = ror8(sub_address);
  end

  aes_sbox #(
    .SBox   (SBox),
    .Decrypt(1'b0)
  ) u_sbox (
    .clk_i,
    .look_i('{rest: clear_i.active, decrypt: 1'b0, last: 1'b0, a: sub_address}),
    .sub_o ({sub_x, sub_y})
  );

  logic unused;
  assign unused = ^sub_x;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      step_q    <= '0;
    end else if (clear_i.active) begin
      running_q <= 1'b0;
      step_q    <= '0;
    end else if (key_i.valid) begin
      running_q <= key_i.last;
      step_q    <= '0;
    end else if (running_q) begin
      running_q <= step_q != 4'd15;
      step_q    <= step_q + 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      rounds_q <= 4'd10;
      sub_q    <= SubFirst;
      rotate_q <= 1'b1;
    end else begin
      if (key_i.valid) rounds_q <= 4'(key_i.len >> 2) + 4'd6;
      sub_q    <= sub_d;
      rotate_q <= rotate_d;
    end
    if (clear_i.active || key_i.valid) rcon_q <= 8'h01;
    else if (rotate_q) rcon_q <= xtime(rcon_q);
    for (int unsigned i = 0; i < Words; i++) begin
      if (clear_i.active) window_q[i] <= '0;
      else if (key_i.valid ? 32'(key_i.index) == i / 2 : running_q) window_q[i] <= window_d[i];
    end
  end

  ram_logic #(
    .Width(128),
    .Depth(16),
    .Quiet(1'b1)
  ) u_round_keys (
    .clk_i,
    .clear_i,
    .write_i     (running_q),
    .write_at_i  (step_q),
    .write_data_i(window_q[3:0]),
    .read_at_i   (index_i),
    .read_data_o (round_key_o)
  );

  assign rounds_o      = rounds;
  assign ready_first_o = !running_q || step_q != 4'd0;
  assign ready_all_o   = !running_q || step_q > rounds;

endmodule

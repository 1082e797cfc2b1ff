// SPDX-License-Identifier: Apache-2.0
//
// The key schedule (FIPS 197, 5.2) for aes_ring, a round key at a time, for keys of 128 bits only.
//
// Cycles from the last key beat to the last round key: 31, three for each.
module aes_ring_columns
  import core_pkg::*;
  import aes_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input key_beat_t key_i,

  output logic   running_o,
  // A round key, for one clock.
  output logic   valid_o,
  output block_t key_o
);

  logic running_q;
  logic [2:0] phase_q;  // one of three clocks of a round key
  logic [3:0] left_q;  // round keys behind this one
  byte_t rcon_q;
  word_t [3:0] window_q, next;
  word_t sub_in, sub_x, sub_y, sub_q;

  assign running_o = running_q;
  assign valid_o   = running_q && phase_q[0];
  assign key_o     = window_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) running_q <= 1'b0;
    else if (clear_i.active) running_q <= 1'b0;
    else if (key_i.valid) running_q <= key_i.last;
    else running_q <= running_q && !(phase_q[0] && left_q == '0);
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active || key_i.valid) begin
      phase_q <= 3'd1;
      left_q  <= 4'd10;
      rcon_q  <= 8'h01;
    end else if (running_q) begin
      phase_q <= {phase_q[1:0], phase_q[2]};
      if (phase_q[2]) begin
        left_q <= left_q - 4'd1;
        rcon_q <= xtime(rcon_q);
      end
    end
  end

  // w[0], w[0] ^ w[1] and so on, and the first of them changed.
  word_t change;
  assign change  = sub_q ^ {24'h0, rcon_q};
  assign next[0] = window_q[0] ^ change;
  assign next[1] = window_q[0] ^ window_q[1] ^ change;
  assign next[2] = window_q[0] ^ window_q[1] ^ window_q[2] ^ change;
  assign next[3] = window_q[0] ^ window_q[1] ^ window_q[2] ^ window_q[3] ^ change;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (clear_i.active) window_q[i] <= '0;
      else if (key_i.valid ? 32'(key_i.index) == i / 2 : running_q && phase_q[2])
        window_q[i] <= key_i.valid ? key_i.data[32*(i%2)+:32] : next[i];
    end
    // In the memory's output register, which has no reset: empty when the lookup has rested.
    sub_q <= sub_y;
  end

  assign sub_in = ror8(window_q[3]);

  aes_sbox #(
    .SBox   (SBoxEbr),
    .Decrypt(1'b0)
  ) u_sbox (
    .clk_i,
    .look_i('{rest: clear_i.active, decrypt: 1'b0, last: 1'b0, a: sub_in}),
    .sub_o ({sub_x, sub_y})
  );

  logic unused;
  assign unused = ^sub_x;

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Expanded keys of serpent_core: one block memory for each round of a clock, read together. Number b holds the
// round keys b mod RoundsPerClock, so that one copy serves both directions: the rounds of encryption take them
// upwards, beginning with number 1, those of decryption downwards, ending with number 0.
//
// A key is read two clocks after its address, with read_i in both (the memory's register and one behind it).
// What is written can be addressed in the next clock; nobody reads it in the same.
module serpent_core_keys
  import core_pkg::*;
  import serpent_pkg::*;
#(
  parameter int unsigned RoundsPerClock = 1,
  // Round keys in a clock.
  parameter int unsigned KeysPerClock   = 1,
  // The key of the door is read like the others, in a clock of its own, and not kept in registers; and what is
  // written is zero from the second clock of a clear on.
  parameter bit          Load           = 1'b1
) (
  input logic   clk_i,
  input clear_t clear_i,

  // As from serpent_key_schedule.
  input logic                      valid_i,
  input logic   [             5:0] round_i,
  input block_t [KeysPerClock-1:0] plain_i,
  input block_t [KeysPerClock-1:0] merged_i,

  input  logic                        read_i,
  input  logic                        decrypt_i,
  // Clock of the block.
  input  logic   [               5:0] clock_i,
  output block_t [RoundsPerClock-1:0] key_o,

  // What a block enters with, in encryption and in decryption.
  output block_t enc_door_o,
  output block_t dec_door_o
);

  localparam int unsigned Passes = 32 / RoundsPerClock;
  localparam int unsigned AddressBits = $clog2(Passes + 1);
  localparam int unsigned Last = Load ? Passes : Passes - 1;

  typedef logic [AddressBits-1:0] address_t;

  for (genvar b = 0; b < RoundsPerClock; b++) begin : gen_bank
    localparam int unsigned Bus = b % KeysPerClock;

    logic [5:0] round;
    logic write;
    address_t write_address, read_address;
    block_t data;

    // The first round key and the last are used as they are.
    assign round         = round_i | 6'(Bus);
    assign write         = valid_i && round % 6'(RoundsPerClock) == 6'(b);
    assign write_address = address_t'(round / 6'(RoundsPerClock));
    assign data          = round[4:0] == '0 ? plain_i[Bus] : merged_i[Bus];
    assign read_address  = address_t'(decrypt_i ? 6'(Last) - clock_i : clock_i + 6'(b == 0 && !Load));

    ram_block #(
      .Width(128),
      .Depth(2 ** AddressBits),
      .Quiet(Load)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i     (write),
      .write_at_i  (write_address),
      .write_data_i(data),
      .read_i,
      .read_at_i   (read_address),
      .read_data_o (key_o[b])
    );
  end

  if (Load) begin : gen_load
    assign enc_door_o = key_o[0];
    assign dec_door_o = key_o[0];
  end else begin : gen_door
    block_t enc_door_q, dec_door_q;

    always_ff @(posedge clk_i) begin
      if (clear_i.active) enc_door_q <= '0;
      else if (valid_i && round_i == 6'd0) enc_door_q <= plain_i[0];
      if (clear_i.active) dec_door_q <= '0;
      else if (valid_i && round_i == 6'd32) dec_door_q <= plain_i[0];
    end

    assign enc_door_o = enc_door_q;
    assign dec_door_o = dec_door_q;
  end

endmodule

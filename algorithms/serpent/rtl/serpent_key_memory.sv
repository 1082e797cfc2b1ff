// SPDX-License-Identifier: Apache-2.0
//
// Expanded keys of serpent_ring, in the form and at the place where the rounds want them. Nine block memories
// are read at once, one for each position in the ring of eight rounds and one for its door. Position m holds,
// for every pass, what is merged behind the m-th round: of encryption that is round key 8p + m + 1, of
// decryption, which passes the keys from behind, 8p + 7 - m. The very last comes out as it is, and so does what
// the door has: the first round key for encryption, the last for decryption.
//
// A key is read two clocks after its address. What is written can be addressed in the next clock, in the last
// position in the one behind it; nobody reads it in the same.
module serpent_key_memory
  import core_pkg::*;
  import serpent_pkg::*;
#(
  // Round keys in a clock: 1 or 2.
  parameter int unsigned KeysPerClock = 2,
  // Keys, a power of two.
  parameter int unsigned Contexts = 1,
  // 0: no keys for decryption.
  parameter bit Decrypt = 1'b1,

  localparam int unsigned NumberBits  = Contexts > 1 ? $clog2(Contexts) : 1,
  localparam int unsigned AddressBits = NumberBits + 3
) (
  input logic   clk_i,
  input clear_t clear_i,

  // As from serpent_key_schedule; zero from the second clock of a clear on.
  input logic                      valid_i,
  input logic   [  NumberBits-1:0] context_i,
  input logic   [             5:0] round_i,
  input block_t [KeysPerClock-1:0] plain_i,
  input block_t [KeysPerClock-1:0] merged_i,

  // For each position and, with number 8, the door: context, direction (1 decrypts) and pass.
  input  logic   [8:0][AddressBits-1:0] address_i,
  output block_t [8:0]                  key_o
);

  typedef logic [AddressBits-1:0] address_t;

  for (genvar m = 0; m < 9; m++) begin : gen_position
    // The round keys, mod 8, that are wanted here for either direction.
    localparam int unsigned Enc = m == 8 ? 0 : (m + 1) % 8;
    localparam int unsigned Dec = m == 8 ? 0 : 7 - m;
    localparam int unsigned Bus = Enc % KeysPerClock;

    logic [5:0] round;
    logic write;
    address_t write_address, read_address;
    block_t data;

    assign round = round_i | 6'(Bus);

    if (m == 7) begin : gen_last
      // In order, for both directions; round 0 ends decryption, round 32 encryption. A choice in front of a memory
      // takes long, and nobody waits for this one.
      always_ff @(posedge clk_i) begin
        write         <= valid_i && round[2:0] == '0 && (Decrypt || round[5:3] != '0);
        write_address <= {context_i, round[5:3]};
        data          <= round[4:0] == '0 ? plain_i[Bus] : merged_i[Bus];
      end
    end else if (m == 8) begin : gen_door
      assign write = valid_i && round[4:0] == '0 && (Decrypt || !round[5]);
      assign write_address = {context_i, round[5], 2'd0};
      assign data = plain_i[Bus];
    end else begin : gen_middle
      logic enc, dec;
      assign enc = round[2:0] == 3'(Enc);
      assign dec = Decrypt && round[2:0] == 3'(Dec);
      assign write = valid_i && !round[5] && (enc || dec);
      // In the middle both directions want the same.
      assign write_address = {context_i, !enc, enc ? round[4:3] : 2'd3 - round[4:3]};
      assign data = merged_i[Bus];
    end

    if (m == 3) begin : gen_shared
      logic decrypt;
      assign decrypt = address_i[m][2];
      assign read_address = {address_i[m][AddressBits-1:3], 1'b0, address_i[m][1:0] ^ {2{decrypt}}};
    end else if (m == 7) begin : gen_order
      logic decrypt;
      logic [1:0] pass;
      assign {decrypt, pass} = address_i[m][2:0];
      assign read_address = {address_i[m][AddressBits-1:3], decrypt ? {1'b0, ~pass} : 3'(pass) + 3'd1};
    end else begin : gen_apart
      assign read_address = address_i[m];
    end

    ram_block #(
      .Width(128),
      .Depth(2 ** AddressBits),
      .Quiet(1'b1)
    ) u_memory (
      .clk_i,
      .clear_i,
      .write_i     (write),
      .write_at_i  (write_address),
      .write_data_i(data),
      .read_i      (1'b1),
      .read_at_i   (read_address),
      .read_data_o (key_o[m])
    );
  end

endmodule

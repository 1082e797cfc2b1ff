// SPDX-License-Identifier: Apache-2.0
//
// Expanded keys of serpent_ring, in the form and at the place where the rounds want them. Nine block memories
// are read at once, one for each position in the ring of eight rounds and one for its door. Position m holds,
// for every pass, what is merged behind the m-th round: of encryption that is round key 8p + m + 1, of
// decryption, which passes the keys from behind, 8p + 7 - m. The very last comes out as it is, and so does what
// the door has: the first round key for encryption, the last for decryption.
//
// A key is read two clocks after its address, with read_i in both (the memory's register and one behind it).
// What is written can be addressed in the next clock; nobody reads it in the same.
module serpent_key_memory
  import serpent_pkg::*;
#(
  // Round keys in a clock: 1 or 2.
  parameter int unsigned KeysPerClock = 2,
  // Places for keys, a power of two.
  parameter int unsigned Places = 1,
  // 0: no keys for decryption.
  parameter bit Decrypt = 1'b1,

  localparam int unsigned PlaceBits   = Places > 1 ? $clog2(Places) : 1,
  localparam int unsigned AddressBits = PlaceBits + 3
) (
  input logic clk_i,

  // As from serpent_key_schedule.
  input logic                      valid_i,
  input logic   [   PlaceBits-1:0] place_i,
  input logic   [             5:0] round_i,
  input block_t [KeysPerClock-1:0] plain_i,
  input block_t [KeysPerClock-1:0] merged_i,

  // For each position and, with number 8, the door: place, direction (1 decrypts) and pass.
  input  logic   [8:0]                  read_i,
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
      // In order, for both directions; round 0 ends decryption, round 32 encryption.
      assign write = valid_i && round[2:0] == '0 && (Decrypt || round[5:3] != '0);
      assign write_address = {place_i, round[5:3]};
      assign data = round[4:0] == '0 ? plain_i[Bus] : merged_i[Bus];
    end else if (m == 8) begin : gen_door
      assign write = valid_i && round[4:0] == '0 && (Decrypt || !round[5]);
      assign write_address = {place_i, round[5], 2'd0};
      assign data = plain_i[Bus];
    end else begin : gen_middle
      logic enc, dec;
      assign enc = round[2:0] == 3'(Enc);
      assign dec = Decrypt && round[2:0] == 3'(Dec);
      assign write = valid_i && !round[5] && (enc || dec);
      // In the middle both directions want the same.
      assign write_address = {place_i, !enc, enc ? round[4:3] : 2'd3 - round[4:3]};
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

    (* ram_style = "block", no_rw_check *)
    block_t memory[2**AddressBits];
    block_t read_q, key_q;

    always_ff @(posedge clk_i) begin
      if (write) memory[write_address] <= data;
      if (read_i[m]) begin
        read_q <= memory[read_address];
        key_q  <= read_q;
      end
    end

    assign key_o[m] = key_q;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// AES (FIPS 197) as a ring of pipeline stages, with as many blocks inside, each under a key of its own, as the
// ring has slots: Unrolled rounds of four stages each. A block comes past the door every Unrolled rounds and
// leaves there after its last one, when another may take its slot. Decryption is the equivalent inverse cipher
// (5.3.5).
//
// Cycles: a block every 10, 12 or 14 / Unrolled clocks for 128, 192 or 256 key bits; 4 clocks a round + 4 from
// the block to its result. Key set-up: see aes_ring_keys.
module aes_ring
  import aes_pkg::*;
#(
  // Rounds in a row: 1, 2, and with keys of 128 bits only, 5 or 10.
  parameter int unsigned Unrolled   = 1,
  // 0: encryption only, which is all that CTR needs.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // Key places.
  parameter int unsigned Keys       = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  localparam int unsigned Stages   = 4,
  localparam int unsigned Ring     = Unrolled * Stages,
  localparam int unsigned TurnBits = $clog2(Ring),
  // A slot has two numbers, used in turn: its next block enters before the result of the one before is out.
  localparam int unsigned SlotBits = TurnBits + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wipe_i,

  input  logic               key_valid_i,
  input  logic [       63:0] key_i,
  input  logic [        2:0] key_index_i,
  input  logic               key_last_i,
  input  logic [        5:0] key_len_i,
  input  logic [KeyBits-1:0] key_place_i,
  output logic               key_busy_o,

  input  logic                  block_valid_i,
  output logic                  block_ready_o,
  input  block_t                block_i,
  input  logic                  decrypt_i,
  input  logic   [ KeyBits-1:0] block_place_i,
  output logic   [SlotBits-1:0] block_slot_o,

  output logic                  result_valid_o,
  output logic   [SlotBits-1:0] result_slot_o,
  output block_t                result_o
);

  if (!(MaxKeyBits inside {128, 192, 256})) begin : gen_illegal_key
    $error("aes_ring: MaxKeyBits must be 128, 192 or 256");
  end
  if (!(Unrolled inside {1, 2}) && !(Unrolled inside {5, 10} && MaxKeyBits == 128)) begin : gen_illegal_unrolled
    $error("aes_ring: Unrolled must divide the rounds of every key size");
  end

  typedef struct packed {
    logic               number;   // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               free;     // another block may enter when it comes to the door
    logic               last;     // this is the last turn
    logic [3:0]         left;     // turns behind this one
    logic               decrypt;
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the ring of slots, some clocks ahead of the data ------------------------------------------------------

  slot_t [Ring:1] slot_q;
  slot_t at_door, through;
  slot_t tail1_q, tail2_q;  // what came to the door, for the stages behind it
  logic [TurnBits-1:0] turn_q;  // which slot is at the door
  logic [3:0] turns;  // that a new block needs, less one
  logic enter, leave;

  assign at_door       = slot_q[Ring];
  assign block_ready_o = at_door.free;
  assign block_slot_o  = {!at_door.number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign leave         = at_door.valid && at_door.last;

  always_comb begin
    through = at_door;
    if (enter) begin
      through.number  = !at_door.number;
      through.valid   = 1'b1;
      through.last    = turns == '0;
      through.free    = turns == '0;
      through.left    = turns;
      through.decrypt = Decrypt && decrypt_i;
      through.place   = block_place_i;
    end else begin
      through.valid = at_door.valid && !at_door.last;
      through.last  = at_door.left == 4'd1;
      through.free  = at_door.free || at_door.left == 4'd1;
      through.left  = at_door.left - 4'd1;
    end
  end

  logic [4:1] leave_q;
  logic [4:1][SlotBits-1:0] leave_slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q <= '0;
      for (int unsigned i = 1; i <= Ring; i++) slot_q[i].free <= 1'b1;
      tail1_q      <= '0;
      tail2_q      <= '0;
      turn_q       <= '0;
      leave_q      <= '0;
      leave_slot_q <= '0;
    end else begin
      slot_q <= {slot_q[Ring-1:1], through};
      if (wipe_i) begin
        for (int unsigned i = 1; i <= Ring; i++) begin
          slot_q[i].valid <= 1'b0;
          slot_q[i].free  <= 1'b1;
        end
      end
      tail1_q      <= at_door;
      tail2_q      <= tail1_q;
      turn_q       <= turn_q == TurnBits'(Ring - 1) ? '0 : turn_q + TurnBits'(1);
      leave_q      <= {leave_q[3:1], leave};
      leave_slot_q <= {leave_slot_q[3:1], {at_door.number, turn_q}};
    end
  end

  assign result_valid_o = leave_q[4];
  assign result_slot_o  = leave_slot_q[4];

  // Stage s of round u, clocks after the slot's entry: for the last round, what came to the door.
  slot_t [Unrolled-1:0] look, fetch, mix;

  for (genvar u = 0; u < Unrolled; u++) begin : gen_slot
    assign look[u]  = slot_q[Stages*(u+1)-1];
    assign fetch[u] = slot_q[Stages*(u+1)];
    if (u == Unrolled - 1) begin : gen_last
      assign mix[u] = tail2_q;
    end else begin : gen_inner
      assign mix[u] = slot_q[Stages*(u+1)+2];
    end
  end

  // -- keys -----------------------------------------------------------------------------------------------

  block_t white;
  block_t [Unrolled-1:0] round_key;
  logic [Unrolled-1:0][3:0] fetch_left;
  logic [Unrolled-1:0] fetch_decrypt;
  logic [Unrolled-1:0][KeyBits-1:0] fetch_place;

  for (genvar u = 0; u < Unrolled; u++) begin : gen_fetch
    assign fetch_left[u]    = fetch[u].left;
    assign fetch_decrypt[u] = fetch[u].decrypt;
    assign fetch_place[u]   = fetch[u].place;
  end

  aes_ring_keys #(
    .Unrolled  (Unrolled),
    .Decrypt   (Decrypt),
    .MaxKeyBits(MaxKeyBits),
    .Keys      (Keys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i    (key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .key_place_i,
    .busy_o         (key_busy_o),
    .turns_place_i  (block_place_i),
    .turns_o        (turns),
    .white_place_i  (block_place_i),
    .white_decrypt_i(Decrypt && decrypt_i),
    .white_o        (white),
    .left_i         (fetch_left),
    .decrypt_i      (fetch_decrypt),
    .place_i        (fetch_place),
    .round_key_o    (round_key)
  );

  logic unused;
  assign unused = key_index_i[2];

  // -- data -----------------------------------------------------------------------------------------------

  // All data is forgotten within the clocks that it takes through the block memory.
  logic [2:0] purge_q;
  logic purge;
  assign purge = purge_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) purge_q <= '1;
    else purge_q <= {purge_q[1:0], wipe_i};
  end

  block_t block1_q, block2_q, entering_q;
  logic [3:1] enter_q;
  block_t [Unrolled-1:0] mixed, state;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enter_q <= '0;
    else enter_q <= {enter_q[2:1], enter};
  end

  always_ff @(posedge clk_i) begin
    if (purge) begin
      block1_q   <= '0;
      block2_q   <= '0;
      entering_q <= '0;
      result_o   <= '0;
    end else begin
      block1_q   <= block_i;
      block2_q   <= block1_q;
      entering_q <= block2_q ^ white;
      result_o   <= mixed[Unrolled-1] ^ round_key[Unrolled-1];
    end
  end

  for (genvar u = 0; u < Unrolled; u++) begin : gen_round
    // state[u] goes into round u.
    if (u == 0) begin : gen_first
      assign state[u] = enter_q[3] ? entering_q : mixed[Unrolled-1] ^ round_key[Unrolled-1];
    end else begin : gen_inner
      assign state[u] = mixed[u-1] ^ round_key[u-1];
    end

    aes_ring_round #(
      .Decrypt(Decrypt)
    ) u_round (
      .clk_i,
      .purge_i       (purge),
      .look_valid_i  (look[u].valid),
      .look_last_i   (u == Unrolled - 1 && look[u].last),
      .look_decrypt_i(look[u].decrypt),
      .state_i       (state[u]),
      .mix_last_i    (u == Unrolled - 1 && mix[u].last),
      .mix_decrypt_i (mix[u].decrypt),
      .mixed_o       (mixed[u])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Twofish as a ring of 16 pipeline stages that make one round, with as many blocks inside, each under a key of
// its own. The layers of q are looked up in block memory, three stages each; layers that a shorter key has not
// are lookups of the byte itself. A block comes past the door every 16 clocks, and leaves there after its last
// round, when another may take its slot.
//
// Cycles, for every key length and direction: a block every 16 clocks; from the block to its result 260 clocks.
// Key set-up: see twofish_ring_keys.
module twofish_ring
  import twofish_pkg::*;
#(
  // Key places.
  parameter int unsigned Keys = 8,

  localparam int unsigned KeyBits  = $clog2(Keys),
  localparam int unsigned Ring     = 16,
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

  typedef struct packed {
    logic               number;     // which of the slot's numbers is in use; kept when the slot is free
    logic               valid;
    logic               last;       // this is the last round
    logic [3:0]         left;       // rounds behind this one
    logic               decrypt;
    logic               short_key;  // a key of 16 bytes
    logic               long_key;   // a key of 32 bytes
    logic [KeyBits-1:0] place;
  } slot_t;

  // -- the ring of slots, four clocks ahead of the data ------------------------------------------------------

  slot_t [Ring:1] slot_q;
  slot_t at_door, through;
  slot_t [2:1] tail_q;  // what came to the door, for the stages behind it
  logic [TurnBits-1:0] turn_q;  // which slot is at the door
  logic entering_short, entering_long;
  logic enter, leave;

  assign at_door       = slot_q[Ring];
  assign block_ready_o = !at_door.valid || at_door.last;
  assign block_slot_o  = {!at_door.number, turn_q};
  assign enter         = block_valid_i && block_ready_o;
  assign leave         = at_door.valid && at_door.last;

  always_comb begin
    through = at_door;
    if (enter) begin
      through.number  = !at_door.number;
      through.valid   = 1'b1;
      through.last    = 1'b0;
      through.left    = 4'd15;
      through.decrypt = decrypt_i;
      through.short_key = entering_short;
      through.long_key = entering_long;
      through.place   = block_place_i;
    end else begin
      through.valid = at_door.valid && !at_door.last;
      through.last  = at_door.left == 4'd1;
      through.left  = at_door.left - 4'd1;
    end
  end

  logic [4:1] leave_q;
  logic [4:1][SlotBits-1:0] leave_slot_q;
  logic [3:1] enter_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q       <= '0;
      tail_q       <= '0;
      turn_q       <= '0;
      enter_q      <= '0;
      leave_q      <= '0;
      leave_slot_q <= '0;
    end else begin
      slot_q <= {slot_q[Ring-1:1], through};
      if (wipe_i) begin
        for (int unsigned i = 1; i <= Ring; i++) slot_q[i].valid <= 1'b0;
      end
      tail_q       <= {tail_q[1], at_door};
      turn_q       <= turn_q + TurnBits'(1);
      enter_q      <= {enter_q[2:1], enter};
      leave_q      <= {leave_q[3:1], leave};
      leave_slot_q <= {leave_slot_q[3:1], {at_door.number, turn_q}};
    end
  end

  assign result_valid_o = leave_q[4];
  assign result_slot_o  = leave_slot_q[4];

  // -- keys -----------------------------------------------------------------------------------------------

  block_t white_in, white_out;
  pair_t round_key;
  word_t [3:0] s;

  twofish_ring_keys #(
    .Keys(Keys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .wipe_i,
    .key_valid_i,
    .key_i,
    .key_index_i   (key_index_i[1:0]),
    .key_last_i,
    .key_len_i,
    .key_place_i,
    .busy_o        (key_busy_o),
    .length_place_i(block_place_i),
    .short_o       (entering_short),
    .long_o        (entering_long),
    .in_place_i    (block_place_i),
    .in_second_i   (decrypt_i),
    .in_o          (white_in),
    .out_place_i   (tail_q[1].place),
    .out_second_i  (!tail_q[1].decrypt),
    .out_o         (white_out),
    .round_place_i (at_door.place),
    .round_i       (at_door.left ^ {4{!at_door.decrypt}}),
    .round_key_o   (round_key),
    .s_place_i     ({slot_q[4].place, slot_q[7].place, slot_q[10].place, slot_q[13].place}),
    .s_o           (s)
  );

  logic unused;
  assign unused = key_index_i[2];

  // -- the way in -----------------------------------------------------------------------------------------

  // All data is forgotten in the clocks that it takes to overwrite the memory it waits in.
  logic [4:0] purge_q;
  logic purge;
  assign purge = purge_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) purge_q <= '1;
    else if (wipe_i) purge_q <= '1;
    else if (purge) purge_q <= purge_q - 5'd1;
  end

  block_t block_1_q, block_2_q, entering_q;

  always_ff @(posedge clk_i) begin
    if (purge) begin
      block_1_q  <= '0;
      block_2_q  <= '0;
      entering_q <= '0;
    end else begin
      block_1_q  <= block_i;
      block_2_q  <= block_1_q;
      entering_q <= block_2_q ^ white_in;
    end
  end

  // -- a round --------------------------------------------------------------------------------------------

  // Clock 0: x_q = (R0, R1), target_q = (R2, R3). They wait in memory while g is made of x_q, 14 clocks with what
  // it takes to write and to read, and the transform.
  pair_t x_d, x_q, target_q, x_mixed;
  pair_t waiting_x, waiting_target, waiting_x_q, waiting_target_q, f_q;
  word_t [1:0] g_in, t_q;
  word_t f0, f1;
  logic [3:0] write_at_q;

  twofish_ring_memory #(
    .Width(128),
    .Depth(16)
  ) u_waiting (
    .clk_i,
    .write_i     (1'b1),
    .write_at_i  (write_at_q),
    .write_data_i({target_q, x_q}),
    .read_at_i   (write_at_q - 4'd12),
    .read_data_o ({waiting_target, waiting_x})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_at_q <= '0;
    else write_at_q <= write_at_q + 4'd1;
  end

  assign g_in = {rol8(x_q[63:32]), x_q[31:0]};

  for (genvar g = 0; g < 2; g++) begin : gen_g
    twofish_ring_g u_g (
      .clk_i,
      .purge_i(purge),
      .x_i    (g_in[g]),
      .long_i (slot_q[4].long_key),
      .short_i(slot_q[7].short_key),
      .s_i    (s),
      .t_o    (t_q[g])
    );
  end

  // Sums of three: saved carries, then one adder.
  function automatic word_t sum3(input word_t a, input word_t b, input word_t c);
    return (a ^ b ^ c) + (((a & b) | (a & c) | (b & c)) << 1);
  endfunction

  assign f0 = sum3(t_q[0], t_q[1], round_key[31:0]);
  assign f1 = sum3(t_q[0], {t_q[1][30:0], 1'b0}, round_key[63:32]);

  assign x_mixed = waiting_target_q ^ f_q;
  assign x_d = enter_q[3] ? entering_q[63:0] : x_mixed;

  always_ff @(posedge clk_i) begin
    if (purge) begin
      waiting_x_q      <= '0;
      waiting_target_q <= '0;
      f_q              <= '0;
      x_q              <= '0;
      target_q         <= '0;
      result_o         <= '0;
    end else begin
      // In encryption the first word is rotated right behind the mixing and the second left before it, in
      // decryption the first left before it and the second right behind it.
      waiting_x_q <= waiting_x;
      if (tail_q[2].decrypt) begin
        waiting_target_q <= {ror1(waiting_target[63:32]), rol1(waiting_target[31:0])};
        f_q              <= {ror1(f1), f0};
      end else begin
        waiting_target_q <= {rol1(waiting_target[63:32]), ror1(waiting_target[31:0])};
        f_q              <= {f1, ror1(f0)};
      end
      x_q      <= x_d;
      target_q <= enter_q[3] ? entering_q[127:64] : waiting_x_q;
      result_o <= {x_mixed, waiting_x_q} ^ white_out;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The entrance of a slot with two ways: a frame goes to a way that has none, and waits there in a buffer, so that
// the next one can come while it is under way. What frames have in common is the key, and for that their order
// counts: a frame that sets up or uses the kept key waits until the one in front of it has its own (keyed_i), and a
// frame with *wipe* is alone in the slot. This is looked at before the header is judged: whatever is refused later is
// treated in the same way. While there is something to forget no frame begins (hold_i).
//
// A buffer has room for 2,016 bytes beyond what its way has taken; a longer frame keeps the entrance until its
// last beat is in. Clocks from a beat at the entrance to its way: 4, or 5 for the sake of the turn; 2 more for the first
// one. Beats: one per clock in, one in two clocks out to each way.
module pair_intake
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,

  // A clock's turn: the core's.
  input logic turn_i,

  // To the ways: valid in their turns only, and again in the next one until it is taken.
  output stream_t [1:0] way_o,
  input  logic    [1:0] ready_i,

  // Of each way: its frame has its key; its frame is answered.
  input  logic [1:0] keyed_i,
  input  logic [1:0] answered_i,
  // No frame may begin; there is none.
  input  logic       hold_i,
  output logic       empty_o
);

  localparam int unsigned Depth = 256;
  localparam int unsigned PointerBits = $clog2(Depth);
  typedef logic [PointerBits-1:0] pointer_t;

  // -- which way ------------------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    Look,
    Choose,
    Move
  } place_e;

  place_e place_q;
  logic   way_q;  // where the frame goes
  logic key_q, wipe_q;  // what it asks for
  logic alone_q;  // a frame with wipe is under way
  logic [1:0] active_q, keying_q;  // this way has a frame, which needs the kept key or sets it up
  logic in_valid, in_ready, in_last, room_q, push, choose;
  logic [63:0] in_beat;

  skid_buffer #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_i.valid),
    .s_ready_o(s_axis_ready_o),
    .s_data_i ({s_axis_i.last, s_axis_i.data}),
    .m_valid_o(in_valid),
    .m_ready_i(in_ready),
    .m_data_o ({in_last, in_beat})
  );

  /* verilator lint_off UNUSEDSIGNAL */
  header_t header;  // its first beat, of which only the operation and two flags count
  /* verilator lint_on UNUSEDSIGNAL */
  assign header = header_t'({64'b0, in_beat});

  always_comb begin
    choose = place_q == Choose && active_q != '1 && !alone_q && !hold_i;
    if (key_q && keying_q != '0) choose = 1'b0;
    if (wipe_q && active_q != '0) choose = 1'b0;
  end

  assign empty_o  = active_q == '0;
  assign in_ready = place_q == Move && room_q;
  assign push     = in_ready && in_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q  <= Look;
      way_q    <= 1'b0;
      key_q    <= 1'b0;
      wipe_q   <= 1'b0;
      alone_q  <= 1'b0;
      active_q <= '0;
      keying_q <= '0;
    end else begin
      unique case (place_q)
        Look:    if (in_valid) place_q <= Choose;
        Choose:  if (choose) place_q <= Move;
        default: if (push && in_last) place_q <= Look;
      endcase

      if (place_q == Look) begin
        key_q  <= header.op != OpHash || header.flags.fresh_key;
        wipe_q <= header.flags.wipe;
      end
      if (place_q == Choose) way_q <= active_q[0];
      alone_q <= (alone_q && active_q != '0) || (choose && wipe_q);

      for (int unsigned i = 0; i < 2; i++) begin
        if (choose && active_q[0] == 1'(i)) active_q[i] <= 1'b1;
        else if (answered_i[i]) active_q[i] <= 1'b0;
        if (choose && active_q[0] == 1'(i)) keying_q[i] <= key_q;
        else if (answered_i[i] || keyed_i[i]) keying_q[i] <= 1'b0;
      end
    end
  end

  // -- the buffers ----------------------------------------------------------------------------------------

  logic read_valid_q, beat_valid_q;
  logic take, last;
  logic [63:0] beat;
  pointer_t next, level;
  logic [1:0][PointerBits-1:0] write_q, next_q;

  // What the way takes in its turn makes room for the next beat in the same clock.
  assign take     = beat_valid_q && ready_i[turn_i];
  assign next     = next_q[turn_i] + pointer_t'(take);
  assign level    = write_q[way_q] - next_q[way_q];

  assign way_o[0] = '{valid: beat_valid_q && !turn_i, last: last, data: beat};
  assign way_o[1] = '{valid: beat_valid_q && turn_i, last: last, data: beat};

  ram_block #(
    .Width(65),
    .Depth(2 * Depth)
  ) u_memory (
    .clk_i,
    .clear_i,
    .write_i     (push),
    .write_at_i  ({way_q, write_q[way_q]}),
    .write_data_i({in_last, in_beat}),
    .read_i      (1'b1),
    .read_at_i   ({turn_i, next}),
    .read_data_o ({last, beat})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {write_q, next_q, read_valid_q, beat_valid_q, room_q} <= '0;
    else if (clear_i.active) {write_q, next_q, read_valid_q, beat_valid_q, room_q} <= '0;
    else begin
      if (push) write_q[way_q] <= write_q[way_q] + pointer_t'(1);
      next_q[turn_i] <= next;
      read_valid_q   <= next != write_q[turn_i];
      beat_valid_q   <= read_valid_q;
      // A beat or two are on their way when it is seen that there is no room.
      room_q         <= level < pointer_t'(Depth - 4);
    end
  end

endmodule

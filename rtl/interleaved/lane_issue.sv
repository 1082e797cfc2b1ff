// SPDX-License-Identifier: Apache-2.0
//
// Blocks to the core: looks at the lanes in turn, one a clock, and sends a burst of blocks of each that has
// some: all that are there, or one in CBC encryption, whose lane then waits until the result is back. A block
// is read from the input buffer in two clocks, mixed in a third, and offered to the core from registers; the
// four stages move together.
//
// Two blocks of lane 2, met by an idle core; a column is a clock:
//   look_q          | 1 | 2 | 3 | 4 | 5 |   |   |   |   |   |
//   seen_q          |   | 1 | 2 | 3 | 4 |   |   |   |   |   |   it is armed, waits for nothing, its counts
//   found_q         |   |   |   | 2 |   |   |   |   |   |   |   it has blocks
//   burst_q, from_q |   |   |   |   | 0 | 1 |   |   |   |   |   address of the buffer, of the chaining value
//   read_q          |   |   |   |   |   | 0 | 1 |   |   |   |   the buffer's first register
//   mix_q           |   |   |   |   |   |   | 0 | 1 |   |   |   the buffer's second one, beside the chaining value
//   out_q           |   |   |   |   |   |   |   | 0 | 1 |   |   at the core's door
//   storing         |   |   |   |   |   |   |   |   | x |   |   the chaining value behind the burst, to memory
// From found_q on a lane that is looked at counts as under way, until its chaining value is stored.
//
// Clocks from the core's result to the next block of its lane at the core's door: 8 + the time to the lane's
// turn, at most Lanes.
module lane_issue
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // The lane looked at, and the one of a block that others of its lane wait for.
  output lane_t   look_o,
  input  look_t   look_i,
  input  blocks_t written_i,
  output logic    wait_o,
  output lane_t   wait_lane_o,

  // The input buffer.
  output logic   read_o,
  output place_t read_at_o,
  input  block_t read_data_i,

  // As in lane_chain.
  input  lane_block_t iv_i,
  output logic        iv_ready_o,
  input  lane_block_t result_i,

  // The block, for the core and for lane_result.
  output offer_t      block_o,
  input  logic        block_ready_i,
  output lane_block_t mask_o
);

  typedef logic [Shape.ptr_bits:0] count_t;

  // A lane whose next block waits for this one.
  function automatic logic feedback(input way_t way);
    return way.cbc && !way.ctr && !way.decrypt;
  endfunction

  // -- which lane -----------------------------------------------------------------------------------------

  logic [Shape.lane_bits-1:0] look_q;
  lane_t storing_lane;
  going_t seen_q;  // the lane looked at before; valid if it could go on if it had blocks
  count_t seen_written_q, seen_issued_q;
  going_t found_q;  // a lane that has blocks
  count_t found_left_q, found_from_q;  // how many; the first of them
  logic   start;

  going_t burst_q;  // the lane at work, whether its next block is the first of the burst, and the last
  count_t from_q, left_q;

  // Behind it, a block that is being read, the one that is mixed, the one at the door, and a chaining value on its way
  // to memory.
  going_t read_q, mix_q, out_q;
  logic storing;

  logic advance, hold;
  assign advance = (!out_q.valid || block_ready_i) && !hold;

  // What is under way is not yet to be seen in the counts and chaining values.
  function automatic logic is_at(input going_t going, input logic [Shape.lane_bits-1:0] lane);
    return going.valid && going.lane[Shape.lane_bits-1:0] == lane;
  endfunction

  logic   under_way;
  count_t issued;
  assign under_way = is_at(
    found_q, look_q
  ) || is_at(
    burst_q, look_q
  ) || is_at(
    read_q, look_q
  ) || is_at(
    mix_q, look_q
  ) || (storing && look_q == storing_lane[Shape.lane_bits-1:0]);

  assign start = found_q.valid && !burst_q.valid;

  assign look_o = lane_t'(look_q);
  assign wait_o = start && feedback(found_q.way);
  assign wait_lane_o = found_q.lane;

  ram_logic #(
    .Width(Shape.ptr_bits + 1),
    .Depth(Shape.lanes)
  ) u_issued (
    .clk_i,
    .clear_i,
    .write_i     (burst_q.valid && advance && burst_q.last),
    .write_at_i  (burst_q.lane[Shape.lane_bits-1:0]),
    .write_data_i(from_q + count_t'(1)),
    .read_at_i   (look_q),
    .read_data_o (issued)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {look_q, seen_q, seen_written_q, seen_issued_q, found_q, found_left_q, found_from_q} <= '0;
    else if (!found_q.valid || start) begin
      look_q         <= look_q + Shape.lane_bits'(1);
      seen_q.valid   <= look_i.ready && !under_way;
      seen_q.lane    <= lane_t'(look_q);
      seen_q.way     <= look_i.way;
      seen_q.key     <= look_i.key;
      seen_written_q <= written_i[Shape.ptr_bits:0];
      seen_issued_q  <= issued;
      found_q        <= seen_q;
      found_q.valid  <= seen_q.valid && seen_written_q != seen_issued_q;
      found_left_q   <= seen_written_q - seen_issued_q;
      found_from_q   <= seen_issued_q;
    end
  end

  // -- the burst ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {burst_q, from_q, left_q} <= '0;
    else if (start) begin
      burst_q       <= found_q;
      burst_q.first <= 1'b1;
      burst_q.last  <= feedback(found_q.way) || found_left_q == count_t'(1);
      from_q        <= found_from_q;
      left_q        <= found_left_q;
    end else if (burst_q.valid && advance) begin
      burst_q.valid <= !burst_q.last;
      burst_q.first <= 1'b0;
      burst_q.last  <= left_q == count_t'(2);
      from_q        <= from_q + count_t'(1);
      left_q        <= left_q - count_t'(1);
    end
  end

  assign read_o = advance;
  assign read_at_o = '{lane: burst_q.lane, block: $bits(read_at_o.block)'(from_q[Shape.ptr_bits-1:0])};

  // -- the stages behind it -------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {read_q, mix_q, out_q} <= '0;
    else if (advance) begin
      read_q <= burst_q;
      mix_q  <= read_q;
      out_q  <= mix_q;
    end else if (block_ready_i) begin
      out_q.valid <= 1'b0;
    end
  end

  block_t block, mask;
  logic decrypt;

  assign decrypt = Shape.decrypt && out_q.way.decrypt;
  assign block_o = '{valid: out_q.valid, decrypt: decrypt, key: out_q.key, block: block};
  assign mask_o  = '{valid: out_q.valid, feedback: feedback(out_q.way), lane: out_q.lane, block: mask};

  lane_chain #(
    .Shape(Shape)
  ) u_chain (
    .clk_i,
    .rst_ni,
    .clear_i,
    .iv_i,
    .iv_ready_o,
    .result_i,
    .fetch_lane_i  (burst_q.lane),
    .advance_i     (advance),
    .next_i        (read_q),
    .block_i       (read_data_i),
    .hold_o        (hold),
    .storing_o     (storing),
    .storing_lane_o(storing_lane),
    .block_o       (block),
    .mask_o        (mask)
  );

endmodule

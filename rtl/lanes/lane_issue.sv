// SPDX-License-Identifier: Apache-2.0
//
// Blocks to the core: looks at the lanes in turn, one a clock, and sends a burst of blocks of each that has
// some: all that are there, or one in CBC encryption, whose lane then waits until the result is back. A block
// is read from the input buffer in two clocks, mixed in a third, and offered to the core from registers; the
// four stages move together.
//
// Two blocks of lane 2, met by an idle core; a column is a clock:
//   look_q          | 1 | 2 | 3 | 4 | 5 |   |   |   |   |   |
//   seen_lane_q     |   | 1 | 2 | 3 | 4 |   |   |   |   |   |   it is armed, waits for nothing, its counts
//   found_lane_q    |   |   |   | 2 |   |   |   |   |   |   |   it has blocks
//   burst_q, from_q |   |   |   |   | 0 | 1 |   |   |   |   |   address of the buffer, of the chaining value
//   read_valid_q    |   |   |   |   |   | 0 | 1 |   |   |   |   the buffer's first register
//   mix_valid_q     |   |   |   |   |   |   | 0 | 1 |   |   |   the buffer's second one, beside the chaining value
//   block_valid_o   |   |   |   |   |   |   |   | 0 | 1 |   |   at the core's door
//   storing         |   |   |   |   |   |   |   |   | x |   |   the chaining value behind the burst, to memory
// From found_q on a lane that is looked at counts as under way, until its chaining value is stored.
//
// Clocks from the core's result to the next block of its lane at the core's door: 8 + the time to the lane's
// turn, at most Lanes.
module lane_issue
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape,

  localparam int unsigned BlockBits = 8 * Shape.block_bytes,
  localparam int unsigned LaneBits = $clog2(Shape.lanes),
  localparam int unsigned ContextWidth = $clog2(Shape.contexts),
  localparam int unsigned PtrBits = $clog2(Shape.lane_blocks)
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // The lane looked at.
  output logic [    LaneBits-1:0] look_o,
  input  logic                    look_ready_i,
  input  way_t                    look_way_i,
  input  logic [ContextWidth-1:0] look_context_i,
  input  logic [       PtrBits:0] look_written_i,
  output logic                    wait_o,
  output logic [    LaneBits-1:0] wait_lane_o,

  // The input buffer.
  output logic                        read_o,
  output logic [LaneBits+PtrBits-1:0] read_at_o,
  input  logic [       BlockBits-1:0] read_data_i,

  // As in lane_chain.
  input  logic                 iv_valid_i,
  output logic                 iv_ready_o,
  input  logic [BlockBits-1:0] iv_i,
  input  logic [ LaneBits-1:0] iv_lane_i,
  input  logic                 result_valid_i,
  input  logic [ LaneBits-1:0] result_lane_i,
  input  logic [BlockBits-1:0] result_i,

  // The block, for the core and for lane_result.
  output logic                    block_valid_o,
  input  logic                    block_ready_i,
  output logic [   BlockBits-1:0] block_o,
  output logic                    decrypt_o,
  output logic [ContextWidth-1:0] context_o,
  output logic [   BlockBits-1:0] mask_o,
  output logic [    LaneBits-1:0] lane_o,
  output logic                    feedback_o
);

  typedef logic [LaneBits-1:0] lane_t;
  typedef logic [ContextWidth-1:0] key_context_t;
  typedef logic [PtrBits:0] count_t;

  // A lane whose next block waits for this one.
  function automatic logic feedback(input way_t way);
    return Shape.cbc && Shape.encrypt && way.cbc && !way.ctr && !way.decrypt;
  endfunction

  // -- which lane -----------------------------------------------------------------------------------------

  lane_t look_q;
  logic seen_q;  // the lane looked at before could go on if it had blocks
  lane_t seen_lane_q;
  way_t seen_way_q;
  key_context_t seen_context_q;
  count_t seen_written_q, seen_issued_q;
  logic found_q;  // there is a lane that has blocks
  lane_t found_lane_q;
  way_t found_way_q;
  key_context_t found_context_q;
  count_t found_left_q, found_from_q;  // how many; the first of them
  logic start;

  logic burst_q;  // a lane is at work
  lane_t lane_q;
  way_t way_q;
  key_context_t context_q;
  count_t from_q, left_q;
  logic first_q;  // the next block is the first of the burst
  logic last_q;  // and the last

  // Behind it, a block that is being read, the one that is mixed, and a chaining value on its way to memory.
  logic read_valid_q, mix_valid_q, storing;
  lane_t read_lane_q, mix_lane_q, storing_lane;

  logic advance, hold;
  assign advance = (!block_valid_o || block_ready_i) && !hold;

  // What is under way is not yet to be seen in the counts and chaining values.
  logic   under_way;
  count_t issued;
  assign under_way = (found_q && look_q == found_lane_q)|| (burst_q && look_q == lane_q)
      || (read_valid_q && look_q == read_lane_q) || (mix_valid_q && look_q == mix_lane_q)
      || (storing && look_q == storing_lane);

  assign start = found_q && !burst_q;

  assign look_o = look_q;
  assign wait_o = start && feedback(found_way_q);
  assign wait_lane_o = found_lane_q;

  ram_logic #(
    .Width(PtrBits + 1),
    .Depth(Shape.lanes)
  ) u_issued (
    .clk_i,
    .clear_i,
    .write_i     (burst_q && advance && last_q),
    .write_at_i  (lane_q),
    .write_data_i(from_q + count_t'(1)),
    .read_at_i   (look_q),
    .read_data_o (issued)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      look_q          <= '0;
      found_q         <= 1'b0;
      found_lane_q    <= '0;
      found_way_q     <= '0;
      found_context_q <= '0;
      found_left_q    <= '0;
      found_from_q    <= '0;
      seen_q          <= 1'b0;
      seen_lane_q     <= '0;
      seen_way_q      <= '0;
      seen_context_q  <= '0;
      seen_written_q  <= '0;
      seen_issued_q   <= '0;
    end else if (!found_q || start) begin
      look_q          <= look_q + lane_t'(1);
      seen_q          <= look_ready_i && !under_way;
      found_q         <= seen_q && seen_written_q != seen_issued_q;
      seen_lane_q     <= look_q;
      found_lane_q    <= seen_lane_q;
      seen_way_q      <= look_way_i;
      found_way_q     <= seen_way_q;
      seen_context_q  <= look_context_i;
      found_context_q <= seen_context_q;
      seen_written_q  <= look_written_i;
      found_left_q    <= seen_written_q - seen_issued_q;
      seen_issued_q   <= issued;
      found_from_q    <= seen_issued_q;
    end
  end

  // -- the burst ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      burst_q <= 1'b0;
      first_q <= 1'b0;
      lane_q <= '0;
      way_q <= '0;
      context_q <= '0;
      from_q <= '0;
      left_q <= '0;
      last_q <= 1'b0;
    end else if (start) begin
      burst_q <= 1'b1;
      first_q <= 1'b1;
      lane_q <= found_lane_q;
      way_q <= found_way_q;
      context_q <= found_context_q;
      from_q <= found_from_q;
      left_q <= found_left_q;
      last_q <= feedback(found_way_q) || found_left_q == count_t'(1);
    end else if (burst_q && advance) begin
      burst_q <= !last_q;
      first_q <= 1'b0;
      from_q  <= from_q + count_t'(1);
      left_q  <= left_q - count_t'(1);
      last_q  <= left_q == count_t'(2);
    end
  end

  assign read_o    = advance;
  assign read_at_o = {lane_q, from_q[PtrBits-1:0]};

  // -- the stages behind it -------------------------------------------------------------------------------

  logic read_first_q, read_last_q;
  way_t read_way_q, mix_way_q, out_way_q;
  key_context_t read_context_q, mix_context_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_q   <= 1'b0;
      read_first_q   <= 1'b0;
      read_last_q    <= 1'b0;
      read_lane_q    <= '0;
      read_way_q     <= '0;
      read_context_q <= '0;
      mix_valid_q    <= 1'b0;
      mix_lane_q     <= '0;
      mix_way_q      <= '0;
      mix_context_q  <= '0;
      block_valid_o  <= 1'b0;
      lane_o         <= '0;
      out_way_q      <= '0;
      context_o      <= '0;
    end else if (advance) begin
      read_valid_q   <= burst_q;
      read_first_q   <= first_q;
      read_last_q    <= last_q;
      read_lane_q    <= lane_q;
      read_way_q     <= way_q;
      read_context_q <= context_q;
      mix_valid_q    <= read_valid_q;
      mix_lane_q     <= read_lane_q;
      mix_way_q      <= read_way_q;
      mix_context_q  <= read_context_q;
      block_valid_o  <= mix_valid_q;
      lane_o         <= mix_lane_q;
      out_way_q      <= mix_way_q;
      context_o      <= mix_context_q;
    end else if (block_ready_i) begin
      block_valid_o <= 1'b0;
    end
  end

  assign decrypt_o  = Shape.decrypt && (!Shape.encrypt || out_way_q.decrypt);
  assign feedback_o = feedback(out_way_q);

  lane_chain #(
    .Shape(Shape)
  ) u_chain (
    .clk_i,
    .rst_ni,
    .clear_i,
    .iv_valid_i,
    .iv_ready_o,
    .iv_i,
    .iv_lane_i,
    .result_valid_i,
    .result_lane_i,
    .result_i,
    .advance_i     (advance),
    .fetch_lane_i  (lane_q),
    .next_valid_i  (read_valid_q),
    .next_first_i  (read_first_q),
    .next_last_i   (read_last_q),
    .next_lane_i   (read_lane_q),
    .next_way_i    (read_way_q),
    .block_i       (read_data_i),
    .hold_o        (hold),
    .storing_o     (storing),
    .storing_lane_o(storing_lane),
    .block_o,
    .mask_o
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Results out of the tile, in the order of their starts and at a time that the set says: into the place of the block in its
// lane's buffer, or of a hash into the lane's state. CTR combines them with the block, CBC decryption with the block
// before, into whose place they go: the next one still finds its mask. A digest goes to the buffer's beginning, an inner
// one as the outer message.
//
// Clocks: the set's latency and 3 from a start to the first word; 5 from there into the buffer; 2 a beat.
module array_return
  import array_pkg::*;
  import array_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  // In these clocks it reads and writes the buffers.
  input logic odd_i,

  input set_t set_i,

  // A block has started in the tile.
  input logic                    started_i,
  input block_t                  block_i,
  input logic   [StreamBits-1:0] output_base_i,

  // The tile's words, three clocks behind their address.
  output logic [StreamBits-1:0]       read_at_o,
  input  logic [   Outputs-1:0][31:0] words_i,

  // A beat that masks a result; it is there two clocks behind the address.
  output logic         mask_read_o,
  output lane_t        mask_lane_o,
  output at_t          mask_at_o,
  input  logic  [63:0] mask_i,

  // Into the buffer, or the state.
  output logic         write_o,
  output logic         to_state_o,
  output lane_t        write_lane_o,
  output at_t          write_at_o,
  output logic  [63:0] data_o,

  // A block's result is written.
  output logic   returned_o,
  output block_t returned_block_o
);

  if (Outputs != 2) begin : gen_illegal
    $error("array_return: beats are of two words");
  end

  typedef struct packed {
    block_t                block;
    logic [StreamBits-1:0] base;
    logic [11:0]           due;
  } flight_t;

  // As many as the tile has room for.
  flight_t flights [1<<FlightBits];
  flight_t first_q;
  logic [FlightBits:0] begun_q, over_q;
  logic [11:0] now_q, latency_q;
  logic [1:0] settle_q;
  logic due_q;

  always_ff @(posedge clk_i) begin
    if (started_i) flights[begun_q[FlightBits-1:0]] <= '{block_i, output_base_i, now_q + latency_q};
  end

  always_ff @(posedge clk_i) begin
    first_q   <= flights[over_q[FlightBits-1:0]];
    latency_q <= set_i.latency + 12'd2;
  end

  // -- beats ------------------------------------------------------------------------------------------------

  typedef struct packed {
    logic  valid;
    logic  last;
    logic  mask;
    logic  half;
    logic  to_state;
    lane_t lane;
    at_t   at;
  } step_t;

  logic busy_q, wide_q, stepping, hash_q, odd_words_q, permuted_q;
  block_t block_q;
  logic [StreamBits-1:0] base_q;
  logic [6:0] step_q, last_step_q;
  step_t step;
  step_t [5:0] steps_q;
  block_t returned_q;

  assign stepping = busy_q && odd_i;

  always_comb begin
    step.valid = stepping;
    step.last = stepping && step_q == last_step_q;
    step.mask = block_q.mask;
    step.half = step.last && odd_words_q;
    step.to_state = hash_q && !block_q.final_block;
    step.lane = block_q.lane;
    step.at = at_t'(step_q);
    if (!hash_q) step.at = block_q.at + at_t'(step_q) - (block_q.back ? at_t'({wide_q, !wide_q}) : '0);
  end

  always_ff @(posedge clk_i) begin
    read_at_o   <= base_q + StreamBits'(step_q);
    mask_lane_o <= block_q.lane;
    mask_at_o   <= step.at;
    wide_q      <= set_i.input_words == 6'd4;
    hash_q      <= set_i.hash;
    odd_words_q <= set_i.output_words[0];
    last_step_q <= 7'((set_i.output_words - 8'd1) >> 1);
    permuted_q  <= !set_i.hash && set_i.permuted;
  end

  assign mask_read_o = steps_q[0].valid && steps_q[0].mask;

  logic [63:0] words, mask_q, mask2_q, data_q;

  always_comb begin
    words = words_i;
    // Of the last beat of an odd number of words only one counts.
    if (steps_q[3].half) words[63:32] = '0;
    // A state stays as it is; a digest is a message.
    words = permuted_q ? des_out(words) : swapped_pair(words, set_i.swap_out && !steps_q[3].to_state);
  end

  always_ff @(posedge clk_i) begin
    mask_q  <= mask_i;
    mask2_q <= steps_q[3].valid && steps_q[3].mask ? mask_q : '0;
    data_q  <= steps_q[3].valid ? words : '0;
    data_o  <= data_q ^ mask2_q;
  end

  assign write_o          = steps_q[5].valid;
  assign to_state_o       = steps_q[5].to_state;
  assign write_lane_o     = steps_q[5].lane;
  assign write_at_o       = steps_q[5].at;
  assign returned_o       = steps_q[5].last;
  assign returned_block_o = returned_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {begun_q, over_q, now_q, settle_q, due_q} <= '0;
      {busy_q, block_q, base_q, step_q, steps_q, returned_q} <= '0;
    end else begin
      now_q <= now_q + 1'b1;
      if (started_i) begun_q <= begun_q + 1'b1;
      // The first one has a register behind the memory.
      if (begun_q == over_q || due_q) settle_q <= '0;
      else if (settle_q != '1) settle_q <= settle_q + 2'd1;
      due_q   <= settle_q[1] && first_q.due == now_q && !due_q;
      steps_q <= {steps_q[4:0], step};
      if (step.last) returned_q <= block_q;
      if (stepping) begin
        step_q <= step_q + 7'd1;
        busy_q <= step_q != last_step_q;
      end
      if (due_q) begin
        over_q  <= over_q + 1'b1;
        busy_q  <= 1'b1;
        step_q  <= '0;
        block_q <= first_q.block;
        base_q  <= first_q.base;
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The modes: ECB, CBC and CTR between the input buffer and the core, for blocks of whichever lane comes. The
// chaining value of a lane at rest is in a small memory; that of the lane at work is in a register, which goes
// on with every block and is written back behind the last one of a burst:
//   ECB          block -> core
//   CBC encrypt  block ^ chain -> core; what comes back is the next chain
//   CBC decrypt  block -> core, chain -> mask, block -> chain
//   CTR          chain -> core, block -> mask, chain + 1 -> chain
// The mask is for lane_result, which adds it to what the core gives. One block per clock.
module lane_chain
  import core_pkg::*;
  import lane_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // The IV of a lane; results, of which those of a CBC encryption are fed back.
  input  lane_block_t iv_i,
  output logic        iv_ready_o,
  input  lane_block_t result_i,

  // The lane of the block to come two clocks later; what is to come a clock later; the block.
  input  lane_t  fetch_lane_i,
  input  logic   advance_i,
  input  going_t next_i,
  input  block_t block_i,
  // It cannot be taken now, because the memory is not free.
  output logic   hold_o,
  // This lane's value is under way to memory.
  output logic   storing_o,
  output lane_t  storing_lane_o,

  output block_t block_o,
  output block_t mask_o
);

  typedef logic [Shape.block_bits-1:0] value_t;

  value_t fetched, kept_q;  // the chaining value in memory
  value_t chain_q, next;  // of this block, and of the one behind it
  value_t block, block_d, mask_d, block_q, mask_value_q;

  assign block   = block_i[Shape.block_bits-1:0];
  assign block_o = block_t'(block_q);
  assign mask_o  = block_t'(mask_value_q);

  // -- what to do with the block --------------------------------------------------------------------------

  logic count_q;  // CTR
  logic [1:0] enter_q, mask_q;  // what goes into the core, and into the mask: the block, the chaining value
  logic store_next_q;  // the chaining value goes back to memory
  logic [Shape.lane_bits-1:0] lane_q;
  logic decrypts;

  assign decrypts = Shape.decrypt && next_i.way.decrypt;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {count_q, enter_q, mask_q, store_next_q, lane_q} <= '0;
    else if (advance_i) begin
      count_q      <= next_i.way.ctr;
      enter_q[0]   <= !next_i.way.ctr;
      enter_q[1]   <= next_i.way.ctr || (next_i.way.cbc && !decrypts);
      mask_q[0]    <= next_i.way.ctr;
      mask_q[1]    <= next_i.way.cbc && decrypts;
      store_next_q <= next_i.valid && next_i.last && (next_i.way.ctr || (next_i.way.cbc && decrypts));
      lane_q       <= next_i.lane[Shape.lane_bits-1:0];
    end
  end

  // -- the counter ----------------------------------------------------------------------------------------

  // One big-endian number, counted in limbs. The carry into a limb is found while the number before is in use: the
  // lowest limb is one less than all ones, and those between are all ones. What is remembered of a limb, in memory too,
  // is whether it is all ones, so that no comparison is longer than a limb, or behind a memory.
  localparam int unsigned LimbBits = 32;
  localparam int unsigned Limbs = Shape.block_bits / LimbBits;

  typedef logic [Limbs-2:0] ones_t;

  value_t number, sum, iv;
  logic [Limbs-1:0] carry;  // into the limb, when this number is counted
  logic [Limbs-2:0] almost;  // the limb is one less than all ones
  // The limb is all ones: of the number in use (the lowest one: for the sake of the others), of the one behind it, of
  // the IV, of what waits for the memory and of what came from there.
  ones_t ones, next_ones, iv_ones, store_ones_q, fetched_ones, kept_ones_q;

  assign number = {<<8{chain_q}};
  assign iv     = {<<8{iv_i.block[Shape.block_bits-1:0]}};
  assign next   = !Shape.decrypt || count_q ? {<<8{sum}} : block;
  logic unused;  // no limb is above the highest
  assign unused   = ^iv[Shape.block_bits-1-:LimbBits];
  assign carry[0] = 1'b1;
  assign ones[0]  = 1'b1;

  for (genvar l = 0; l < Limbs; l++) begin : gen_limb
    assign sum[LimbBits*l+:LimbBits] = number[LimbBits*l+:LimbBits] + LimbBits'(carry[l]);
  end

  for (genvar l = 0; l < Limbs - 1; l++) begin : gen_carry
    logic carry_q;

    assign iv_ones[l]   = iv[LimbBits*l+:LimbBits] == '1;
    assign almost[l]    = number[LimbBits*l+:LimbBits] == ~LimbBits'(1);
    assign next_ones[l] = carry[l] ? almost[l] : ones[l];
    assign carry[l+1]   = carry_q;

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        kept_ones_q[l] <= 1'b0;
        carry_q        <= 1'b0;
      end else if (advance_i) begin
        kept_ones_q[l] <= fetched_ones[l];
        // While the lowest limb becomes all ones no other one changes.
        carry_q        <= next_i.first ? kept_ones_q[l:0] == '1 : almost[0] && ones[l:0] == '1;
      end
    end

    if (l > 0) begin : gen_ones
      logic ones_q;

      assign ones[l] = ones_q;

      always_ff @(posedge clk_i) begin
        if (clear_i.active) ones_q <= 1'b0;
        else if (advance_i) ones_q <= next_i.first ? kept_ones_q[l] : next_ones[l];
      end
    end
  end

  // -- memory ---------------------------------------------------------------------------------------------

  // A result cannot wait. The IV or what a burst leaves waits in a register for a clock without a result.
  logic store_valid_q;
  logic [Shape.lane_bits-1:0] store_lane_q;
  value_t store_q;

  assign hold_o         = store_next_q && store_valid_q;
  assign iv_ready_o     = !store_next_q && !store_valid_q;
  assign storing_o      = store_valid_q;
  assign storing_lane_o = lane_t'(store_lane_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_valid_q <= 1'b0;
      store_lane_q  <= '0;
    end else if (store_valid_q) begin
      store_valid_q <= result_i.feedback;
    end else begin
      store_valid_q <= store_next_q ? advance_i : iv_i.valid;
      store_lane_q  <= store_next_q ? lane_q : iv_i.lane[Shape.lane_bits-1:0];
    end
  end

  // The results of a CBC encryption are no numbers, and it does not matter what is written of their limbs.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      store_q      <= '0;
      store_ones_q <= '0;
    end else if (!store_valid_q) begin
      store_q      <= store_next_q ? next : iv_i.block[Shape.block_bits-1:0];
      store_ones_q <= store_next_q ? next_ones : iv_ones;
    end
  end

  ram_logic #(
    .Width(Shape.block_bits + Limbs - 1),
    .Depth(Shape.lanes),
    // What waits is zero, and there is no result.
    .Quiet(1'b1)
  ) u_chain (
    .clk_i,
    .clear_i,
    .write_i     (result_i.feedback || store_valid_q),
    .write_at_i  (result_i.feedback ? result_i.lane[Shape.lane_bits-1:0] : store_lane_q),
    .write_data_i({store_ones_q, result_i.feedback ? result_i.block[Shape.block_bits-1:0] : store_q}),
    .read_at_i   (fetch_lane_i[Shape.lane_bits-1:0]),
    .read_data_o ({fetched_ones, fetched})
  );

  // -- the block ------------------------------------------------------------------------------------------

  assign block_d = (block & {Shape.block_bits{enter_q[0]}}) ^ (chain_q & {Shape.block_bits{enter_q[1]}});
  assign mask_d  = (block & {Shape.block_bits{mask_q[0]}}) ^ (chain_q & {Shape.block_bits{mask_q[1]}});

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      kept_q <= '0;
      chain_q <= '0;
      block_q <= '0;
      mask_value_q <= '0;
    end else if (advance_i) begin
      kept_q <= fetched;
      chain_q <= next_i.first ? kept_q : next;
      block_q <= block_d;
      mask_value_q <= mask_d;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The modes: ECB, CBC and CTR between the input buffer and the core, for blocks of whichever lane comes. The
// chaining value of a lane at rest is in a small memory; that of the lane at work is in a register, which goes
// on with every block and is written back behind the last one of a burst:
//   ECB          block -> core
//   CBC encrypt  block ^ chain -> core; lane_result writes what comes back as the next chain
//   CBC decrypt  block -> core, chain -> mask, block -> chain
//   CTR          chain -> core, block -> mask, chain + 1 -> chain
// The mask is for lane_result, which adds it to what the core gives. One block per clock.
module lane_chain
  import lane_pkg::*;
#(
  parameter int unsigned BlockBytes = 16,
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  parameter int unsigned Lanes = 8,

  localparam int unsigned BlockBits = 8 * BlockBytes,
  localparam int unsigned LaneBits  = $clog2(Lanes)
) (
  input logic clk_i,
  input logic rst_ni,

  // All is overwritten with zeros.
  input logic                sweep_i,
  input logic [LaneBits-1:0] sweep_lane_i,

  // The IV, beat by beat.
  input  logic                iv_valid_i,
  output logic                iv_ready_o,
  input  logic                iv_half_i,
  input  logic [        63:0] iv_i,
  input  logic [LaneBits-1:0] iv_lane_i,

  // The result of a CBC encryption.
  input logic                 result_valid_i,
  input logic [ LaneBits-1:0] result_lane_i,
  input logic [BlockBits-1:0] result_i,

  // A block is to come a clock later: its lane, and whether it is the first of a burst.
  input  logic                 advance_i,
  input  logic                 next_first_i,
  input  logic [ LaneBits-1:0] next_lane_i,
  // The block, what to do with it, and whether the chaining value goes back to memory behind it.
  input  logic [ LaneBits-1:0] lane_i,
  input  way_t                 way_i,
  input  logic                 store_i,
  input  logic [BlockBits-1:0] block_i,
  // It cannot be taken now, because the memory is not free.
  output logic                 hold_o,
  // This lane's value is under way to memory.
  output logic                 storing_o,
  output logic [ LaneBits-1:0] storing_lane_o,

  output logic [BlockBits-1:0] block_o,
  output logic [BlockBits-1:0] mask_o
);

  typedef logic [BlockBits-1:0] block_t;

  localparam int unsigned Halves = BlockBytes / 8;

  block_t chain_q, next_d, kept, store_q, block_d, mask_d;

  // -- the counter ----------------------------------------------------------------------------------------

  // One big-endian number, counted in limbs. The carry into a limb is found while the number before is in use:
  // the limbs below become all ones when the lowest is one less than that and the others are so already.
  localparam int unsigned LimbBits = 32;
  localparam int unsigned Limbs = BlockBits / LimbBits;

  block_t number, sum, kept_number;
  assign number      = {<<8{chain_q}};
  assign kept_number = {<<8{kept}};

  logic unused;  // no limb is above the highest
  assign unused = ^kept_number[BlockBits-1-:LimbBits];

  assign next_d = Ctr && way_i.ctr ? {<<8{sum}} : block_i;

  for (genvar l = 0; l < Limbs; l++) begin : gen_limb
    logic carry;
    if (l == 0) begin : gen_lowest
      assign carry = 1'b1;
    end else begin : gen_above
      logic ready_q;
      assign carry = ready_q;
      always_ff @(posedge clk_i) begin
        if (advance_i) begin
          if (next_first_i) ready_q <= kept_number[LimbBits*l-1:0] == '1;
          else ready_q <= number[LimbBits*l-1:1] == '1 && !number[0];
        end
      end
    end
    assign sum[LimbBits*l+:LimbBits] = number[LimbBits*l+:LimbBits] + LimbBits'(carry);
  end

  // -- memory ---------------------------------------------------------------------------------------------

  // A result cannot wait, a block can, and the IV waits for both.
  logic                store;
  logic                store_valid_q;
  logic [         1:0] store_half_q;
  logic [LaneBits-1:0] store_lane_q;

  assign store          = store_i && (way_i.ctr || way_i.cbc);
  assign hold_o         = store && result_valid_i;
  assign iv_ready_o     = !store && !result_valid_i;
  assign storing_o      = store_valid_q;
  assign storing_lane_o = store_lane_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_valid_q <= 1'b0;
      store_half_q  <= '0;
      store_lane_q  <= '0;
    end else begin
      store_valid_q <= result_valid_i || (store ? advance_i : iv_valid_i);
      store_half_q  <= result_valid_i || store ? 2'b11 : {iv_half_i, !iv_half_i};
      store_lane_q  <= result_valid_i ? result_lane_i : store ? lane_i : iv_lane_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (sweep_i) store_q <= '0;
    else if (result_valid_i) store_q <= result_i;
    else store_q <= store ? next_d : {Halves{iv_i}};
  end

  for (genvar h = 0; h < Halves; h++) begin : gen_half
    lane_ram #(
      .Width(64),
      .Depth(Lanes)
    ) u_chain (
      .clk_i,
      .write_i     ((store_valid_q && store_half_q[h]) || sweep_i),
      .write_at_i  (sweep_i ? sweep_lane_i : store_lane_q),
      .write_data_i(store_q[64*h+:64]),
      .read_at_i   (next_lane_i),
      .read_data_o (kept[64*h+:64])
    );
  end

  // -- the block ------------------------------------------------------------------------------------------

  always_comb begin
    block_d = block_i;
    mask_d  = '0;
    if (Ctr && way_i.ctr) begin
      block_d = chain_q;
      mask_d  = block_i;
    end else if (Cbc && way_i.cbc) begin
      if (Decrypt && (!Encrypt || way_i.decrypt)) mask_d = chain_q;
      else block_d = block_i ^ chain_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (sweep_i) begin
      chain_q <= '0;
      block_o <= '0;
      mask_o  <= '0;
    end else if (advance_i) begin
      chain_q <= next_first_i ? kept : next_d;
      block_o <= block_d;
      mask_o  <= mask_d;
    end
  end

endmodule

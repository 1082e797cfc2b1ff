// SPDX-License-Identifier: Apache-2.0
//
// DES, and with Triple also triple DES, several rounds per clock, one behind the other.
//
// Deciphering takes the round keys in reverse, and the shifts of the key schedule read the same from both
// ends. So C and D are turned end to end to decrypt and shift left in either direction; only which 48 bits
// make the round key differs.
//
// Cycles per block, S = 1, or 3 with a key of two or three parts: S * 16 / RoundsPerClock with Early, one
// more without. Key set-up: 0.
module des_unrolled
  import core_pkg::*;
  import des_pkg::*;
#(
  parameter bit Triple = 1'b0,
  // A divisor of 16.
  parameter int unsigned RoundsPerClock = 2,
  // The first rounds are computed in the clock in which the block comes in.
  parameter bit Early = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  localparam int unsigned Clocks = Rounds / RoundsPerClock;
  localparam int unsigned StepWidth = Clocks > 1 ? $clog2(Clocks) : 1;
  localparam logic [StepWidth-1:0] LastStep = StepWidth'(Clocks - 1);

  logic entering;  // a block is taken
  logic working;  // rounds are computed
  logic stage_end;
  logic block_end;
  logic busy_d, busy_q;
  logic valid_d, valid_q;
  logic [StepWidth-1:0] step_d, step_q;
  logic [1:0] stage_d, stage_q;
  logic decrypt_d, decrypt_q;
  logic       three_stages;
  logic [1:0] load_stage;  // the stage that the key schedule is loaded for
  logic       load;
  key_t load_key, load_cd;
  subkey_t subkeys[RoundsPerClock];
  half_t l, r, l_q, r_q;

  assign rsp_o.block_ready  = !busy_q && (!valid_q || req_i.result_ready);
  assign rsp_o.result_valid = valid_q;
  assign rsp_o.result       = 128'(final_permutation(Triple ? {l_q, r_q} : {r_q, l_q}));
  assign entering           = req_i.block_valid && rsp_o.block_ready;
  assign working            = busy_q || (Early && entering);
  assign stage_end          = working && step_q == LastStep;
  assign block_end          = stage_end && (!three_stages || stage_q == 2'd2);
  assign decrypt_d          = busy_q ? decrypt_q : req_i.decrypt;

  always_comb begin
    busy_d  = busy_q;
    valid_d = valid_q;
    step_d  = step_q;
    stage_d = stage_q;

    if (req_i.result_ready) valid_d = 1'b0;
    if (entering) busy_d = 1'b1;
    if (working) step_d = step_q + StepWidth'(1);
    if (stage_end) begin
      step_d  = '0;
      stage_d = stage_q + 2'd1;
    end
    if (block_end) begin
      busy_d  = 1'b0;
      valid_d = 1'b1;
      stage_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {busy_q, valid_q} <= '0;
    else {busy_q, valid_q} <= {busy_d, valid_d} & {2{!clear_i.active}};
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      step_q    <= '0;
      stage_q   <= '0;
      decrypt_q <= 1'b0;
    end else begin
      step_q    <= step_d;
      stage_q   <= stage_d;
      decrypt_q <= decrypt_d;
    end
  end

  // Keys, as they came but for permuted choice 1.
  if (Triple) begin : gen_triple_keys
    key_t [2:0] keys_q;

    des_keys u_keys (
      .clk_i,
      .clear_i,
      .req_i,
      .keys_o (keys_q),
      .three_o(three_stages)
    );

    always_comb begin
      if (load_stage == 2'd1) load_key = keys_q[1];
      else if ((load_stage == 2'd0) == decrypt_d) load_key = keys_q[2];
      else load_key = keys_q[0];
    end
  end else begin : gen_single_key
    key_t key_q;

    always_ff @(posedge clk_i) begin
      if (clear_i.active) key_q <= '0;
      else if (req_i.key_valid) key_q <= permuted_choice_1(req_i.key);
    end

    assign three_stages = 1'b0;

    assign load_key = key_q;
  end

  // The stage in the middle goes the other way.
  assign load_stage = Early ? stage_q : busy_q ? stage_q + 2'd1 : 2'd0;
  assign load       = Early ? step_q == '0 : !busy_q || stage_end;

  // -- round keys -----------------------------------------------------------------------------------------

  // For each clock of a stage, whether round i of that clock is followed by a shift of one place only.
  function automatic logic [Clocks-1:0] shifts_once(input int unsigned i);
    logic [Clocks-1:0] once;
    for (int unsigned c = 0; c < Clocks; c++) once[c] = Shifts[(c*RoundsPerClock+i+1)%Rounds] == 1;
    return once;
  endfunction

  key_t cd, cd_d, cd_q;
  logic load_backward;  // the stage decrypts
  logic backward, backward_q;

  assign load_backward = decrypt_d ^ (load_stage == 2'd1);
  assign load_cd       = load_backward ? turn(load_key) : rotate_left_1(load_key);
  assign backward      = Early && load ? load_backward : backward_q;

  always_comb begin
    cd = Early && load ? load_cd : cd_q;
    for (int unsigned i = 0; i < RoundsPerClock; i++) begin
      subkeys[i] = permuted_choice_2(backward ? turn(cd) : cd);
      cd         = shifts_once(i) [step_q] ? rotate_left_1(cd) : rotate_left_2(cd);
    end
    cd_d = !Early && load ? load_cd : cd;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) backward_q <= 1'b0;
    else if (load) backward_q <= load_backward;
    if (clear_i.active) cd_q <= '0;
    else cd_q <= cd_d;
  end

  // -- rounds ---------------------------------------------------------------------------------------------

  always_comb begin
    {l, r} = Early && !busy_q ? initial_permutation(req_i.block[63:0]) : {l_q, r_q};
    for (int unsigned i = 0; i < RoundsPerClock; i++) {l, r} = {r, l ^ f(r, subkeys[i])};
    if (Triple && step_q == LastStep) {l, r} = {r, l};
    if (!Early && !busy_q) {l, r} = initial_permutation(req_i.block[63:0]);
  end

  always_ff @(posedge clk_i) begin
    if (clear_i.active) {l_q, r_q} <= '0;
    // What is taken while no block comes does no harm.
    else if (!valid_q || req_i.result_ready) {l_q, r_q} <= {l, r};
  end

endmodule

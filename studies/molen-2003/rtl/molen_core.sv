// SPDX-License-Identifier: Apache-2.0
//
// The core processor: RV32IM, in order, one instruction at a time, over one memory port whose data come a clock after
// their address. Molen's three instructions are custom-0 (0x0b) with funct3 0 p-set, 1 c-set, 2 execute, the
// address of the microcode in rs1 and an operand in rs2; funct3 3 reads the control register of number rs2's field.
// The reconfigurable unit does them; a result goes to rd.
//
// Clocks: 1; 2 for loads, stores and what jumps; 3 for products; 34 for quotients; what the unit takes and 1.
// ecall and ebreak halt. What is no instruction, or not aligned, is a trap and halts as well.
module molen_core
  import molen_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  output word_t       address_o,
  output logic  [3:0] write_o,
  output word_t       data_o,
  input  word_t       data_i,

  output unit_req_t unit_o,
  input  unit_rsp_t unit_i,

  output logic   halted_o,
  output cause_t cause_o,

  // For tests: an instruction is done.
  output logic  retire_o,
  output word_t retire_pc_o,
  output logic  retire_write_o,
  output word_t retire_data_o
);

  typedef enum logic [2:0] {
    Fetch,
    Decode,
    Execute,
    Memory,
    Multiply,
    Divide,
    Unit,
    Halt
  } state_t;

  state_t state_d, state_q;
  word_t pc_q, next_pc, jump_pc, ir_q, cycle_q;
  word_t ahead_q;  // the instruction behind the one in execution, while the memory gives something else
  logic jump;
  logic [4:0] rd;
  logic write_rd;
  word_t rd_data;

  assign rd = ir_q[11:7];

  // -- registers --------------------------------------------------------------------------------------------

  (* ram_style = "distributed" *) word_t registers[32];
  word_t rs1, rs2;

  assign rs1 = ir_q[19:15] == '0 ? '0 : registers[ir_q[19:15]];
  assign rs2 = ir_q[24:20] == '0 ? '0 : registers[ir_q[24:20]];

  always_ff @(posedge clk_i) if (write_rd) registers[rd] <= rd_data;

  // -- decoding ---------------------------------------------------------------------------------------------

  logic [6:0] opcode;
  logic [2:0] funct3;
  word_t imm_i, imm_s, imm_b, imm_u, imm_j;
  logic is_load, is_store, is_multiply, is_divide, is_unit, is_stop, is_cycle, known, aligned;

  assign opcode      = ir_q[6:0];
  assign funct3      = ir_q[14:12];
  assign imm_i       = {{20{ir_q[31]}}, ir_q[31:20]};
  assign imm_s       = {{20{ir_q[31]}}, ir_q[31:25], ir_q[11:7]};
  assign imm_b       = {{20{ir_q[31]}}, ir_q[7], ir_q[30:25], ir_q[11:8], 1'b0};
  assign imm_u       = {ir_q[31:12], 12'd0};
  assign imm_j       = {{12{ir_q[31]}}, ir_q[19:12], ir_q[20], ir_q[30:21], 1'b0};

  assign is_load     = opcode == OpLoad && funct3 inside {3'd0, 3'd1, 3'd2, 3'd4, 3'd5};
  assign is_store    = opcode == OpStore && funct3 inside {3'd0, 3'd1, 3'd2};
  assign is_multiply = opcode == OpRegister && ir_q[31:25] == 7'd1 && !funct3[2];
  assign is_divide   = opcode == OpRegister && ir_q[31:25] == 7'd1 && funct3[2];
  assign is_unit     = opcode == OpCustom0 && funct3 inside {3'd0, 3'd1, 3'd2, 3'd3};
  assign is_stop     = opcode == OpSystem && funct3 == 3'd0 && ir_q[31:21] == '0;
  // csrrs rd, cycle, x0
  assign is_cycle    = opcode == OpSystem && funct3 == 3'd2 && ir_q[31:20] == 12'hc00 && ir_q[19:15] == '0;

  always_comb begin
    unique case (opcode)
      OpLui, OpAuipc, OpJal, OpFence: known = 1'b1;
      OpJalr: known = funct3 == 3'd0;
      OpBranch: known = funct3[2:1] != 2'b01;
      OpLoad: known = is_load;
      OpStore: known = is_store;
      OpImmediate: known = funct3[1:0] != 2'b01 || (ir_q[31:25] & ~{1'b0, funct3[2], 5'd0}) == '0;
      OpRegister:
      known = ir_q[31:25] inside {7'd0, 7'd1} || (ir_q[31:25] == 7'h20 && funct3 inside {3'd0, 3'd5});
      OpCustom0: known = is_unit;
      OpSystem: known = is_stop || is_cycle;
      default: known = 1'b0;
    endcase
  end

  // -- one clock's work -------------------------------------------------------------------------------------

  word_t operand, sum, shifted, simple, target;
  logic subtract, below, below_unsigned, signed_branch, less, taken;
  logic [4:0] amount;

  assign operand        = opcode == OpImmediate ? imm_i : rs2;
  assign subtract       = opcode == OpRegister && ir_q[30];
  assign sum            = subtract ? rs1 - operand : rs1 + operand;
  assign below          = $signed(rs1) < $signed(operand);
  assign below_unsigned = rs1 < operand;
  assign amount         = opcode == OpImmediate ? ir_q[24:20] : rs2[4:0];

  always_comb begin
    if (funct3 == 3'd1) shifted = rs1 << amount;
    else if (ir_q[30]) shifted = word_t'($signed(rs1) >>> amount);
    else shifted = rs1 >> amount;
  end

  always_comb begin
    unique case (funct3)
      3'd0: simple = sum;
      3'd1, 3'd5: simple = shifted;
      3'd2: simple = word_t'(below);
      3'd3: simple = word_t'(below_unsigned);
      3'd4: simple = rs1 ^ operand;
      3'd6: simple = rs1 | operand;
      3'd7: simple = rs1 & operand;
      default: simple = '0;
    endcase
  end

  always_comb begin
    // The address of the next instruction waits for this: a comparison of its own, of numbers without a sign.
    signed_branch = !funct3[1];
    less = {rs1[31] ^ signed_branch, rs1[30:0]} < {rs2[31] ^ signed_branch, rs2[30:0]};
    taken = (funct3[2] ? less : rs1 == rs2) ^ funct3[0];
  end

  assign next_pc = pc_q + 32'd4;

  always_comb begin
    jump_pc = pc_q + imm_b;
    if (opcode == OpJal) jump_pc = pc_q + imm_j;
    if (opcode == OpJalr) jump_pc = (rs1 + imm_i) & ~32'd1;
  end
  assign jump   = opcode == OpJal || opcode == OpJalr || (opcode == OpBranch && taken);
  assign target = rs1 + (is_store ? imm_s : imm_i);

  always_comb begin
    aligned = !jump || !jump_pc[1];
    if (is_load || is_store) begin
      if (funct3[1:0] == 2'd1) aligned = !target[0];
      if (funct3[1:0] == 2'd2) aligned = target[1:0] == '0;
    end
  end

  // -- products and quotients -------------------------------------------------------------------------------

  logic signed [32:0] left_q, right_q;
  logic signed [65:0] product_q;
  logic [5:0] count_q;
  logic [31:0] quotient_q, divisor_q;
  logic [32:0] rest, smaller;
  logic [31:0] rest_q;
  logic negate_quotient_q, negate_rest_q, signed_divide;
  word_t divided;

  assign signed_divide = !funct3[0];
  assign rest = {rest_q, quotient_q[31]};
  assign smaller = rest - {1'b0, divisor_q};
  assign divided       = funct3[1] ? (negate_rest_q ? -rest_q : rest_q) : (negate_quotient_q ? -quotient_q : quotient_q);

  always_ff @(posedge clk_i) begin
    product_q <= left_q * right_q;
    if (state_q == Execute) begin
      // mul, mulh: both signed; mulhsu: the first; mulhu: none.
      left_q            <= {rs1[31] && funct3[1:0] != 2'd3, rs1};
      right_q           <= {rs2[31] && !funct3[1], rs2};
      count_q           <= '0;
      rest_q            <= '0;
      quotient_q        <= signed_divide && rs1[31] ? -rs1 : rs1;
      divisor_q         <= signed_divide && rs2[31] ? -rs2 : rs2;
      // A quotient by zero is all ones, whatever the signs.
      negate_quotient_q <= signed_divide && (rs1[31] ^ rs2[31]) && rs2 != '0;
      negate_rest_q     <= signed_divide && rs1[31];
    end else begin
      count_q <= count_q + 6'd1;
      if (state_q == Divide && !count_q[5]) begin
        rest_q     <= smaller[32] ? rest[31:0] : smaller[31:0];
        quotient_q <= {quotient_q[30:0], !smaller[32]};
      end
    end
  end

  // -- loads and stores -------------------------------------------------------------------------------------

  logic [1:0] low_q;
  word_t loaded;
  logic [15:0] moved;

  assign moved = 16'(data_i >> {low_q, 3'd0});

  always_comb begin
    unique case (funct3)
      3'd0:    loaded = {{24{moved[7]}}, moved[7:0]};
      3'd1:    loaded = {{16{moved[15]}}, moved[15:0]};
      3'd4:    loaded = {24'd0, moved[7:0]};
      3'd5:    loaded = {16'd0, moved[15:0]};
      default: loaded = data_i;
    endcase
  end

  assign data_o = rs2 << {target[1:0], 3'd0};

  // -- control ----------------------------------------------------------------------------------------------

  logic   done;  // the instruction is, but for what it jumps to
  logic   traps;
  cause_t cause_d;

  always_comb begin
    cause_d = CauseStop;
    if (state_q == Unit) cause_d = unit_i.cause;
    else if (!known) cause_d = CauseIllegal;
    else if (!aligned) cause_d = CauseAlignment;
  end
  assign traps = (state_q == Execute && (!known || !aligned || is_stop)) || (state_q == Unit && unit_i.trap);

  always_comb begin
    state_d = state_q;
    done    = 1'b0;
    unique case (state_q)
      Fetch: state_d = Decode;
      Decode: state_d = Execute;
      Execute: begin
        if (is_load || is_store) state_d = Memory;
        else if (is_multiply) state_d = Multiply;
        else if (is_divide) state_d = Divide;
        else if (is_unit) state_d = Unit;
        else begin
          done    = 1'b1;
          state_d = jump ? Decode : Execute;
        end
      end
      Memory: done = 1'b1;
      Multiply: done = count_q == 6'd1;
      Divide: done = count_q == 6'd32;
      Unit: done = unit_i.done;
      default: state_d = Halt;
    endcase
    if (done && state_q != Execute) state_d = Execute;
    if (traps) begin
      state_d = Halt;
      done    = 1'b0;
    end
  end

  always_comb begin
    rd_data = simple;
    unique case (state_q)
      Memory:   rd_data = loaded;
      Multiply: rd_data = funct3[1:0] == 2'd0 ? product_q[31:0] : product_q[63:32];
      Divide:   rd_data = divided;
      Unit:     rd_data = unit_i.data;
      default: begin
        if (opcode == OpLui) rd_data = imm_u;
        if (opcode == OpAuipc) rd_data = pc_q + imm_u;
        if (opcode == OpJal || opcode == OpJalr) rd_data = next_pc;
        if (is_cycle) rd_data = cycle_q;
      end
    endcase
  end
  assign write_rd = done && rd != '0 && !(opcode inside {OpBranch, OpStore, OpFence});

  // While an instruction is done, the one behind it comes and the next one is asked for.
  always_comb begin
    address_o = state_q == Fetch ? pc_q : state_q == Decode ? next_pc : pc_q + 32'd8;
    write_o   = '0;
    if (state_q == Execute && (is_load || is_store)) begin
      address_o = target;
      if (is_store && aligned)
        write_o = (funct3[1:0] == 2'd0 ? 4'b0001 : funct3[1:0] == 2'd1 ? 4'b0011 : 4'b1111) << target[1:0];
    end
    if (state_q == Execute && jump) address_o = jump_pc;
  end

  assign unit_o = '{
      valid: state_q == Execute && is_unit,
      operation: funct3[1:0],
      number: ir_q[24:20],
      address: rs1,
      operand: rs2
    };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Fetch;
      pc_q    <= '0;
      cycle_q <= '0;
      cause_o <= CauseStop;
    end else begin
      state_q <= state_d;
      cycle_q <= cycle_q + 32'd1;
      if (done) pc_q <= state_q == Execute && jump ? jump_pc : next_pc;
      if (traps) cause_o <= cause_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Execute) begin
      ahead_q <= data_i;
      low_q   <= target[1:0];
    end
    if (state_q == Decode || (state_q == Execute && done)) ir_q <= data_i;
    else if (done) ir_q <= ahead_q;
  end

  assign halted_o       = state_q == Halt;
  assign retire_o       = done;
  assign retire_pc_o    = pc_q;
  assign retire_write_o = write_rd;
  assign retire_data_o  = rd_data;

  logic unused;
  assign unused = ^{product_q[65:64], target, unit_i};

endmodule

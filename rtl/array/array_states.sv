// SPDX-License-Identifier: Apache-2.0
//
// States of hashes that lanes begin with: the first one of a bank's set, and the inner and the outer one of each of
// its keys. Lanes that want one are served one after the other, the lowest first.
//
// Clocks: 4 beats and 5 until the next lane.
module array_states
  import array_front_pkg::*;
  import core_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // A beat of the bank that does not run, or of its key.
  input logic        write_i,
  input logic [ 6:0] write_at_i,
  input logic [63:0] write_data_i,

  input  logic                    bank_i,
  input  logic        [Lanes-1:0] valid_i,
  input  state_e      [Lanes-1:0] state_i,
  input  lane_key_t   [Lanes-1:0] key_i,
  output state_beat_t [Lanes-1:0] beat_o
);

  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;

  logic [3:0] step_q;  // 0: nobody is served
  logic [LaneBits-1:0] lane_q, lane;
  logic [63:0] word;
  logic [ 6:0] read_at;
  logic [ 1:0] index;

  always_comb begin
    lane = '0;
    for (int unsigned l = 0; l < Lanes; l++) if (valid_i[Lanes-1-l]) lane = LaneBits'(Lanes - 1 - l);
    // The memory answers two clocks behind the address, which is a register.
    index = 2'(step_q - 4'd4);
    for (int unsigned l = 0; l < Lanes; l++) begin
      beat_o[l] = '{
        valid: step_q inside {[4'd4 : 4'd7]} && lane_q == LaneBits'(l),
        index: index,
        data: word
      };
    end
  end

  always_ff @(posedge clk_i) begin
    read_at <= {
      bank_i, state_i[lane_q] == StateFirst ? 2'b0 : key_i[lane_q].area, state_i[lane_q], 2'(step_q - 4'd1)
    };
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      lane_q <= '0;
    end else if (step_q == '0) begin
      lane_q <= lane;
      step_q <= valid_i != '0 ? 4'd1 : 4'd0;
    end else begin
      // The lane has stopped asking when the next one is looked for.
      step_q <= step_q == 4'd9 ? '0 : step_q + 4'd1;
    end
  end

  // First states are no secret, and outlast a clear.
  logic write;
  logic [6:0] write_at;
  logic [63:0] write_data;
  clear_t no_clear;

  assign no_clear = '0;
  always_ff @(posedge clk_i) begin
    write      <= write_i || (clear_i.active && clear_i.index[3:2] != 2'd2);
    write_at   <= clear_i.active ? clear_i.index[6:0] : write_at_i;
    write_data <= clear_i.active ? '0 : write_data_i;
  end

  ram_block #(
    .Width(64),
    .Depth(128)
  ) u_memory (
    .clk_i,
    .clear_i     (no_clear),
    .write_i     (write),
    .write_at_i  (write_at),
    .write_data_i(write_data),
    .read_i      (1'b1),
    .read_at_i   (read_at),
    .read_data_o (word)
  );

endmodule

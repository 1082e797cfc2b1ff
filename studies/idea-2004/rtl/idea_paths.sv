// SPDX-License-Identifier: Apache-2.0
//
// IDEA with the data path that Path says. The 52 subkeys come one by one in the order of use: those of decryption make
// it decrypt. Words are as the standard numbers them, the first in bits 15:0.
//
// Cycles from one block to the next: Path 0 (sequential) 8 * 14 + 4 + 1, 1 (with replication) 8 * 7 + 1 + 1, 2
// (pipelined) 8, its result 9 * 8 + 1 clocks behind the block. A block is taken in a clock with ready_o.
module idea_paths
  import idea_paths_pkg::*;
#(
  parameter int unsigned Path = 0
) (
  input logic clk_i,

  input logic  key_first_i,  // the first of 52
  input logic  key_valid_i,
  input word_t key_i,

  output logic        ready_o,
  input  logic        start_i,
  input  word_t [3:0] block_i,
  output logic        valid_o,
  output word_t [3:0] block_o
);

  localparam int unsigned Phases = 8;
  localparam logic [1:0] Way = 2'(Path);
  localparam step_t LastStep = last_step(Way);

  if (Path > 2) begin : gen_illegal
    $error("idea_paths: Path must be 0, 1 or 2");
  end

  step_t step_q;

  if (Way == PathP) begin : gen_pipeline
    word_t [Phases*6+3:0] z_q;
    word_t [3:0] x_q[Phases+1];
    word_t [3:0] y[Phases], result;
    logic [Phases:0] valid_q;
    logic [3:0] unused_write[Phases+1];
    word_t [3:0] unused_result[Phases], unused_y;
    logic unused;

    always_ff @(posedge clk_i) if (key_valid_i) z_q <= {key_i, z_q[Phases*6+3:1]};

    for (genvar p = 0; p < Phases; p++) begin : gen_phase
      idea_phase #(
        .Path(Way)
      ) u_phase (
        .clk_i,
        .step_i  (step_q),
        .x_i     (x_q[p]),
        .z_i     (z_q[6*p+:6]),
        .y_o     (y[p]),
        .write_o (unused_write[p]),
        .result_o(unused_result[p])
      );
    end

    idea_phase #(
      .Path  (Way),
      .Output(1'b1)
    ) u_output (
      .clk_i,
      .step_i  (step_q),
      .x_i     ({x_q[Phases][3], x_q[Phases][1], x_q[Phases][2], x_q[Phases][0]}),
      .z_i     ({32'd0, z_q[Phases*6+:4]}),
      .y_o     (unused_y),
      .write_o (unused_write[Phases]),
      .result_o(result)
    );
    assign unused  = key_first_i;

    // Between the phases are registers of 64 bits, which all take in the last step.
    assign ready_o = step_q == LastStep;

    always_ff @(posedge clk_i) begin
      step_q  <= ready_o ? '0 : step_q + 4'd1;
      valid_o <= ready_o && valid_q[Phases];
      if (ready_o) begin
        x_q[0]  <= block_i;
        valid_q <= {valid_q[Phases-1:0], start_i};
        block_o <= result;
        for (int unsigned p = 0; p < Phases; p++) x_q[p+1] <= y[p];
      end
      // Whatever stands in it when the clock begins.
      if (step_q > LastStep) step_q <= '0;
    end
  end else begin : gen_sequential
    (* ram_style = "distributed" *) word_t z0[16], z1[16], z2[16], z3[16], z4[16], z5[16];
    logic [2:0] role_q, role;
    logic [3:0] row_q, row, phase_q;
    logic busy_q, last_phase;
    word_t [3:0] x_q, y, result;
    logic [3:0] write;

    assign role       = key_first_i ? '0 : role_q;
    assign row        = key_first_i ? '0 : row_q;
    assign last_phase = phase_q == 4'(Phases);
    assign ready_o    = !busy_q;

    always_ff @(posedge clk_i) begin
      if (key_valid_i) begin
        role_q <= role == 3'd5 ? '0 : role + 3'd1;
        row_q  <= role == 3'd5 ? row + 4'd1 : row;
      end
    end
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd0) z0[row] <= key_i;
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd1) z1[row] <= key_i;
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd2) z2[row] <= key_i;
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd3) z3[row] <= key_i;
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd4) z4[row] <= key_i;
    always_ff @(posedge clk_i) if (key_valid_i && role == 3'd5) z5[row] <= key_i;

    idea_phase #(
      .Path(Way)
    ) u_phase (
      .clk_i,
      .step_i  (step_q),
      .x_i     (last_phase ? {x_q[3], x_q[1], x_q[2], x_q[0]} : x_q),
      .z_i     ({z5[phase_q], z4[phase_q], z3[phase_q], z2[phase_q], z1[phase_q], z0[phase_q]}),
      .y_o     (y),
      .write_o (write),
      .result_o(result)
    );

    assign block_o = result;

    always_ff @(posedge clk_i) begin
      valid_o <= busy_q && last_phase && step_q == last_of_output(Way);
      if (start_i) begin
        busy_q  <= 1'b1;
        step_q  <= '0;
        phase_q <= '0;
        x_q     <= block_i;
      end else if (busy_q) begin
        step_q <= step_q == LastStep ? '0 : step_q + 4'd1;
        if (step_q == LastStep) phase_q <= phase_q + 4'd1;
        if (last_phase && step_q == last_of_output(Way)) busy_q <= 1'b0;
        for (int unsigned w = 0; w < 4; w++) if (write[w]) x_q[w] <= y[w];
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The run of quiet rows: its code, and how many rows of it are left.
//
// Clocks: one for the exponent and one for each bit of m; then one for each row.
module config_run (
  input logic clk_i,
  input logic clear_i,

  // A quiet row is at hand, and what is due there happens.
  input  logic       step_i,
  // The next bits.
  input  logic [3:0] bits_i,
  // What is due: the exponent, 4 bits; nothing, a row that is zero; a value. Else a bit of m.
  output logic       exponent_o,
  output logic       zero_o,
  output logic       value_o,
  // There has to be more of the run.
  output logic       open_o
);

  typedef enum logic [1:0] {
    None  = 2'b00,
    Shift = 2'b01,
    Value = 2'b10,
    Count = 2'b11
  } run_e;

  run_e run_q;
  logic more_q;  // behind the run is another run
  logic [3:0] shift_q;  // bits that the length lacks
  // Quiet rows of the run, and one. It counts through zero where there are as many rows as there can be.
  logic [14:0] left_q, less;
  logic [6:0] borrow;
  logic none, all, two;

  assign exponent_o = run_q == None;
  assign zero_o     = run_q == Count;
  assign value_o    = run_q == Value;
  assign open_o     = run_q == Shift || run_q == Count;

  assign none       = bits_i == '0;
  assign all        = &bits_i;
  assign two        = left_q == 15'd2;

  // Less one is written out, so that each bit is one look-up table together with what is shifted in.
  always_comb begin
    less[2:0] = left_q[2:0] ^ {left_q[1:0] == '0, !left_q[0], 1'b1};
    for (int i = 0; i < 6; i++) less[2*i+3+:2] = left_q[2*i+3+:2] ^ {borrow[i] && !left_q[2*i+3], borrow[i]};
  end
  assign borrow[0] = left_q[2:0] == '0;
  for (genvar i = 1; i < 7; i++) begin : gen_borrow
    assign borrow[i] = borrow[i-1] && left_q[2*i+1+:2] == '0;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      run_q <= None;
    end else if (step_i) begin
      unique case (run_q)
        None: run_q <= none ? Value : all ? Count : Shift;
        Shift: if (shift_q == 4'd1) run_q <= Count;
        Count: if (two) run_q <= more_q ? None : Value;
        default: run_q <= None;
      endcase
    end
    if (run_q == None) begin
      left_q  <= {14'd0, !all};
      shift_q <= bits_i;
      more_q  <= all;
    end else if (step_i) begin
      left_q  <= run_q == Count ? less : {left_q[13:0], bits_i[3]};
      shift_q <= shift_q - 1'b1;
    end
  end

endmodule

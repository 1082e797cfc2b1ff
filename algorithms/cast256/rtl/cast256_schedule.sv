// SPDX-License-Identifier: Apache-2.0
//
// The key schedule of CAST-256 (RFC 2612, 2.4) but for its round function: the eight words of the key, the
// constants Tm and Tr, and what is a round key among the words that the rounds make. A round is
//   target ^ f(word made before, Tm, Tr)
// and targets are the words from the last but one to the first and then the last, 24 times over.
//
// Clocks: 194 steps, and before them, for keys of less than 25 bytes, 1 or 2 to fill up with zeros.
module cast256_schedule
  import core_pkg::*;
  import cast_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input key_beat_t key_i,

  output logic busy_o,

  // A step is done in this clock. In each: key and kind of the round after the next; the target of this one,
  // which in the step of start_o is only what the first round looks up; and the word that it becomes.
  input  logic       advance_i,
  output round_key_t constant_o,
  output logic       start_o,
  output word_t      target_o,
  input  word_t      word_i,

  // What the word is among the round keys: four for each of 12 quads.
  output made_t made_o
);

  typedef enum logic [1:0] {
    Idle,
    Fill,
    Run
  } state_e;

  localparam word_t FirstMask = 32'h5A827999;
  localparam word_t MaskStep = 32'h6ED9EBA1;
  localparam logic [4:0] FirstRotate = 5'd19;
  localparam logic [4:0] RotateStep = 5'd17;
  localparam logic [7:0] LastStep = 8'd193;

  state_e state_q;
  logic [7:0] step_q;  // in Fill the row
  logic [7:0] round;
  logic making;  // this step makes a word
  word_t mask_q;
  logic [4:0] rotate_q;

  assign making = state_q == Run && advance_i && step_q >= 8'd2;
  assign round = step_q - 8'd2;
  assign busy_o = state_q != Idle;
  assign start_o = step_q == 8'd1;

  // A quad's round keys come as rotation 3, masking 1, rotation 2, masking 2, .. rotation 0, masking 0.
  assign made_o = '{
      valid: making && round[3],
      rotation: !round[0],
      index: {round[7:4], round[0] ? round[2:1] + 2'd1 : ~round[2:1]},
      word: word_i
    };

  always_comb begin
    constant_o = '{kind: Kind2, mask: mask_q, rotate: rotate_q};
    unique case (step_q[2:0])
      3'd0, 3'd3, 3'd6: constant_o.kind = Kind1;
      3'd2, 3'd5: constant_o.kind = Kind3;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      step_q  <= '0;
    end else if (clear_i.active) begin
      state_q <= Idle;
      step_q  <= '0;
    end else if (key_i.valid) begin
      if (!key_i.last) state_q <= Idle;
      else state_q <= key_i.index[1:0] == 2'd3 ? Run : Fill;
      step_q <= key_i.last && key_i.index[1:0] != 2'd3 ? 8'(key_i.index[1:0]) + 8'd1 : '0;
    end else begin
      unique case (state_q)
        Fill: begin
          step_q <= step_q[1:0] == 2'd3 ? '0 : step_q + 8'd1;
          if (step_q[1:0] == 2'd3) state_q <= Run;
        end
        Run: begin
          if (advance_i) step_q <= step_q + 8'd1;
          if (advance_i && step_q == LastStep) state_q <= Idle;
        end
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q != Run) begin
      mask_q   <= FirstMask;
      rotate_q <= FirstRotate;
    end else if (advance_i) begin
      mask_q   <= mask_q + MaskStep;
      rotate_q <= rotate_q + RotateStep;
    end
  end

  // -- the words, those with even and those with odd numbers --------------------------------------------------

  logic [2:0] index;
  logic [1:0] row;
  logic load;
  word_t even_d, odd_d, even, odd;

  assign index = 3'd0 - step_q[2:0];
  assign load  = key_i.valid || state_q == Fill;

  always_comb begin
    row = key_i.valid ? key_i.index[1:0] : state_q == Fill ? step_q[1:0] : index[2:1];
    even_d = key_i.valid ? swap(key_i.data[31:0]) : word_i & {32{!load}};
    // The last beat may hold one word only.
    odd_d = key_i.valid ? swap(key_i.data[63:32]) & {32{!(key_i.last && key_i.len[2])}} :
      word_i & {32{!load}};
  end

  ram_logic #(
    .Width(32),
    .Depth(4)
  ) u_evens (
    .clk_i,
    .clear_i,
    .write_i     (load || (making && !index[0])),
    .write_at_i  (row),
    .write_data_i(even_d),
    .read_at_i   (index[2:1]),
    .read_data_o (even)
  );

  ram_logic #(
    .Width(32),
    .Depth(4)
  ) u_odds (
    .clk_i,
    .clear_i,
    .write_i     (load || (making && index[0])),
    .write_at_i  (row),
    .write_data_i(odd_d),
    .read_at_i   (index[2:1]),
    .read_data_o (odd)
  );

  assign target_o = index[0] ? odd : even;

  logic unused;
  assign unused = ^key_i;

endmodule

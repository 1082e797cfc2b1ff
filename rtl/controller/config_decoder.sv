// SPDX-License-Identifier: Apache-2.0
//
// The decompressor of the library (docs/library.md, "The stream"): bytes of a stream in, rows of frames out. It also
// takes the library's dictionary, as it stands in the file, and keeps it in a block RAM.
//
// At the heart is a window of bytes, the last one read and the one before, and the number of bits of the last one
// that are done. What a code begins with stands behind that point; the bits of an index stand before it as soon as
// they are consumed, so that nothing ever has to be aligned by the length of a code.
//
// Clocks: 1 for a row that is zero, 2 if it is hot; 2 for a value of the first 16 entries and 3 for every other, 1 more
// if it is warm; 2 for a run and 1 for each bit of its m. Rows that a run covers go on while others wait for bits.
module config_decoder #(
  // Rows of a frame, and bits of its highest row.
  parameter int unsigned Rows = 72,
  parameter int unsigned HighestBits = 5
) (
  input logic clk_i,

  // Forgets the stream. A new one begins when it falls.
  input  logic       clear_i,
  // The stream is the dictionary, not frames.
  input  logic       dictionary_i,
  // Who gives the stream counts: next_o ends a frame, or an entry of the dictionary, last_i says that the one at hand
  // is the last, and place_i is the place of the entry: 176 for the first one, 1023 for the last.
  output logic       next_o,
  input  logic       last_i,
  input  logic [9:0] place_i,
  // All of the stream is taken and all rows are gone, or the stream is not one that can be. Until clear_i.
  output logic       done_o,
  output logic       error_o,

  // The stream. Zeros without an end follow its last byte, each marked as behind; one of them is taken.
  input  logic       s_valid_i,
  output logic       s_ready_o,
  input  logic [7:0] s_data_i,
  input  logic       s_behind_i,

  output logic        m_valid_o,
  input  logic        m_ready_i,
  output logic [11:0] m_row_o,
  // It is a frame's lowest row, of one bit.
  output logic        m_lowest_o
);

  if (Rows < 8 || Rows > 128) begin : gen_check_rows
    $error("Rows has to be 8 to 128");
  end
  logic prime_q;  // the first byte is to be read
  logic flush_q;  // all rows are done; the last byte has to end in zeros
  logic stop_q, fail_q;
  logic halt_q;  // nothing is decoded: before the first byte, between the last row and the end of the stream, behind it
  logic go;

  // The window
  logic [7:0] old_q, cur_q;
  logic behind_q;  // cur_q is behind the stream
  logic [2:0] at_q, next_at;
  logic [3:0] given, hot_given, chosen;
  logic advance;
  logic no_bit, one_bit;  // if any, what is consumed
  logic [19:0] window;
  logic [13:0] coarse;
  logic [12:0] view;
  logic [ 7:0] past;  // before the point
  logic [ 3:0] code_q;  // behind it
  logic b0, b1, b2, b3;
  logic wait_q, needed;  // they are not there yet; they are needed

  assign window = {old_q, cur_q, s_data_i[7:4]};
  always_comb begin
    unique case (at_q[2:1])
      2'd0: coarse = window[19:6];
      2'd1: coarse = window[17:4];
      2'd2: coarse = window[15:2];
      default: coarse = window[13:0];
    endcase
  end
  assign view = at_q[0] ? coarse[12:0] : coarse[13:1];
  assign past = view[12:5];
  assign {b0, b1, b2, b3} = code_q;

  // What the next bits are
  logic quiet_q, hot_q;  // class of the row
  logic value_q;  // a value follows that is not behind a run
  logic step_q;  // the second part of a value follows: 5 bits, or 8 of a literal
  logic literal_q;
  logic [1:0] class_q;  // entries 0 to 15, 16 to 79, 80 to 335, 336 and above
  logic run_q, more_q;
  logic shifted_q;  // the run's length is complete
  logic one_q;  // and the row at hand is the run's last, or the value behind it
  logic final_q;  // that is, the value
  logic value, single, row, used, finish;
  logic lowest, quiet_next, hot_next, above;
  logic room, wrong_row, empty;

  assign value  = value_q || (quiet_q && final_q);
  assign single = !b0 || (hot_q && !b1 && b2);

  // Where the next code stands, with a carry if the window moves on by a byte: everything but the choice that the
  // bits make is there before them.
  always_comb begin
    if (step_q) given = literal_q ? {1'b0, at_q} + 4'd8 : {1'b0, at_q} + 4'd5;
    else if (quiet_q && !value) given = {1'b0, at_q} + {1'b0, !run_q, 1'b0, run_q && !shifted_q && !more_q};
    else if (value) given = {1'b0, at_q} + 4'd5;
    else given = dictionary_i ? {1'b0, at_q} + 4'd4 : {1'b0, at_q} + 4'd1;
    hot_given = hot_q ? {1'b0, at_q} + 4'd4 : {1'b0, at_q} + 4'd3;
    if (b1) chosen = b2 ? {1'b0, at_q} + 4'd8 : {1'b0, at_q} + 4'd6;
    else chosen = b2 ? {1'b0, at_q} + 4'd3 : hot_given;
    {advance, next_at} = value && b0 && !step_q ? chosen : given;
  end

  // Neither depends on the bits.
  assign no_bit = !step_q && !value && quiet_q && run_q && (shifted_q || more_q);
  assign one_bit = !step_q && !value && (quiet_q ? run_q && !shifted_q && !more_q : !dictionary_i);
  assign needed = !step_q && !dictionary_i && !(quiet_q && run_q && shifted_q && !final_q);
  assign go = s_valid_i && room && !halt_q && !clear_i && !(wait_q && needed);
  assign s_ready_o = (prime_q && !clear_i) || (go && advance);

  always_comb begin
    if (step_q) row = !dictionary_i;
    else if (value) row = single;
    else if (quiet_q) row = run_q && shifted_q;
    else row = !b0 && !flush_q && !dictionary_i;
  end
  assign used   = step_q || (value && !b0);
  assign next_o = go && (dictionary_i ? step_q : row && lowest);
  assign finish = next_o && last_i;

  always_ff @(posedge clk_i) begin
    if (s_valid_i && s_ready_o) begin
      old_q <= cur_q;
      cur_q <= s_data_i;
      behind_q <= s_behind_i;
    end
    if (clear_i) at_q <= '0;
    else if (go) at_q <= next_at;
    // What a code begins with is taken from the window a clock ahead, if none or one bit is consumed. Behind
    // longer ones there is a clock in which only what needs no bits can go on.
    if (s_valid_i) code_q <= go && one_bit ? view[3:0] : view[4:1];
    if (clear_i) wait_q <= 1'b1;
    else if (s_valid_i) wait_q <= prime_q || (go && !one_bit && !no_bit);
  end

  config_ages #(
    .Rows(Rows)
  ) u_ages (
    .clk_i,
    .clear_i,
    .step_i  (go && row),
    .used_i  (used),
    .lowest_o(lowest),
    .quiet_o (quiet_next),
    .hot_o   (hot_next)
  );

  // Classes, values
  assign above = used && !lowest;

  always_ff @(posedge clk_i) begin
    if (clear_i || flush_q) begin
      quiet_q <= clear_i && !dictionary_i;
      hot_q   <= 1'b0;
      value_q <= 1'b0;
    end else if (go && row) begin
      quiet_q <= quiet_next && !above;
      hot_q   <= hot_next && above;
      value_q <= hot_next && above;
    end else if (go) begin
      // Not the second part of a value, a value or a quiet row: then it is a warm one, and not zero.
      value_q <= !step_q && !value_q && !quiet_q && !dictionary_i;
    end
    if (clear_i) begin
      step_q <= 1'b0;
    end else if (go) begin
      step_q <= !step_q && (dictionary_i || (value && !single));
    end
    if (go && !step_q) begin
      literal_q <= dictionary_i || (b0 && b1 && b2 && b3);
      class_q   <= {b0 && b1, b0 && (!b1 || b2)};
    end
  end

  // Runs. The run less one is written out, so that each bit is one look-up table together with what is shifted in.
  logic [3:0] shift_q;  // bits that the length lacks
  logic [14:0] left_q, less;  // quiet rows of the run, the value behind it included
  logic [6:0] borrow;
  always_comb begin
    less[2:0] = left_q[2:0] ^ {left_q[1:0] == '0, !left_q[0], 1'b1};
    for (int i = 0; i < 6; i++) less[2*i+3+:2] = left_q[2*i+3+:2] ^ {borrow[i] && !left_q[2*i+3], borrow[i]};
  end
  assign borrow[0] = left_q[2:0] == '0;
  for (genvar i = 1; i < 7; i++) begin : gen_borrow
    assign borrow[i] = borrow[i-1] && left_q[2*i+1+:2] == '0;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) run_q <= 1'b0;
    else if (go && quiet_q && !step_q) run_q <= !one_q;
    if (!run_q) begin
      left_q    <= 15'd1;
      shift_q   <= code_q;
      shifted_q <= code_q == '0;
      more_q    <= &code_q;
      one_q     <= go && quiet_q && !step_q && code_q == '0;
      final_q   <= go && quiet_q && !step_q && code_q == '0;
    end else if (go && quiet_q && !step_q) begin
      if (shifted_q) begin
        left_q <= less;
      end else begin
        shift_q <= shift_q - 1'b1;
        left_q  <= {left_q[13:0], b0 || more_q};
      end
      shifted_q <= shifted_q || shift_q == 4'd1;
      one_q     <= shifted_q && left_q == 15'd2;
      final_q   <= shifted_q && left_q == 15'd2 && !more_q;
    end
    if (clear_i) begin
      one_q   <= 1'b0;
      final_q <= 1'b0;
    end
  end

  config_rows #(
    .HighestBits(HighestBits)
  ) u_rows (
    .clk_i,
    .clear_i,
    .entry_i  (go && step_q && dictionary_i),
    .row_i    (go && row),
    .ready_o  (room),
    .used_i   (used),
    .lowest_i (lowest),
    .part_i   (step_q),
    .past_i   (past),
    .class_i  (class_q),
    .literal_i(literal_q),
    .place_i,
    .valid_o  (m_valid_o),
    .ready_i  (m_ready_i),
    .row_o    (m_row_o),
    .lowest_o (m_lowest_o),
    .wrong_o  (wrong_row),
    .empty_o  (empty)
  );

  // What cannot be besides: a stream that is too short or too long.
  logic wrong, stop, wrong_end, flushed;
  assign flushed = flush_q && at_q == '0;
  assign wrong_end = flushed ? !behind_q || (run_q && !final_q) : flush_q && b0;

  assign wrong = wrong_row || (go && (wrong_end || (advance && behind_q)));
  assign stop = wrong || (go && flushed);

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      prime_q <= 1'b1;
      halt_q  <= 1'b1;
      flush_q <= 1'b0;
      stop_q  <= 1'b0;
      fail_q  <= 1'b0;
    end else begin
      if (s_valid_i) prime_q <= 1'b0;
      halt_q <= (prime_q && !s_valid_i) || finish || stop_q || stop;
      if (finish) flush_q <= 1'b1;
      if (stop) stop_q <= 1'b1;
      if (wrong) fail_q <= 1'b1;
    end
  end

  assign error_o = fail_q;
  assign done_o  = stop_q && empty;

endmodule

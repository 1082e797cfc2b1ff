// SPDX-License-Identifier: Apache-2.0
//
// The decompressor of the library (docs/library-format.md, "The stream"): bytes of a stream in, rows of frames out.
// It also takes the library's dictionary, as it stands in the file, and keeps it in a block RAM.
//
// A code begins with one, three or four bits and goes on with four at a time, so that its last bits always stand in
// the same place: entries are 1 + 4, 4 + 4, 3 + 4 + 4 and 1 + 4 + 4 + 4 bits, a literal is four times four, and hot
// rows have 1 + 4 + 4 for the second class.
//
// Clocks: 1 for a row that is zero; one for each part of a value, 2 to 4, and 1 more if the row is warm; of a run one
// and one for each bit of its m.
module config_decoder
  import load_pkg::*;
#(
  // Rows of a frame, and bits of its highest row.
  parameter int unsigned Rows = 72,
  parameter int unsigned HighestBits = 5
) (
  input logic clk_i,

  input  decode_req_t req_i,
  output decode_rsp_t rsp_o,

  // The stream; of the zeros behind it a few are taken.
  input  read_t s_i,
  output logic  s_ready_o,

  // Rows come when they are there; up to 3 more come while m_room_i is low.
  output row_t m_o,
  input  logic m_room_i
);

  if (Rows < 8 || Rows > 127) begin : gen_check_rows
    $error("Rows has to be 8 to 127");
  end

  // What the next bits are, if they are not a further part of a value.
  typedef enum logic [1:0] {
    Warm  = 2'b00,
    Hot   = 2'b01,
    Quiet = 2'b10,
    Value = 2'b11
  } mode_e;

  mode_e mode_q;
  logic [3:1] more_q;  // at least so many parts of a value follow
  logic live_q;  // the first bits are there
  logic flush_q;  // all rows are done; the last byte has to end in zeros
  logic halt_q;  // nothing is decoded, for a clock behind the last row, and from the end of the stream on
  logic stop_q, stopped_q, still_q, fail_q;
  logic go;

  logic v0, v1, v2, v3;
  logic aligned, behind, beyond;
  logic exponent, run_zero, run_value, run_open;
  logic quiet, value, hot, hot_zero, start, zero, last, row, lowest, quiet_next, hot_next;
  logic four, three, wrong_row, wrong_end, stop, finish;

  assign go = s_i.valid && m_room_i && !halt_q;

  assign quiet = mode_q == Quiet;
  assign hot = mode_q == Hot;
  assign value = mode_q == Value || (quiet && run_value);
  assign hot_zero = hot && {v0, v1, v2} == 3'b101;

  // How many bits are taken. If none are, it does not matter.
  assign four = more_q[1] || req_i.dictionary || (quiet && exponent) || (value && {v0, v1} == 2'b10) ||
                ((value || hot) && {v0, v1, v2, v3} == 4'b1111);
  assign three = hot_zero || ((value || hot) && {v0, v1, v2} == 3'b110);

  // A value begins, a row is zero, the last part of a value or of an entry of the dictionary is there.
  assign start = !flush_q && (value || (hot && !hot_zero));
  assign zero = !more_q[1] && ((quiet && run_zero) || (mode_q == Warm && !v0) || hot_zero);
  assign last = more_q[1] && !more_q[2];
  assign row = (last || zero) && !req_i.dictionary;
  assign rsp_o.next = go && live_q && (last || zero) && (lowest || req_i.dictionary);
  assign finish = rsp_o.next && req_i.last;

  always_ff @(posedge clk_i) begin
    if (req_i.clear || flush_q || req_i.dictionary) begin
      mode_q <= Value;
    end else if (go && row) begin
      if (more_q[1] && !lowest) mode_q <= hot_next ? Hot : Warm;
      else mode_q <= quiet_next ? Quiet : Warm;
    end else if (go && (mode_q != Quiet || run_value)) begin
      // What begins here is not zero.
      mode_q <= Value;
    end
    if (req_i.clear) begin
      // The first bits come as parts of a value of the lowest row before the first frame.
      more_q <= '1;
      live_q <= 1'b0;
    end else if (go) begin
      if (more_q[1]) more_q <= {1'b0, more_q[3:2]};
      else
        more_q <= {
          {v0, v1, v2} == 3'b111 && !req_i.dictionary, req_i.dictionary || (v0 && (v1 || hot)), start
        };
      if (last) live_q <= 1'b1;
    end
  end

  config_window u_window (
    .clk_i,
    .clear_i(req_i.clear),
    .s_ready_o,
    .s_data_i  (s_i.data),
    .s_behind_i(s_i.behind),
    .move_i   (go && !(quiet && run_zero)),
    .four_i   (four),
    .three_i  (three),
    .bits_o   ({v0, v1, v2, v3}),
    .aligned_o(aligned),
    .behind_o (behind),
    .beyond_o (beyond)
  );

  config_run u_run (
    .clk_i,
    .clear_i   (req_i.clear),
    .step_i    (go && quiet),
    .bits_i    ({v0, v1, v2, v3}),
    .exponent_o(exponent),
    .zero_o    (run_zero),
    .value_o   (run_value),
    .open_o    (run_open)
  );

  config_ages #(
    .Rows(Rows)
  ) u_ages (
    .clk_i,
    .clear_i(req_i.clear),
    .step_i  (go && row),
    .used_i  (more_q[1]),
    .lowest_o(lowest),
    .quiet_o (quiet_next),
    .hot_o   (hot_next)
  );

  part_t part;
  logic  all;

  assign all = &{v0, v1, v2, v3};
  assign part = '{
      move: go,
      brief: !more_q[1] && !v0 && !req_i.dictionary,
      bits: {v0, v1, v2, v3},
      starts: go && !more_q[1],
      entry: start && !all,
      class_of: {v0 && v1, start && v0 && (!v1 || v2)},
      literal: start && all,
      write: rsp_o.next && req_i.dictionary,
      row: go && live_q && row,
      used: more_q[1],
      lowest: lowest
    };

  config_rows #(
    .HighestBits(HighestBits)
  ) u_rows (
    .clk_i,
    .clear_i(req_i.clear),
    .part_i (part),
    .place_i(req_i.place),
    .m_o,
    .wrong_o(wrong_row)
  );

  // What cannot be besides: a stream that is too short or too long.
  assign stop = go && flush_q && aligned;
  assign wrong_end = go && (flush_q && aligned ? !behind || run_open : beyond || (flush_q && v0));

  always_ff @(posedge clk_i) begin
    if (req_i.clear) begin
      halt_q <= 1'b0;
      flush_q <= 1'b0;
      stop_q <= 1'b0;
      stopped_q <= 1'b0;
      still_q <= 1'b0;
      fail_q <= 1'b0;
    end else begin
      halt_q <= finish || stop || stop_q;
      if (finish) flush_q <= 1'b1;
      if (stop) stop_q <= 1'b1;
      if (wrong_end || wrong_row) fail_q <= 1'b1;
      stopped_q <= stop_q;
      still_q   <= stopped_q;
    end
  end

  assign rsp_o.error = fail_q;
  assign rsp_o.done  = still_q;

endmodule

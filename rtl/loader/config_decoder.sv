// SPDX-License-Identifier: Apache-2.0
//
// The decompressor of the library (docs/library-format.md, "The stream"): bytes of a stream in, rows of frames out.
// It also takes the library's dictionary, as it stands in the file, and keeps it in a block RAM.
//
// Clocks: 1 for each row, or for both rows of a pair if they are zero and neither is hot; 1 more for a run. Where
// values follow one another, those that their bits take at 8 a clock.
module config_decoder
  import load_pkg::*;
#(
  parameter device_t Device = AnyDevice
) (
  input logic clk_i,

  input  decode_req_t req_i,
  output decode_rsp_t rsp_o,

  // The stream; of the zeros behind it some are taken.
  input  read_t s_i,
  output logic  s_ready_o,

  // Cells come when they are there; up to 5 more come while m_room_i is low.
  output cell_t m_o,
  input  logic  m_room_i
);

  // How the next row is coded.
  typedef enum logic [1:0] {
    Quiet,
    Warm,
    Hot
  } mode_e;

  mode_e mode_q, mode;
  logic second_q;  // the lower row of a pair is next
  logic first_used_q;  // the higher one is not zero
  logic ready_q;  // there is room, and it may go on
  logic flush_q;  // all rows are done; the last byte has to end in zeros
  logic stop_q, stopped_q, still_q, gone_q, done_q, fail_q;

  kind_e kind;
  logic lower_used, lower_last, next_used, next_last;
  logic none, run_zero, run_two, run_value;
  logic full, rest, beyond, wrong_row;
  logic [31:14] bits;
  logic [  4:0] length;

  logic go, quiet, warm, hot, zero, value, both, load, row, cell_done, above, finish, stop, wrong_end;
  logic lower_zero;  // the lower row of the pair is zero too, and not hot
  logic first;  // the higher row of a pair
  logic go_value, go_load, go_zero, go_warm, go_hot, go_entry;
  logic [1:0] skip;

  assign quiet      = mode_q == Quiet;
  assign warm       = mode_q == Warm;
  assign hot        = mode_q == Hot;
  assign first      = kind == Pair && !second_q;
  assign go         = full && ready_q && !flush_q;
  assign go_entry   = go && req_i.dictionary;
  assign go_load    = go && quiet && none && !req_i.dictionary;
  assign go_zero    = go && quiet && run_zero;
  assign go_value   = go && quiet && run_value;
  assign go_warm    = go && warm;
  assign go_hot     = go && hot;

  // What the next bits say.
  assign load       = go_load;
  assign value      = go_value || (go_warm && bits[31]) || (go_hot && bits[31:29] != 3'b101);
  assign zero       = go_zero || (go_warm && !bits[31]);
  assign lower_zero = lower_used ? !(warm ? bits[30] : bits[31]) : quiet ? run_two : run_zero;
  assign both       = first && zero && lower_zero;

  // How many bits are taken, by what may be at hand, each by itself.
  logic [4:0] run_length, zero_length, warm_length, hot_length, value_length;
  always_comb begin
    run_length  = bits[31:28] == 4'hf ? 5'd4 : {1'b0, bits[31:28]} + 5'd4;
    zero_length = 5'(first && lower_used && !bits[31]);
    unique casez (bits[31:27])
      5'b0????: warm_length = first && lower_used && !bits[30] ? 5'd2 : 5'd1;
      5'b10???: warm_length = 5'd6;
      5'b110??: warm_length = 5'd9;
      5'b1110?: warm_length = 5'd12;
      5'b11110: warm_length = 5'd14;
      default:  warm_length = 5'd17;
    endcase
    unique casez (bits[31:28])
      4'b0???: value_length = 5'd5;
      4'b10??: value_length = 5'd8;
      4'b110?: value_length = 5'd11;
      4'b1110: value_length = 5'd13;
      default: value_length = 5'd16;
    endcase
    hot_length = bits[31:30] != 2'b10 ? value_length : bits[29] ? 5'd3 : 5'd9;
  end
  assign length = ({5{req_i.dictionary}} & 5'd12) | ({5{quiet && none && !req_i.dictionary}} & run_length) |
                  ({5{quiet && run_zero}} & zero_length) | ({5{quiet && run_value}} & value_length) |
                  ({5{warm}} & warm_length) | ({5{hot}} & hot_length);

  // Which row is next, and how it is coded.
  assign row = go && !load && !req_i.dictionary;
  assign cell_done = row && (both || second_q || kind != Pair);
  assign above = value && kind != Low;
  always_comb begin
    if (first && !both) begin
      mode = above ? (lower_last ? Hot : Warm) : (lower_used ? Warm : Quiet);
    end else begin
      mode = above ? (next_last ? Hot : Warm) : (next_used ? Warm : Quiet);
    end
  end
  assign skip = {1'b0, go_zero} + {1'b0, both && !lower_used};

  always_ff @(posedge clk_i) begin
    if (req_i.clear) begin
      mode_q   <= Quiet;
      second_q <= 1'b0;
    end else if (row) begin
      mode_q   <= mode;
      second_q <= first && !both;
    end
    if (row) first_used_q <= value;
    ready_q <= m_room_i && req_i.active && !req_i.clear;
  end

  config_window u_window (
    .clk_i,
    .clear_i (req_i.clear),
    .s_i,
    .s_ready_o,
    .take_i  (go),
    .length_i(length),
    .full_o  (full),
    .bits_o  (bits),
    .rest_o  (rest),
    .beyond_o(beyond)
  );

  config_run u_run (
    .clk_i,
    .clear_i   (req_i.clear),
    .load_i    (load),
    .code_i    (bits[31:14]),
    .skip_i    (skip),
    .value_i   (go_value),
    .none_o    (none),
    .zero_o    (run_zero),
    .two_o     (run_two),
    .is_value_o(run_value)
  );

  config_ages #(
    .Device(Device)
  ) u_ages (
    .clk_i,
    .clear_i(req_i.clear),
    .step_i(cell_done),
    .used_i(second_q ? {first_used_q, value} : {value, 1'b0}),
    .kind_o(kind),
    .lower_used_o(lower_used),
    .lower_last_o(lower_last),
    .next_used_o(next_used),
    .next_last_o(next_last)
  );

  part_t part;
  assign part = '{
      row: row,
      both: both,
      value: value,
      warm: warm,
      hot: hot,
      second: second_q,
      entry: go_entry,
      kind: kind,
      bits: bits[31:15]
    };

  config_rows u_rows (
    .clk_i,
    .clear_i(req_i.clear),
    .part_i (part),
    .place_i(req_i.place),
    .m_o,
    .wrong_o(wrong_row)
  );

  assign rsp_o.next = req_i.dictionary ? go : cell_done && kind == Low;
  assign finish = rsp_o.next && req_i.last;
  assign stop = flush_q && full;
  assign wrong_end = !rest || bits[31:25] != '0 || (run_zero && !req_i.dictionary);

  always_ff @(posedge clk_i) begin
    if (req_i.clear) begin
      flush_q <= 1'b0;
      {stop_q, stopped_q, still_q, gone_q, done_q} <= '0;
      fail_q <= 1'b0;
    end else begin
      if (finish) flush_q <= 1'b1;
      if (stop) stop_q <= 1'b1;
      stopped_q <= stop_q;
      still_q <= stopped_q;
      gone_q <= still_q;
      done_q <= gone_q;
      // A stream that is too short or too long, and what cannot be besides.
      if (beyond || wrong_row || (stop && !stop_q && wrong_end)) begin
        fail_q <= 1'b1;
      end
    end
  end

  assign rsp_o.error = fail_q;
  assign rsp_o.done  = done_q;

endmodule

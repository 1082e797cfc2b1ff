// SPDX-License-Identifier: Apache-2.0
//
// array_loader behind any shell that keeps the rules, with tiles that take what is written at any time: frames of both
// kinds, of any length, that are dropped anywhere.
module array_loader_harness
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 2
) (
  input logic clk_i,
  // A header is there, and what it says; a beat is there; the frame is dropped.
  input logic new_i,
  input logic load_i,
  input logic [7:0] result_len_i,
  input logic [31:0] payload_len_i,
  input logic [Tiles-1:0][1:0] banks_i,
  input area_t area_i,
  input logic valid_i,
  input logic [63:0] beat_i,
  input logic drop_i,
  input logic [Tiles-1:0] run_i,
  input logic ready_i
);

  // What has to be reachable: shown by a proof that it is not, which fails.
  localparam bit NoLoad = 1'b0;

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  typedef enum logic [1:0] {
    Rest,
    Head,
    Beats,
    Ends
  } at_e;

  at_e at_q;
  header_t header_q;
  logic [Tiles-1:0][1:0] banks_q;
  area_t area_q;
  logic [Tiles-1:0] run_q;
  logic [3:0] settle_q;
  logic [28:0] left_q;
  request_t frame;
  response_t answer;
  clear_t clear;
  logic start, take, drop;
  set_t [Tiles-1:0][1:0] sets;
  keys_t [Tiles-1:0][1:0] keys;
  logic busy;
  logic [Tiles-1:0] writes;
  write_t [Tiles-1:0] write;
  logic [7:0] fault;

  assign clear = '0;
  // The header's answer stands, and the loader is free.
  assign start = at_q == Head && settle_q == 4'd9 && answer.verdict == StatusOk;
  assign take = frame.valid && answer.ready;
  assign drop = drop_i && (at_q == Ends || (at_q == Beats && settle_q != '0));
  assign frame = '{
      start: start,
      drop: drop,
      valid: at_q == Beats && valid_i && left_q != '0 && !drop,
      section: SecPayload,
      last: left_q == 29'd1,
      beat: beat_i
    };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q <= Rest;
      {header_q, banks_q, area_q, run_q, settle_q, left_q} <= '0;
    end else begin
      // A tile that is loaded does not change.
      if (at_q == Rest) run_q <= run_i;
      unique case (at_q)
        Rest: begin
          settle_q <= '0;
          // What was written last is in the tiles by then.
          if (new_i && !busy && writes == '0) begin
            header_q             <= '0;
            header_q.op          <= load_i ? OpLoad : OpKey;
            header_q.result_len  <= result_len_i;
            header_q.payload_len <= payload_len_i;
            banks_q              <= banks_i;
            area_q               <= area_i;
            at_q                 <= Head;
          end
        end
        Head: begin
          settle_q <= settle_q + 4'd1;
          left_q   <= header_q.payload_len[31:3] + 29'(header_q.payload_len[2:0] != '0);
          if (settle_q == 4'd9) begin
            at_q     <= start ? Beats : Rest;
            settle_q <= '0;
          end
        end
        Beats: begin
          settle_q <= 4'd1;
          if (take) left_q <= left_q - 29'd1;
          if (drop) at_q <= Rest;
          else if (take && frame.last) at_q <= Ends;
        end
        default: if (drop || answer.done) at_q <= Rest;
      endcase
    end
  end

  // Banks of a key: at most one of a tile.
  always_comb for (int unsigned t = 0; t < Tiles; t++) assume (banks_i[t] != '1);

  logic unused_looked;
  array_loader #(
    .Tiles(Tiles),
    .Room (2)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .header_i     (header_q),
    .frame_i      (frame),
    .answer_o     (answer),
    .heads_i      (at_q != Rest),
    .looked_o     (unused_looked),
    .fault_o      (fault),
    .forget_o     (),
    .run_i        (run_q),
    .key_banks_i  (banks_q),
    .key_area_i   (area_q),
    .key_serves_i (banks_q),
    .sets_o       (sets),
    .keys_o       (keys),
    .busy_o       (busy),
    .loading_o    (),
    .writes_o     (writes),
    .write_o      (write),
    .write_ready_i(ready_i),
    .state_write_o(),
    .state_at_o   (),
    .state_data_o ()
  );

  if (NoLoad) begin : gen_cover
    always_ff @(posedge clk_i) if (rst_ni) assert (!(header_q.op == OpLoad && at_q == Beats && take));
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What a frame is, by its first beat: one of the host, or one that will be the result of the host's last one.
//
// Clocks: 1 from the beat to the header, 2 to what it says of its kind.
module array_kind
  import array_front_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  // It is the host's, whose first beat is there. Of what such a frame goes by with, and when, array_inner knows more.
  input logic           host_i,
  input header_t        outer_i,
  input logic           look_i,
  input logic           take_i,
  input logic    [63:0] beat_i,
  input logic           drop_i,
  // A result is to be a key.
  input logic           key_i,

  // What a result begins with; what the frame does.
  output header_t     inner_o,
  output header_t     head_o,
  output frame_kind_t kind_o
);

  header_t head_q;
  frame_kind_t kind_q;
  logic inner_long;
  logic [7:0] outer_words;

  assign head_o = head_q;
  assign kind_o = kind_q;

  array_inner u_inner (
    .clk_i,
    .rst_ni,
    .look_i,
    .outer_i,
    .take_i,
    .beat_i,
    .drop_i,
    .inner_o,
    .long_o (inner_long),
    .words_o(outer_words)
  );

  // Sets are far away.
  always_ff @(posedge clk_i) head_q <= host_i ? outer_i : inner_o;

  always_ff @(posedge clk_i) begin
    kind_q.loads <= host_i && head_q.op == OpLoad;
    kind_q.key <= host_i ? head_q.op == OpKey : key_i;
    kind_q.wipes <= host_i && head_q.flags.wipe;
    kind_q.expands <= host_i && head_q.op == OpExpand;
    kind_q.joins   <= host_i && (head_q.op == OpExpand || (head_q.op inside {OpEcb, OpCbc, OpCtr}
        && head_q.result_len != '0));
    // Words of keys are a key and nothing else, results of ciphers are messages that fit a buffer.
    if (key_i) kind_q.wrong <= head_q.op != OpKey || head_q.flags.wipe || head_q.result_len != outer_words;
    else kind_q.wrong <= !(head_q.op inside {OpHash, OpHmacStates}) || head_q.flags.wipe || inner_long;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The two beats of a request's header, and what is wrong with them.
module lane_header
  import lane_pkg::*;
  import slot_pkg::*;
#(
  parameter shape_t Shape = AnyShape
) (
  input logic clk_i,
  input logic rst_ni,

  // The beat is the first one, or the second.
  input logic    first_i,
  input logic    second_i,
  input stream_t beat_i,

  // Stable from the clock after its last beat on.
  output header_t header_o,
  // The frame has but one beat; it has none behind the header.
  output logic    one_o,
  output logic    ended_o,
  // There is a whole key that a frame without one of its own can use.
  input  logic    kept_i,
  // The first of the faults that docs/slot.md names.
  output status_e status_o
);

  logic [63:0] head_q;
  logic [31:0] payload_len_q;
  logic [7:0] upper_q;  // of the upper half of the second beat, digits that are not zero
  logic no_key_q;  // key_len is not zero though there is no fresh key

  assign header_o = header_t'({32'b0, payload_len_q, head_q});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q        <= '0;
      payload_len_q <= '0;
      one_o         <= 1'b0;
      ended_o       <= 1'b0;
      upper_q       <= '0;
      no_key_q      <= 1'b0;
    end else begin
      if (first_i && beat_i.valid) head_q <= beat_i.data;
      if (first_i) one_o <= beat_i.last;
      if (first_i || second_i) ended_o <= beat_i.last;
      if (second_i) begin
        payload_len_q <= beat_i.data[31:0];
        for (int unsigned i = 0; i < 8; i++) upper_q[i] <= beat_i.data[32+4*i+:4] != '0;
      end
      no_key_q <= header_o.key_len != '0 && !header_o.flags.fresh_key;
    end
  end

  status_e verdict;

  localparam cipher_pkg::shape_t Cipher = '{
    algorithm: Shape.algorithm,
    key_lengths: Shape.key_lengths,
    block_bytes: Shape.block_bytes,
    block_bits: Shape.block_bits,
    decrypt: Shape.decrypt,
    modes: '0,
    eager: 1'b0,
    unhurried: 1'b0
  };

  cipher_verdict #(
    .Shape(Cipher)
  ) u_verdict (
    .clk_i,
    .rst_ni,
    .header_i  (header_o),
    .key_kept_i(kept_i),
    .verdict_o (verdict)
  );

  always_comb begin
    if (one_o) status_o = StatusFrameShort;
    else if (upper_q[7:4] != '0 || header_o.flags.reserved != '0) status_o = StatusReserved;
    else if (no_key_q) status_o = StatusBadKeyLength;
    else if (upper_q[3:0] != '0) status_o = StatusBadLength;
    else status_o = verdict;
  end

endmodule

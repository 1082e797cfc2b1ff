// SPDX-License-Identifier: Apache-2.0
//
// Ethernet out: the next frame of the queue whenever there is one. Its third word says how many beats it has. Frames of
// less than 60 bytes are padded; preamble, FCS and a gap of 12 bytes are added. When flush_i changes, all frames are
// passed over that are committed then.
//
// Cycles: bytes + 24 for each frame, of 60 at least. Preamble begins 2 clocks behind the pointer's arrival.
module mac_tx
  import board_pkg::*;
#(
  parameter int unsigned AddressBits = 9
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                   flush_i,
  input  logic [AddressBits-1:0] committed_i,
  output logic                   flushed_o,
  output logic [AddressBits-1:0] read_o,       // what is in front of it is free
  output logic [AddressBits-1:0] read_at_o,
  input  logic [           63:0] read_data_i,
  output logic [  TallyBits-1:0] sent_o,

  output logic       valid_o,
  output logic [7:0] byte_o
);

  typedef enum logic [2:0] {
    Idle,
    Preamble,
    Data,
    Pad,
    Fcs,
    Gap
  } state_e;

  // More beats than there are, until the third word says it.
  localparam logic [7:0] None = 8'd240;
  localparam logic [7:0] MinWords = 8'd7;  // and 4 bytes

  state_e state_q;
  logic [3:0] count_q;
  logic [7:0] words_q, need_q;
  logic last_q, short_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      count_q   <= '0;
      words_q   <= '0;
      need_q    <= '0;
      last_q    <= 1'b0;
      short_q   <= 1'b0;
      flushed_o <= 1'b0;
      read_o    <= '0;
      read_at_o <= '0;
      sent_o    <= '0;
    end else begin
      count_q <= count_q + 4'd1;
      short_q <= words_q < MinWords;
      unique case (state_q)
        Idle: begin
          count_q   <= '0;
          words_q   <= '0;
          need_q    <= None;
          read_at_o <= read_o;
          if (flush_i != flushed_o) begin
            flushed_o <= flush_i;
            read_o    <= committed_i;
          end else if (committed_i != read_o) state_q <= Preamble;
        end
        Preamble:
        if (count_q == 4'd7) begin
          state_q <= Data;
          count_q <= '0;
        end
        Data: begin
          if (words_q == 8'd2) need_q <= read_data_i[47:40];
          last_q <= need_q == words_q - 8'd2;
          // The memory shows the next word three clocks later.
          if (count_q[2:0] == 3'd5) read_at_o <= read_at_o + AddressBits'(1);
          if (count_q[2:0] == 3'd7) begin
            words_q <= words_q + 8'd1;
            if (last_q) begin
              // The word behind the frame's last one is asked for.
              read_o  <= read_at_o;
              state_q <= short_q ? Pad : Fcs;
              count_q <= '0;
            end
          end
        end
        Pad: begin
          if (count_q[2:0] == 3'd7) words_q <= words_q + 8'd1;
          if (!short_q && count_q[2:0] == 3'd3) begin
            state_q <= Fcs;
            count_q <= '0;
          end
        end
        Fcs:
        if (count_q == 4'd3) begin
          state_q <= Gap;
          count_q <= '0;
          sent_o  <= sent_o + TallyBits'(1);
        end
        default: if (count_q == 4'd10) state_q <= Idle;
      endcase
    end
  end

  // -- bytes ------------------------------------------------------------------------------------------------

  // A byte of the word, what it adds to the CRC, and what leaves.
  typedef struct packed {
    logic preamble;
    logic data;
    logic fcs;
  } part_t;

  part_t part0_q, part1_q, part2_q;
  logic start_q;
  logic [7:0] byte0_q, byte1_q, byte2_q;
  logic [ 1:0] tail_q;  // of the FCS
  logic [31:0] crc;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part0_q <= '0;
      part1_q <= '0;
      part2_q <= '0;
      start_q <= 1'b0;
      byte0_q <= '0;
      byte1_q <= '0;
      byte2_q <= '0;
      tail_q  <= '0;
      valid_o <= 1'b0;
      byte_o  <= '0;
    end else begin
      part0_q <= '{state_q == Preamble, state_q == Data || state_q == Pad, state_q == Fcs};
      start_q <= count_q == 4'd7;
      byte0_q <= state_q == Data ? read_data_i[{count_q[2:0], 3'd0}+:8] : 8'd0;
      part1_q <= part0_q;
      byte1_q <= part0_q.preamble ? (start_q ? 8'hD5 : 8'h55) : byte0_q;
      part2_q <= part1_q;
      byte2_q <= byte1_q;
      tail_q  <= part2_q.fcs ? tail_q + 2'd1 : '0;
      valid_o <= part2_q != '0;
      byte_o  <= part2_q.fcs ? ~crc[{tail_q, 3'd0}+:8] : byte2_q;
    end
  end

  mac_crc u_crc (
    .clk_i,
    .rst_ni,
    .start_i(part0_q.preamble),
    .valid_i(part0_q.data),
    .byte_i (byte0_q),
    .crc_o  (crc)
  );

endmodule

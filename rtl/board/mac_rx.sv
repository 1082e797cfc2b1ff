// SPDX-License-Identifier: Apache-2.0
//
// Ethernet in. Words of the link's frames go to a queue as they come; a frame counts, by one write of the pointer, when
// it has ended with a right FCS, was for the board (or for all), of the link's type and long enough for the beats that
// it says to have. What is behind the beats is passed over. Of all others the pointer says nothing, and their words are
// overwritten.
//
// Cycles: a byte a clock. The pointer moves 6 clocks behind the last byte.
module mac_rx
  import board_pkg::*;
#(
  parameter int unsigned AddressBits = 11
) (
  input logic clk_i,
  input logic rst_ni,

  input logic       valid_i,
  input logic       error_i,
  input logic [7:0] byte_i,

  output logic                     write_o,
  output logic   [AddressBits-1:0] write_at_o,
  output logic   [           63:0] write_data_o,
  output logic   [AddressBits-1:0] committed_o,
  input  logic   [AddressBits-1:0] read_i,        // where the reader is
  output tally_t                   tally_o
);

  typedef enum logic [1:0] {
    Idle,
    Preamble,
    Data,
    Skip
  } state_e;

  // What is left when a frame and its FCS have gone through the CRC.
  localparam logic [31:0] Residue = 32'hDEBB_20E3;

  // -- bytes ------------------------------------------------------------------------------------------------

  state_e state_q;
  logic data_q, over_q, broken_q;
  logic [7:0] byte_q;
  logic [3:0] end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      data_q   <= 1'b0;
      over_q   <= 1'b0;
      broken_q <= 1'b0;
    end else begin
      data_q <= state_q == Data && valid_i;
      over_q <= state_q == Data && !valid_i;
      unique case (state_q)
        Idle: begin
          broken_q <= 1'b0;
          if (valid_i) state_q <= byte_i == 8'h55 ? Preamble : Skip;
        end
        Preamble:
        if (!valid_i) state_q <= Idle;
        else if (byte_i == 8'hD5) state_q <= Data;
        else if (byte_i != 8'h55) state_q <= Skip;
        Data: begin
          if (!valid_i) state_q <= Skip;
          else if (error_i) broken_q <= 1'b1;
        end
        // What comes sooner than 8 clocks behind a frame is none.
        default: if (!valid_i && !data_q && !over_q && end_q == '0) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Data && valid_i) byte_q <= byte_i;
    else byte_q <= '0;
  end

  logic [31:0] crc;

  mac_crc u_crc (
    .clk_i,
    .rst_ni,
    .start_i(state_q == Preamble),
    .valid_i(data_q),
    .byte_i (byte_q),
    .crc_o  (crc)
  );

  // -- words ------------------------------------------------------------------------------------------------

  // Bytes of the head: which is expected, and whether it was another one.
  logic [2:0] count_q;
  logic [1:0] head_q;  // words of the head so far
  logic [7:0] expected_q, left_q;
  logic all_q, ours_q, type_q, full_q, beats_q;
  logic [63:0] word_q;
  logic [AddressBits-1:0] write_q, start_q;
  logic [2:0] tail_q;
  logic lost_q, wrong_q, word_end_q, edge_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q    <= '0;
      head_q     <= '0;
      left_q     <= '0;
      expected_q <= '0;
      all_q      <= 1'b0;
      ours_q     <= 1'b0;
      type_q     <= 1'b0;
      full_q     <= 1'b0;
      beats_q    <= 1'b0;
      word_end_q <= 1'b0;
      tail_q     <= '0;
      lost_q     <= 1'b0;
      wrong_q    <= 1'b0;
      edge_q     <= 1'b0;
      write_q    <= '0;
    end else if (state_q == Preamble) begin
      count_q    <= '0;
      head_q     <= '0;
      left_q     <= '0;
      expected_q <= BoardAddress[7:0];
      all_q      <= 1'b1;
      ours_q     <= 1'b1;
      type_q     <= 1'b1;
      full_q     <= 1'b0;
      beats_q    <= 1'b0;
      word_end_q <= 1'b0;
      tail_q     <= '0;
      lost_q     <= 1'b0;
      wrong_q    <= 1'b0;
      edge_q     <= 1'b0;
      write_q    <= start_q;
    end else begin
      // The pointer moves every 8 clocks at most.
      edge_q     <= write_q + AddressBits'(1) == read_i;
      full_q     <= 1'b0;
      word_end_q <= data_q && count_q == 3'd6;
      if (data_q) begin
        count_q <= count_q + 3'd1;
        if (word_end_q && head_q != 2'(HeadWords)) head_q <= head_q + 2'd1;
        unique case ({
          head_q[0], count_q
        })
          4'd0: expected_q <= BoardAddress[15:8];
          4'd1: expected_q <= BoardAddress[23:16];
          4'd2: expected_q <= BoardAddress[31:24];
          4'd3: expected_q <= BoardAddress[39:32];
          4'd4: expected_q <= BoardAddress[47:40];
          4'd11: expected_q <= EtherType[7:0];
          default: expected_q <= EtherType[15:8];
        endcase
        if (head_q == 2'd0 && count_q < 3'd6) begin
          all_q  <= all_q && byte_q == '1;
          ours_q <= ours_q && byte_q == expected_q;
        end
        if (head_q == 2'd1 && (count_q == 3'd4 || count_q == 3'd5)) type_q <= type_q && byte_q == expected_q;
        if (head_q == 2'd2 && count_q == 3'd5) begin
          left_q  <= byte_q;
          wrong_q <= byte_q > 8'(MaxBeats);
        end
        if (head_q == 2'(HeadWords) && word_end_q && left_q != '0) left_q <= left_q - 8'd1;
        // The FCS is behind the beats.
        if (beats_q && !tail_q[2]) tail_q <= tail_q + 3'd1;
        beats_q <= beats_q || (word_end_q && (head_q == 2'(HeadWords) ? left_q <= 8'd1 : head_q == 2'd2 && left_q == '0));
        full_q <= word_end_q && !beats_q;
      end
      if (full_q) begin
        // The queue never becomes as full that its pointers are equal.
        if (edge_q) lost_q <= 1'b1;
        else if (!lost_q) write_q <= write_q + AddressBits'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (data_q) word_q <= {byte_q, word_q[63:8]};
    write_data_o <= word_q;
    write_at_o   <= write_q;
    write_o      <= full_q && !lost_q;
  end

  // -- the end ----------------------------------------------------------------------------------------------

  logic [3:0] same_q;
  logic [6:0] length_q;  // bytes, 64 or more
  logic crc_good_q, good_q, ours_all_q, enough_q;

  assign committed_o = start_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q      <= '0;
      same_q     <= '0;
      length_q   <= '0;
      crc_good_q <= 1'b0;
      good_q     <= 1'b0;
      ours_all_q <= 1'b0;
      enough_q   <= 1'b0;
      start_q    <= '0;
      tally_o    <= '0;
    end else begin
      // Bytes, pointer and CRC are there two clocks behind the last byte.
      end_q <= {end_q[2:0], over_q};
      if (state_q == Preamble) length_q <= '0;
      else if (data_q && !length_q[6]) length_q <= length_q + 7'd1;
      for (int unsigned i = 0; i < 4; i++) same_q[i] <= crc[8*i+:8] == Residue[8*i+:8];
      crc_good_q <= same_q == '1;
      good_q     <= crc_good_q && !broken_q && length_q[6];
      ours_all_q <= (ours_q || all_q) && type_q;
      enough_q   <= tail_q[2] && !wrong_q;
      if (end_q[3]) begin
        if (!good_q) tally_o.bad <= tally_o.bad + TallyBits'(1);
        else begin
          tally_o.whole <= tally_o.whole + TallyBits'(1);
          if (!ours_all_q || !enough_q) tally_o.other <= tally_o.other + TallyBits'(1);
          else if (lost_q) tally_o.lost <= tally_o.lost + TallyBits'(1);
          else start_q <= write_q;
        end
      end
    end
  end

endmodule

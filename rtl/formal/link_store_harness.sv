// SPDX-License-Identifier: Apache-2.0
//
// The store between frames in any order: a recall gives the words that were written, each once and no more of them, and
// only such as this session has written; what has no gap, and fits, is taken.
module link_store_harness
  import board_pkg::*;
#(
  parameter int unsigned AddressBits = 2,
  parameter bit NoRecall = 1'b0,
  parameter bit NoRefusal = 1'b0
) (
  input logic clk_i,
  input logic start_i,
  input logic recall_i,
  input logic [7:0] beats_i,
  input logic [63:0] word_i,
  input logic valid_i,
  input logic ready_i,
  input logic clear_i
);

  typedef logic [AddressBits-1:0] at_t;
  typedef logic [AddressBits:0] place_t;

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  // A frame as link_in walks through it.
  typedef enum logic [2:0] {
    Idle,
    Sum,
    Check,
    Fill,
    Play
  } state_e;

  state_e state_q;
  to_store_t to_store;
  from_store_t from_store;
  logic recall_q;
  logic [7:0] left_q;

  always_comb begin
    to_store        = '0;
    to_store.where  = state_q == Idle && start_i;
    to_store.recall = state_q == Idle ? recall_i : recall_q;
    to_store.left   = left_q;
    to_store.write  = state_q == Fill && valid_i;
    to_store.last   = left_q == 8'd1;
    to_store.go     = state_q == Check && recall_q && !from_store.bad;
    to_store.ready  = state_q == Play && ready_i;
  end

  // A frame that writes has a word at least, and no more than a segment.
  always_comb assume (beats_i != '0 && beats_i < 8'(MaxBeats));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      recall_q <= 1'b0;
      left_q   <= '0;
    end else begin
      unique case (state_q)
        Idle:
        if (start_i) begin
          state_q  <= Sum;
          recall_q <= recall_i;
          left_q   <= beats_i;
        end
        Sum: state_q <= Check;
        Check: state_q <= from_store.bad ? Idle : recall_q ? Play : Fill;
        Fill:
        if (valid_i) begin
          left_q <= left_q - 8'd1;
          if (left_q == 8'd1) state_q <= Idle;
        end
        default: if (from_store.valid && ready_i && from_store.last) state_q <= Idle;
      endcase
      if (clear_i) state_q <= Idle;
    end
  end

  link_store #(
    .AddressBits(AddressBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .store_i(to_store),
    .word_i,
    .store_o(from_store)
  );

  // -- what it has to do ------------------------------------------------------------------------------------

  // Two bits of each word that was written, how many there are, and where the frame is.
  logic [1:0] shadow_q[2**AddressBits];
  place_t filled_q, at_q;
  logic [15:0] first_q, count_q;
  logic [31:0] rest_q;
  logic bad;

  always_comb begin
    if (recall_q) bad = count_q == '0 || 17'(first_q) + 17'(count_q) > 17'(filled_q);
    else bad = count_q != '0 || first_q > 16'(filled_q) || 17'(first_q) + 17'(left_q) > 17'(2 ** AddressBits);
    if (rest_q != '0) bad = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filled_q <= '0;
      at_q     <= '0;
      first_q  <= '0;
      count_q  <= '0;
      rest_q   <= '0;
    end else begin
      if (to_store.where) begin
        first_q <= word_i[15:0];
        count_q <= word_i[31:16];
        rest_q  <= word_i[63:32];
        at_q    <= word_i[AddressBits:0];
      end
      if (to_store.write) begin
        shadow_q[at_q[AddressBits-1:0]] <= {word_i[63], word_i[0]};
        at_q <= at_q + place_t'(1);
        if (to_store.last && at_q >= filled_q) filled_q <= at_q + place_t'(1);
      end
      if (from_store.valid && to_store.ready) begin
        at_q    <= at_q + place_t'(1);
        count_q <= count_q - 16'd1;
      end
      if (clear_i) filled_q <= '0;
    end
  end

  logic [1:0] expected;
  assign expected = shadow_q[at_q[AddressBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (state_q == Check) begin
        assert (from_store.bad == bad)
        else $error("what cannot be is taken, or what can be is refused");
      end
      if (from_store.valid) begin
        assert (state_q == Play)
        else $error("a word that nobody has asked for");
        assert ({from_store.word[63], from_store.word[0]} == expected)
        else $error("another word than was written");
        assert (from_store.last == (count_q == 16'd1))
        else $error("too few words, or too many");
        assert (at_q < filled_q)
        else $error("a word that this session has not written");
      end
      if (NoRecall) begin
        assert (!(from_store.valid && from_store.last && at_q == place_t'(2)))
        else $error("reached: a recall's end");
      end
      if (NoRefusal) begin
        assert (!(state_q == Check && recall_q && bad && filled_q == place_t'(2)))
        else $error("reached: a refusal");
      end
    end
  end

endmodule

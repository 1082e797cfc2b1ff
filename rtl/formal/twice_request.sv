// SPDX-License-Identifier: Apache-2.0
//
// Two request streams that differ only behind the headers, what the skid buffers at the entrance then hold, and that
// the shell takes for a header what is one.
module twice_request (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic              ready_i,
  input  logic              last_i,
  input  logic [ 1:0][63:0] secret_i,
  input  logic [63:0]       public_i,
  output logic [ 1:0][63:0] data_o,

  input logic ready_q,
  input logic valid_q,
  input logic write_q,
  input logic read_q,
  input logic [1:0][64:0] word_a_q,
  input logic [1:0][64:0] word_b_q,
  // Which beat the shell waits for.
  input logic [1:0] expected_i
);

  logic [1:0] place_q;  // of the next beat in its frame: first, second, another
  logic [1:0] free_q;  // the words that may differ
  logic [1:0][1:0] tag_q;  // which beat a word is
  logic free;

  function automatic logic [1:0] behind(input logic last, input logic [1:0] place);
    return last ? 2'd0 : place == 2'd0 ? 2'd1 : 2'd2;
  endfunction

  assign free   = valid_i && place_q[1];
  assign data_o = free ? secret_i : {2{public_i}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q <= '0;
      free_q  <= '1;
      tag_q   <= '0;
    end else begin
      if (valid_i && ready_i) place_q <= behind(last_i, place_q);
      for (int unsigned w = 0; w < 2; w++) begin
        if (!valid_q && write_q != 1'(w)) free_q[w] <= 1'b0;
        else if (ready_q && write_q == 1'(w)) begin
          free_q[w] <= free;
          tag_q[w]  <= place_q;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned w = 0; w < 2; w++) begin
        if (!free_q[w]) assert (word_a_q[w] == word_b_q[w]);
        if (valid_q && (!ready_q || write_q != 1'(w))) begin
          assert (word_a_q[w][64] == word_b_q[w][64]);
          assert (!free_q[w] || tag_q[w] == 2'd2);
        end
      end
      // For the induction.
      assert (place_q != 2'd3);
      assert (expected_i == (valid_q ? tag_q[read_q] : place_q));
      if (valid_q && ready_q) begin
        assert (write_q != read_q);
        assert (place_q == behind(word_a_q[read_q][64], tag_q[read_q]));
      end else begin
        assert (write_q == read_q);
      end
      if (valid_q && !ready_q) begin
        assert (tag_q[!read_q] == behind(word_a_q[read_q][64], tag_q[read_q]));
        assert (place_q == behind(word_a_q[!read_q][64], tag_q[!read_q]));
      end
      // The shell looks at the word that is to come even before it is there.
      if (expected_i == 2'd1) assert ((valid_q || ready_q) && !free_q[read_q]);
    end
  end

endmodule

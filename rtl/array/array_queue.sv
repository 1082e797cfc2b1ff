// SPDX-License-Identifier: Apache-2.0
//
// Beats of a frame that wait, in block memory. Lanes take a beat in so many clocks, so a word is shown when the memory
// has had its time, and no word is fetched ahead.
//
// Latency: 4 clocks. Throughput: one beat in, one in four clocks out.
module array_queue
  import core_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Depth = 512,

  localparam int unsigned Bits = $clog2(Depth)
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  input  stream_t s_i,
  output logic    s_ready_o,
  output stream_t m_o,
  input  logic    m_ready_i,

  output logic full_o,
  output logic empty_o
);

  logic [Bits-1:0] written_q, read_q;
  logic [Bits:0] count_q;
  logic empty_q, valid_q, push, pop;
  logic [ 1:0] settle_q;
  logic [64:0] word;

  assign push      = s_i.valid && s_ready_o;
  assign pop       = m_o.valid && m_ready_i;
  assign full_o    = count_q[Bits];
  assign empty_o   = empty_q;
  assign s_ready_o = !full_o;
  assign m_o       = '{valid: valid_q, last: word[64], data: word[63:0]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= '0;
      read_q    <= '0;
      count_q   <= '0;
      empty_q   <= 1'b1;
      valid_q   <= 1'b0;
      settle_q  <= '1;
    end else begin
      if (push) written_q <= written_q + 1'b1;
      if (pop) read_q <= read_q + 1'b1;
      if (push != pop) begin
        count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
        empty_q <= pop && count_q == (Bits + 1)'(1);
      end
      if (empty_q || pop) {valid_q, settle_q} <= 3'b011;
      else if (settle_q != '0) {valid_q, settle_q} <= {settle_q == 2'd1, settle_q - 1'b1};
    end
  end

  ram_block #(
    .Width(65),
    .Depth(Depth)
  ) u_memory (
    .clk_i,
    .clear_i,
    .write_i     (push),
    .write_at_i  (written_q),
    .write_data_i({s_i.last, s_i.data}),
    .read_i      (1'b1),
    .read_at_i   (read_q),
    .read_data_o (word)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The exit: answers of lanes and of the loader, one after the other and never mingled. A lane's answer leaves when it
// is whole, or when its queue is full of it; then the rest follows as it comes.
//
// Clocks: 4 from an answer's end to its first beat, 4 a beat.
module array_outlet
  import array_front_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input logic clk_i,
  input logic rst_ni,

  // Beats of lanes behind their queues, of which those count as whole whose last beat is in; the loader's above them,
  // with what it says of a set.
  input  stream_t [Lanes:0] s_i,
  output logic    [Lanes:0] s_ready_o,
  input  logic    [Lanes-1:0] full_i,
  input  logic    [Lanes-1:0] ended_i,
  input  logic    [7:0] fault_i,
  // An answer has left its queue.
  output logic    [Lanes:0] left_o,

  output logic    empty_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i
);

  localparam int unsigned FromBits = $clog2(Lanes + 1);
  typedef logic [FromBits-1:0] from_t;

  logic busy_q;
  from_t from_q, from;
  logic [Lanes:0] whole_q;
  logic wanted, out_ready;
  stream_t beat, mid_q;
  logic mid_loader_q;
  logic [7:0] mid_fault_q;  // of the loader's answer, which may stand here while the next frame starts
  logic [64:0] out;
  trailer_t trailer;

  always_comb begin
    from = from_t'(Lanes);
    for (int unsigned l = 0; l < Lanes; l++) if (whole_q[l] || full_i[l]) from = from_t'(l);
    wanted  = whole_q != '0 || full_i != '0;
    beat    = busy_q ? s_i[from_q] : '0;
    trailer = trailer_t'(mid_q.data);
    if (trailer.status == '0) trailer.status = mid_fault_q;
    out = {mid_q.last, mid_q.last && mid_loader_q ? trailer : mid_q.data};
    for (int unsigned l = 0; l <= Lanes; l++) begin
      s_ready_o[l] = busy_q && from_q == from_t'(l) && !mid_q.valid;
      left_o[l]    = s_ready_o[l] && beat.valid && beat.last;
    end
  end

  assign empty_o = !busy_q && !wanted && !mid_q.valid && !m_axis_o.valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      from_q <= '0;
      whole_q <= '0;
      mid_q <= '0;
      mid_loader_q <= 1'b0;
      mid_fault_q <= '0;
    end else begin
      if (!mid_q.valid) begin
        mid_q        <= beat;
        mid_loader_q <= from_q == from_t'(Lanes);
        mid_fault_q  <= fault_i;
      end else if (out_ready) begin
        mid_q <= '0;
      end
      whole_q <= (whole_q | {s_i[Lanes].valid, ended_i}) & ~left_o;
      if (!busy_q) begin
        busy_q <= wanted;
        from_q <= from;
      end else if (left_o != '0) begin
        busy_q <= 1'b0;
      end
    end
  end

  spill_register #(
    .Width(65)
  ) u_exit (
    .clk_i,
    .rst_ni,
    .s_valid_i(mid_q.valid),
    .s_ready_o(out_ready),
    .s_data_i (out),
    .m_valid_o(m_axis_o.valid),
    .m_ready_i(m_axis_ready_i),
    .m_data_o ({m_axis_o.last, m_axis_o.data})
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The registered exit of a stream behind stages that cannot stop: a queue of 16 beats says early that it fills up.
//
// Latency: 2 clocks. Throughput: one beat per clock.
module lane_queue
  import core_pkg::*;
#(
  // Beats that may still come when room_o is low, and room_o is low a clock after they are counted.
  parameter int unsigned Room = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  input  logic        push_i,
  input  logic [63:0] data_i,
  input  logic        last_i,
  output logic        room_o,
  // Nothing is inside.
  output logic        quiet_o,

  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  localparam int unsigned Depth = 16;
  localparam int unsigned Bits = $clog2(Depth);

  if (Room >= Depth) begin : gen_illegal_room
    $error("lane_queue: Room must be less than 16");
  end

  logic [Bits-1:0] push_at_q, pop_at_q;
  logic [Bits:0] used_q;
  logic any, pop, last;
  logic [63:0] data;

  assign any = used_q != '0;
  assign pop = any && (!m_axis_tvalid || m_axis_tready);

  ram_logic #(
    .Width(65),
    .Depth(Depth)
  ) u_beats (
    .clk_i,
    .clear_i,
    .write_i     (push_i),
    .write_at_i  (push_at_q),
    .write_data_i({last_i, data_i}),
    .read_at_i   (pop_at_q),
    .read_data_o ({last, data})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      push_at_q     <= '0;
      pop_at_q      <= '0;
      used_q        <= '0;
      room_o        <= 1'b0;
      quiet_o       <= 1'b0;
      m_axis_tvalid <= 1'b0;
      m_axis_tdata  <= '0;
      m_axis_tlast  <= 1'b0;
    end else begin
      push_at_q     <= push_at_q + Bits'(push_i);
      pop_at_q      <= pop_at_q + Bits'(pop);
      used_q        <= used_q + (Bits + 1)'(push_i) - (Bits + 1)'(pop);
      room_o        <= used_q < (Bits + 1)'(Depth - Room);
      quiet_o       <= !any && !m_axis_tvalid;
      m_axis_tvalid <= any || (m_axis_tvalid && !m_axis_tready);
      if (!m_axis_tvalid || m_axis_tready) begin
        // What is not valid shows nothing.
        m_axis_tdata <= data & {64{any}};
        m_axis_tlast <= last && any;
      end
    end
  end

endmodule

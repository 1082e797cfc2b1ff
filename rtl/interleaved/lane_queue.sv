// SPDX-License-Identifier: Apache-2.0
//
// The registered exit of a stream behind stages that cannot stop: a queue of 16 beats says early that it fills up.
//
// Latency: 2 clocks. Throughput: one beat per clock.
module lane_queue
  import core_pkg::*;
  import slot_pkg::*;
#(
  // Beats that may still come when room_o is low, and room_o is low a clock after they are counted.
  parameter int unsigned Room = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input clear_t clear_i,

  // Zero while a clear is active.
  input  stream_t beat_i,
  output logic    room_o,
  // Nothing is inside.
  output logic    quiet_o,

  output stream_t m_axis_o,
  input  logic    m_axis_ready_i
);

  localparam int unsigned Depth = 16;
  localparam int unsigned Bits = $clog2(Depth);

  if (Room >= Depth) begin : gen_illegal_room
    $error("lane_queue: Room must be less than 16");
  end

  logic [Bits-1:0] push_at_q, pop_at_q;
  logic [Bits:0] used_q;
  logic any, go, pop, last;
  logic [63:0] data;

  assign any = used_q != '0;
  assign go  = !m_axis_o.valid || m_axis_ready_i;
  assign pop = any && go;

  ram_logic #(
    .Width(65),
    .Depth(Depth),
    .Quiet(1'b1)
  ) u_beats (
    .clk_i,
    .clear_i,
    .write_i     (beat_i.valid),
    .write_at_i  (push_at_q),
    .write_data_i({beat_i.last, beat_i.data}),
    .read_at_i   (pop_at_q),
    .read_data_o ({last, data})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      push_at_q <= '0;
      pop_at_q  <= '0;
      used_q    <= '0;
      room_o    <= 1'b0;
      quiet_o   <= 1'b0;
      m_axis_o  <= '0;
    end else begin
      push_at_q <= push_at_q + Bits'(beat_i.valid);
      pop_at_q  <= pop_at_q + Bits'(pop);
      used_q    <= used_q + (Bits + 1)'(beat_i.valid) - (Bits + 1)'(pop);
      room_o    <= used_q < (Bits + 1)'(Depth - Room);
      quiet_o   <= !any && !m_axis_o.valid;
      // What is not valid shows nothing.
      if (go) m_axis_o <= '{valid: any, last: last && any, data: data & {64{any}}};
    end
  end

endmodule

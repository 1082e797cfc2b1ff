// SPDX-License-Identifier: Apache-2.0
//
// IDEA as an interleaved slot.
//
// Cycles per block at full load: the ring's (idea_ring).
`include "slot_ports.svh"

module idea_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in idea_ring.
  parameter int unsigned Multiplier = 1,
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side.
  parameter int unsigned Rings = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgIdea),
    .BlockBytes(8),
    .KeyLengths(64'd1 << 16),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    idea_ring #(
      .Multiplier(Multiplier),

      // A key for each frame.
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

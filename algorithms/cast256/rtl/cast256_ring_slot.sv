// SPDX-License-Identifier: Apache-2.0
//
// CAST-256 as an interleaved slot.
//
// Cycles per block at full load: the ring's, 48.
`include "slot_ports.svh"

module cast256_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side.
  parameter int unsigned Rings = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgCast256),
    .BlockBytes(16),
    .KeyLengths(64'h1_1111_0000),
    .Tickets(8),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    cast256_ring #(
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

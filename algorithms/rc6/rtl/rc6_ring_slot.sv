// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 as an interleaved slot.
//
// Cycles per block at full load: the ring's, 21.
`include "slot_ports.svh"

module rc6_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in rc6_ring.
  parameter int unsigned Way   = 0,
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side.
  parameter int unsigned Rings = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgRc6),
    .BlockBytes(16),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    rc6_ring #(
      .Way(Way),
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

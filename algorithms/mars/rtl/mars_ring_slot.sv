// SPDX-License-Identifier: Apache-2.0
//
// MARS as an interleaved slot.
//
// Cycles per block at full load: the ring's, 16.
`include "slot_ports.svh"

module mars_ring_slot
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
    .Algorithm(AlgMars),
    .BlockBytes(16),
    .KeyLengths(64'h0111_1111_1111_0000),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    mars_ring #(
      .Phase(16 / Rings * i),
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

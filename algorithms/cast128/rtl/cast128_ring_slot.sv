// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 as an interleaved slot.
//
// Cycles per block at full load: the ring's, 16 or 12.
`include "slot_ports.svh"

module cast128_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side; several take keys of more than 10 bytes alone, because shorter ones are shorter under way.
  parameter int unsigned Rings = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgCast128),
    .BlockBytes(8),
    .KeyLengths(Rings > 1 ? 64'h1_F800 : 64'h1_FFE0),
    .Tickets(8),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    cast128_ring #(
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// DES and triple DES as an interleaved slot.
//
// Cycles per block at full load: the ring's (des_ring).
`include "slot_ports.svh"

module des_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in des_ring.
  parameter int unsigned Unrolled = 8,
  // Frames in flight.
  parameter int unsigned Lanes = UsualLanes,
  // Rings side by side; several take keys of one part alone, unless all are under way for the same time.
  parameter int unsigned Rings = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgDes),
    .BlockBytes(8),
    .KeyLengths(64'd1 << 8 | (Rings > 1 && Unrolled < 48 ? '0 : 64'd1 << 16 | 64'd1 << 24)),
    .Tickets(Unrolled == 48 ? 64 : 4 << $clog2(Unrolled)),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    des_ring #(
      .Unrolled(Unrolled),
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Serpent as an interleaved slot.
//
// Cycles per block at full load: the ring's, 4.
`include "slot_ports.svh"

module serpent_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // 0: encryption only; CTR then still goes both ways.
  parameter bit          Decrypt = 1'b1,
  // Frames in flight.
  parameter int unsigned Lanes   = UsualLanes,
  // Rings side by side.
  parameter int unsigned Rings   = 1
) (
  `SLOT_PORTS
);

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgSerpent),
    .BlockBytes(16),
    .Decrypt(Decrypt),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    serpent_ring #(
      .Decrypt (Decrypt),
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

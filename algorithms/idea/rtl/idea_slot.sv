// SPDX-License-Identifier: Apache-2.0
//
// IDEA as a slot.
//
// Cycles per block: the core's (idea_core) in every mode and direction.
`include "slot_ports.svh"

module idea_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // How products are reduced: MulLowHigh or MulBiham (idea_pkg).
  parameter int unsigned Multiplier = 1,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate       = AllOpen,
  parameter int unsigned Modes      = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgIdea),
    .ClearCycles(32),
    .BlockBytes(8),
    .KeyLengths(64'h1_0000),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  idea_core #(
    .Multiplier(Multiplier)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 as a slot.
//
// Cycles per block: the core's, 43, in every mode and direction.
`include "slot_ports.svh"

module rc6_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate  = AllOpen,
  parameter int unsigned Modes = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgRc6),
    .ClearCycles(68),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  rc6_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

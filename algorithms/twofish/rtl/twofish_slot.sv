// SPDX-License-Identifier: Apache-2.0
//
// Twofish as a slot.
//
// Cycles per block: the core's, 34 once the tables of the key are full, in every mode and direction.
`include "slot_ports.svh"

module twofish_slot
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
    .Algorithm(AlgTwofish),
    .ClearCycles(272),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  twofish_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

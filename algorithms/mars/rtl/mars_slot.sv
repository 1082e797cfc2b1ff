// SPDX-License-Identifier: Apache-2.0
//
// MARS as a slot.
//
// Cycles per block: the core's, 54, in every mode and direction.
`include "slot_ports.svh"

module mars_slot
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
    .Algorithm(AlgMars),
    .ClearCycles(20),
    // 16 to 56 bytes in steps of 4.
    .KeyLengths(64'h0111_1111_1111_0000),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  mars_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

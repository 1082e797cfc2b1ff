// SPDX-License-Identifier: Apache-2.0
//
// CAST-128 as a slot.
//
// Cycles per block: the core's, 17 or 13, in every mode and direction.
`include "slot_ports.svh"

module cast128_slot
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
    .Algorithm(AlgCast128),
    .ClearCycles(20),
    .BlockBytes(8),
    // 5 to 16 bytes.
    .KeyLengths(64'h1_FFE0),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  cast128_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

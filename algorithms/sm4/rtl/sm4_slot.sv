// SPDX-License-Identifier: Apache-2.0
//
// SM4 as a slot.
//
// Cycles per block: the core's (sm4_core) in every mode and direction.
`include "slot_ports.svh"

module sm4_slot
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
    .Algorithm(8'h0B),
    .ClearCycles(33),
    .KeyLengths(64'h1_0000),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  sm4_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

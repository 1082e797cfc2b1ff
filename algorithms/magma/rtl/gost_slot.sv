// SPDX-License-Identifier: Apache-2.0
//
// GOST 28147-89 as a slot. The set of S-boxes is in 32 LUTs, and the lower bits of the algorithm's code, which tell
// the set, in three more; nothing else depends on it.
//
// Cycles per block: the core's (gost_core) in every mode and direction.
`include "slot_ports.svh"

module gost_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // The set of S-boxes: 0 that of Magma, 1 to 4 CryptoPro's A to D.
  parameter int unsigned Set   = 0,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate  = AllOpen,
  parameter int unsigned Modes = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(8'h10),
    .ClearCycles(4),
    .BlockBytes(8),
    .KeyLengths(64'h1_0000_0000),
    // The codes of the other sets follow that of set 0.
    .Code(8'h10 | 8'(Set)),
    .CodeMask(8'h07),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  gost_core #(
    .Set(Set)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// DES or triple DES as a slot.
//
// Cycles per block: the core's (des_core) in every mode and direction, but CTR takes 3 at least.
`include "slot_ports.svh"

module des_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // Keys of 16 and 24 bytes too.
  parameter bit          Triple         = 1'b0,
  // Rounds computed in one clock: 1, 2, 4, 8 or 16.
  parameter int unsigned RoundsPerClock = 1,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate           = AllOpen,
  parameter int unsigned Modes          = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgDes),
    .ClearCycles(4),
    .BlockBytes(8),
    .KeyLengths(64'd1 << 8 | (Triple ? 64'd1 << 16 | 64'd1 << 24 : '0)),
    // With 1 or 2 clocks per block each clock counts.
    .Eager(RoundsPerClock >= 8),
    .Unhurried(RoundsPerClock == 1),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  des_core #(
    .Triple(Triple),
    .RoundsPerClock(RoundsPerClock)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

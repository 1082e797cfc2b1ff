// SPDX-License-Identifier: Apache-2.0
//
// Serpent as a slot.
//
// Cycles per block: the core's, 33 or 32 / RoundsPerClock, in every mode and direction.
`include "slot_ports.svh"

module serpent_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // 0: encryption only; CTR then still goes both ways.
  parameter bit Decrypt = 1'b1,
  // Rounds computed in one clock: 1, 2, 4 or 8.
  parameter int unsigned RoundsPerClock = 1,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate = AllOpen,
  parameter int unsigned Modes = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgSerpent),
    .ClearCycles(68),
    .Decrypt(Decrypt),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  serpent_core #(
    .RoundsPerClock(RoundsPerClock),
    .Decrypt(Decrypt)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// RC6-32/20 as a slot, or RC6 with fewer rounds, which has a code of its own.
//
// Cycles per block: the core's, 43, in every mode and direction; with r rounds 2 r + 3.
`include "slot_ports.svh"

module rc6_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // From 4 to 20.
  parameter int unsigned RoundCount = rc6_pkg::Rounds,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate = AllOpen,
  parameter int unsigned Modes = 0
) (
  `SLOT_PORTS
);

  localparam logic [7:0] FewerRounds = 8'h10;

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgRc6),
    .ClearCycles(68),
    .Code(RoundCount == rc6_pkg::Rounds ? AlgRc6 : AlgRc6 | FewerRounds),
    .CodeMask(FewerRounds),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  rc6_core #(
    .RoundCount(RoundCount)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

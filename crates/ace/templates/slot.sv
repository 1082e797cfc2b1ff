// SPDX-License-Identifier: Apache-2.0
//
// @NAME@ as a slot.
//
// Cycles per block: the core's (@ID@_core) in every mode and direction.
`include "slot_ports.svh"

module @ID@_slot
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
    .Algorithm(8'h@CODE@),
    .ClearCycles(@CLEAR@),
    .BlockBytes(@BLOCK@),
    .KeyLengths(64'h@LENGTHS@),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  @ID@_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 and HMAC-SHA-1 as a slot.
//
// Cycles per block: the core's (sha1_core).
`include "slot_ports.svh"

module sha1_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // What the gate lets pass.
  parameter int unsigned Gate = AllOpen
) (
  `SLOT_PORTS
);

  `CORE_WIRES(hash)

  hash_front #(
    .Algorithm(AlgSha1),
    .StateBytes(20),
    .DigestBytes(20),
    .BigEndian(1'b1),
    .Gate(Gate),
    .ClearCycles(17)
  ) u_front (
    `FRONT_PORTS
  );

  sha1_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

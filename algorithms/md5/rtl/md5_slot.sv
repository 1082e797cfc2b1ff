// SPDX-License-Identifier: Apache-2.0
//
// MD5 and HMAC-MD5 as a slot.
//
// Cycles per block: the core's (md5_core).
`include "slot_ports.svh"

module md5_slot
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
    .Algorithm(AlgMd5),
    .StateBytes(16),
    .DigestBytes(16),
    .BigEndian(1'b0),
    .Gate(Gate),
    .ClearCycles(17)
  ) u_front (
    `FRONT_PORTS
  );

  md5_core u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

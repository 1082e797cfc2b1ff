// SPDX-License-Identifier: Apache-2.0
//
// MD5 and HMAC-MD5 of two frames at a time as a slot.
//
// Cycles per block: the core's (md5_ring).
`include "slot_ports.svh"

module md5_pair_slot
  import core_pkg::*;
  import slot_pkg::*;
(
  `SLOT_PORTS
);

  `CORE_WIRES(hash)

  pair_front #(
    .Algorithm  (AlgMd5),
    .StateBytes (16),
    .DigestBytes(16),
    .BigEndian  (1'b0),
    .ClearCycles(516)
  ) u_front (
    `FRONT_PORTS
  );

  md5_ring u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

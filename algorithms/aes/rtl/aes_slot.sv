// SPDX-License-Identifier: Apache-2.0
//
// AES as a slot.
//
// Cycles per block: the core's, 11, 13 or 15 for 128, 192 or 256 key bits, in every mode and direction.
`include "slot_ports.svh"

module aes_slot
  import core_pkg::*;
  import slot_pkg::*;
#(
  // Implementation of the S-box: 0 block RAM, 1 logic (aes_pkg).
  parameter int unsigned SBox       = 0,
  // 0: encryption only; CTR then still goes both ways.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // What the gate lets pass, and modes besides ECB, CBC and CTR.
  parameter int unsigned Gate       = AllOpen,
  parameter int unsigned Modes      = 0
) (
  `SLOT_PORTS
);

  `CORE_WIRES(core)

  cipher_front #(
    .Algorithm(AlgAes),
    .ClearCycles(20),
    .KeyLengths(64'd1 << 16 | 64'(MaxKeyBits >= 192) << 24 | 64'(MaxKeyBits >= 256) << 32),
    .Decrypt(Decrypt),
    .Modes(Modes),
    .Gate(Gate)
  ) u_front (
    `FRONT_PORTS
  );

  aes_core #(
    .SBox(SBox),
    .Decrypt(Decrypt),
    .MaxKeyBits(MaxKeyBits)
  ) u_core (
    `CORE_PORTS(req, rsp)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// AES as an interleaved slot.
//
// Cycles per block at full load: the ring's, 10, 12 or 14 / Unrolled for 128, 192 or 256 key bits, but not
// less than 2, the beats of a block. For Unrolled = 5 that is what the slot's 64-bit streams can carry; 10
// would halve the time of a block, and serve nothing else.
`include "slot_ports.svh"

module aes_ring_slot
  import core_pkg::*;
  import lane_pkg::*;
  import slot_pkg::*;
#(
  // As in aes_ring.
  parameter int unsigned Unrolled   = 1,
  // 0: encryption only; CTR then still goes both ways.
  parameter bit          Decrypt    = 1'b1,
  // The largest key: 128, 192 or 256.
  parameter int unsigned MaxKeyBits = 256,
  // Frames in flight.
  parameter int unsigned Lanes      = UsualLanes,
  // Rings side by side; several take keys of 128 bits alone, because longer ones would be longer under way.
  parameter int unsigned Rings      = 1
) (
  `SLOT_PORTS
);

  if (Rings > 1 && MaxKeyBits > 128) begin : gen_illegal
    $error("aes_ring_slot: several rings take keys of 128 bits only");
  end

  `RING_WIRES(Rings)

  lane_front #(
    .Algorithm(AlgAes),
    .BlockBytes(16),
    .KeyLengths(64'd1 << 16 | 64'(MaxKeyBits >= 192) << 24 | 64'(MaxKeyBits >= 256) << 32),
    .Decrypt(Decrypt),
    .Tickets(Unrolled == 10 ? 64 : 8 << $clog2(Unrolled)),
    .Lanes(Lanes),
    .Rings(Rings)
  ) u_front (
    `FRONT_PORTS
  );

  for (genvar i = 0; i < Rings; i++) begin : gen_ring
    aes_ring #(
      .Unrolled(Unrolled),
      .Decrypt(Decrypt),
      .MaxKeyBits(MaxKeyBits),
      .Contexts(Lanes)
    ) u_core (
      `CORE_PORTS(req[i], rsp[i])
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// DES and triple DES (FIPS 46-3), both directions, RoundsPerClock rounds in a clock. A key of 8 bytes is
// DES; with Triple also 16 and 24 bytes, encrypt-decrypt-encrypt under two or three keys. The initial and
// final permutations between the stages of triple DES cancel out and are not there. Parity bits are ignored
// and weak keys are taken as any other: which keys may be used is for those who make them.
//
// Cycles per block, S = 1 for DES and 3 for triple DES:
//   RoundsPerClock 1, 2:      S * 16 / RoundsPerClock + 1 (the block is loaded in a clock of its own)
//   RoundsPerClock 4, 8, 16:  S * 16 / RoundsPerClock     (it goes through the first rounds as it comes in)
// The next block enters in the clock in which a result leaves. Key set-up with RoundsPerClock = 1: 1 clock,
// also when the direction changes (it shows in ECB with a fresh key only; in the other modes the IV comes
// meanwhile); else 0. Constant in time.
module des_core
  import core_pkg::*;
  import des_pkg::*;
#(
  // Keys of 16 and 24 bytes too.
  parameter bit Triple = 1'b0,
  // Rounds computed in one clock: 1, 2, 4, 8 or 16.
  parameter int unsigned RoundsPerClock = 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t    clear_i,
  input  core_req_t req_i,
  output core_rsp_t rsp_o
);

  if (!(RoundsPerClock inside {1, 2, 4, 8, 16})) begin : gen_illegal
    $error("des_core: RoundsPerClock must be 1, 2, 4, 8 or 16");
  end
  if (!tables_agree()) begin : gen_wrong
    $error("des_pkg: the permutations are not those of the standard");
  end

  if (RoundsPerClock == 1) begin : gen_serial
    des_serial #(
      .Triple(Triple)
    ) u_rounds (
      .clk_i,
      .rst_ni,
      .clear_i,
      .req_i,
      .rsp_o
    );
  end else begin : gen_unrolled
    des_unrolled #(
      .Triple(Triple),
      .RoundsPerClock(RoundsPerClock),
      // Many rounds take so long that the way in adds little to them; a clock for it would cost more.
      .Early(RoundsPerClock >= 4)
    ) u_rounds (
      .clk_i,
      .rst_ni,
      .clear_i,
      .req_i,
      .rsp_o
    );
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Four S-box lookups, one clock: the bytes and what they are for are taken at a clock edge, the results stand
// until the next. The register in front of the lookup is the cipher's state register, so that a block RAM,
// which has that register inside, serves as well as logic does.
//
// A lookup of byte a gives two bytes, x and y, made so that the rest of a round is little more than an XOR.
// With s = SubBytes(a), t = InvSubBytes(a) and products in GF(2^8):
//                       SBoxEbr                             SBoxTower
//   encryption          x = 2s, y = s                       x = 2s, y = s
//   decryption          x = 2t, y = 9t                      x = 2t, y = t
//   last round          y = s or t (x = s, y = 0 without    y = s or t
//                       Decrypt)
//   at rest             x = 0, y = 0                        y = 0x63 or, in decryption, 0; x = 2y
// With Triple, y = 3s in encryption, and x = 0, y = s in the last round.
// At rest, which is when a block enters, the lookups are a constant, and a state that was wiped is gone.
module aes_sbox
  import aes_pkg::*;
#(
  // SBoxEbr or SBoxTower.
  parameter int unsigned SBox    = SBoxEbr,
  // 0: no InvSubBytes.
  parameter bit          Decrypt = 1'b1,
  // SBoxEbr without Decrypt only.
  parameter bit          Triple  = 1'b0
) (
  input  logic  clk_i,
  input  look_t look_i,
  output sub_t  sub_o
);

  if (!(SBox inside {SBoxEbr, SBoxTower})) begin : gen_illegal
    $error("aes_sbox: SBox must be SBoxEbr (0) or SBoxTower (1)");
  end

  if (Triple && (SBox != SBoxEbr || Decrypt)) begin : gen_illegal_triple
    $error("aes_sbox: Triple wants block RAM and no Decrypt");
  end

  if (SBox == SBoxTower) begin : gen_tower
    logic unused;
    assign unused = look_i.last;

    for (genvar i = 0; i < 4; i++) begin : gen_byte
      aes_sbox_tower #(
        .Decrypt(Decrypt)
      ) u_tower (
        .clk_i,
        .decrypt_i(look_i.decrypt),
        .rest_i   (look_i.rest),
        .a_i      (look_i.a[8*i+:8]),
        .s_o      (sub_o.y[8*i+:8])
      );
      assign sub_o.x[8*i+:8] = xtime(sub_o.y[8*i+:8]);
    end
  end else begin : gen_ebr
    aes_sbox_ebr #(
      .Decrypt(Decrypt),
      .Triple (Triple)
    ) u_ebr (
      .clk_i,
      .look_i,
      .sub_o
    );
  end

endmodule

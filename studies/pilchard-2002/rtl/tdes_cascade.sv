// SPDX-License-Identifier: Apache-2.0
//
// Triple DES as the paper has it: three DES cores of sixteen rounds each in cascade, all combinational. Encrypts as
// encrypt-decrypt-encrypt under the three raw keys. The permutations between the cores cancel out. Clocks: none.
module tdes_cascade
  import des_pkg::*;
(
  input  logic         decrypt_i,
  input  block_t [2:0] key_i,
  input  block_t       block_i,
  output block_t       block_o
);

  half_t l, r;
  // No loop, although one signal.
  /* verilator lint_off UNOPTFLAT */
  half_t [47:0] left, right, next;
  /* verilator lint_on UNOPTFLAT */

  assign {l, r} = initial_permutation(block_i);

  for (genvar s = 0; s < 3; s++) begin : gen_core
    key_t first;
    logic back;

    // The core in the middle goes the other way; turned end to end, its key schedule shifts the same way.
    assign back  = decrypt_i ^ (s == 1);
    assign first = permuted_choice_1(decrypt_i ? key_i[2-s] : key_i[s]);

    for (genvar i = 0; i < 16; i++) begin : gen_round
      key_t cd;

      if (i == 0) begin : gen_load
        assign cd = back ? turn(first) : rotate_left_1(first);
        // Between two cores the halves change places.
        if (s == 0) begin : gen_first
          assign {left[0], right[0]} = {l, r};
        end else begin : gen_next
          assign {left[16*s], right[16*s]} = {next[16*s-1], right[16*s-1]};
        end
      end else begin : gen_shift
        assign cd = Shifts[i] == 1 ? rotate_left_1(gen_round[i-1].cd) : rotate_left_2(gen_round[i-1].cd);
        assign {left[16*s+i], right[16*s+i]} = {right[16*s+i-1], next[16*s+i-1]};
      end

      des_round u_round (
        .l_i(left[16*s+i]),
        .r_i(right[16*s+i]),
        .k_i(permuted_choice_2(back ? turn(cd) : cd)),
        .r_o(next[16*s+i])
      );
    end
  end

  assign block_o = final_permutation({next[47], right[47]});

endmodule

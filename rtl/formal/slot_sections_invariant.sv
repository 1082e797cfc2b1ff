// SPDX-License-Identifier: Apache-2.0
//
// How the registers of slot_sections hang together while it counts, so that an induction over one clock proves what
// slot_sections_check says. For proofs only: it looks at u_check.
module slot_sections_invariant
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input header_t header_i,
  input logic [3:0] left_q,
  input logic last_q,
  input logic [4:0] target_q,
  input logic [4:0] count_q,
  input logic [23:0] high_q,
  input logic high_next_q,
  input logic high_match_q,
  input logic [2:0] single_q,
  // Of slot_sections_check.
  input logic open_q,
  input section_e section_q,
  input logic [28:0] index_q,
  input logic [29:0] beats,
  input logic last
);

  logic [31:0] length;
  assign length = section_q == SecKey ? 32'(header_i.key_len) : section_q == SecIv ? 32'(header_i.iv_len)
      : header_i.payload_len;

  // What count_q and high_q count, at full length, and where it ends.
  logic [29:0] count;
  logic [23:0] ends;
  assign count = 30'(index_q) + 30'd1 + 30'(length[2:0] == '0);
  assign ends  = header_i.payload_len[31:8];

  logic counting;  // high_q is at work
  assign counting = section_q == SecPayload && !last;

  always_ff @(posedge clk_i) begin
    if (rst_ni && open_q) begin
      assert (beats != '0 && 30'(index_q) < beats);
      assert (left_q == {header_i.payload_len != '0, header_i.iv_len != '0 && section_q != SecPayload,
          section_q == SecKey, 1'b0});
      assert (section_q != SecKey || header_i.key_len != '0);
      assert (section_q != SecIv || header_i.iv_len != '0);
      assert (section_q != SecPayload || header_i.payload_len != '0);
      assert (section_q != SecAad);
      assert (single_q == {header_i.payload_len[7:0] <= 8, header_i.iv_len <= 8, header_i.key_len <= 8});
      assert (last_q == last);
      if (!last) begin
        assert (target_q == length[7:3]);
        assert (count_q == count[4:0]);
      end
      if (counting) begin
        assert (high_q == 24'((count + 30'd15) >> 5));
        if (count_q == 5'd17)
          assert (high_next_q == (high_q >= ends) || high_next_q == (high_q - 24'd1 >= ends));
          else assert (high_next_q == (high_q >= ends));
        assert (high_match_q == (24'(count >> 5) >= ends));
      end
      if (section_q != SecPayload) begin
        assert (high_q == '0);
        assert (high_next_q == (ends == '0));
        assert (high_match_q == (ends == '0));
      end
    end
  end

endmodule

bind slot_sections slot_sections_invariant u_invariant (
  .open_q(u_check.open_q),
  .section_q(u_check.section_q),
  .index_q(u_check.index_q),
  .beats(u_check.beats),
  .last(u_check.last),
  .*
);

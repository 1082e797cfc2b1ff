// SPDX-License-Identifier: Apache-2.0
//
// slot_sections as slot_shell uses it: any header, then look, load and beats in any clocks. LengthBits bounds the
// payload for a proof that unrolls it.
module slot_sections_harness
  import slot_pkg::*;
#(
  parameter int unsigned LengthBits = 32
) (
  input logic clk_i,
  input logic take_i,
  input logic go_i,
  input header_t header_i
);

  logic rst_ni;

  reset_first u_reset (
    .clk_i,
    .rst_no(rst_ni)
  );

  // Where the shell is: before the header, in its first and second beat, check, start, body.
  logic [2:0] place_q;
  header_t header_q;
  logic open_q;

  section_e section;
  logic last, complete, none, take;
  assign take = open_q && take_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q  <= '0;
      open_q   <= 1'b0;
      header_q <= '0;
    end else begin
      if (place_q == 3'd0 && go_i) header_q[63:0] <= header_i[63:0];
      if (place_q == 3'd1) header_q[95:64] <= header_i[95:64];
      if (place_q < 3'd2 ? go_i : place_q < 3'd4) place_q <= place_q + 3'd1;
      if (place_q == 3'd3) open_q <= !none;
      if (place_q == 3'd4) begin
        if (take && complete) open_q <= 1'b0;
        // A frame may end early.
        if (go_i && (!open_q || take)) begin
          place_q <= 3'd0;
          open_q  <= 1'b0;
        end
      end
    end
  end

  slot_sections u_dut (
    .clk_i,
    .rst_ni,
    .header_i  (header_q),
    .head_i    (place_q == 3'd0),
    .look_i    (place_q == 3'd2),
    .load_i    (place_q == 3'd3),
    .take_i    (take),
    .section_o (section),
    .last_o    (last),
    .complete_o(complete),
    .none_o    (none)
  );

  if (LengthBits < 32) begin : gen_short
    always_comb assume (header_q.payload_len >> LengthBits == '0);
  end

  // For the induction.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (place_q <= 3'd4);
      if (place_q != 3'd4) assert (!open_q);
      if (place_q inside {3'd1, 3'd2, 3'd3}) assert (!u_dut.u_check.open_q && u_dut.high_q == '0);
      if (place_q == 3'd3) begin
        assert (u_dut.u_check.looked_q && u_dut.last_q);
        assert (u_dut.left_q == {header_q.payload_len != '0, header_q.iv_len != '0, header_q.key_len != '0, 1'b1});
        assert (u_dut.single_q
            == {header_q.payload_len[7:0] <= 8, header_q.iv_len <= 8, header_q.key_len <= 8});
        assert (u_dut.high_next_q == (header_q.payload_len[31:8] == '0));
      end
      if (place_q == 3'd4) assert (open_q == u_dut.u_check.open_q);
    end
  end

  // A header whose key section is there has the flag; the shell refuses others.
  always_comb assume (header_q.aad_len == '0);

endmodule

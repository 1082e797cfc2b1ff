// SPDX-License-Identifier: Apache-2.0
//
// What array_shell says of the beats behind a header, against the lengths that stand in it, counted plainly.
module array_shell_check
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input header_t header_o,
  input request_t frame_o,
  input logic tag_o,
  input response_t answer_i
);

  // Beats of key, IV, AAD, payload and tag.
  logic [4:0][29:0] beats;
  logic aead;
  assign aead = header_o.op == OpAead;
  assign beats = {
    30'((33'(aead && header_o.flags.decrypt ? header_o.result_len : 8'd0) + 33'd7) >> 3),
    30'((33'(header_o.payload_len) + 33'd7) >> 3),
    30'((33'(header_o.aad_len) + 33'd7) >> 3),
    30'((33'(header_o.iv_len) + 33'd7) >> 3),
    30'((33'(header_o.key_len) + 33'd7) >> 3)
  };

  logic [2:0] part_q, part_d, first;
  logic [29:0] index_q;
  logic body_q, last, more, taken;
  header_t header_q;

  assign last  = index_q == beats[part_q] - 30'd1;
  assign taken = frame_o.valid && answer_i.ready;

  always_comb begin
    {first, part_d} = {3'd4, 3'd4};
    more = 1'b0;
    for (int p = 4; p >= 0; p--) begin
      if (beats[p] != '0) begin
        first = 3'(p);
        if (p > int'(part_q)) begin
          part_d = 3'(p);
          more   = 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {part_q, index_q, body_q, header_q} <= '0;
    end else begin
      header_q <= header_o;
      if (frame_o.start) begin
        part_q  <= first;
        index_q <= '0;
        body_q  <= beats != '0;
      end else if (frame_o.drop) begin
        body_q <= 1'b0;
      end else if (taken && last) begin
        part_q  <= part_d;
        index_q <= '0;
        body_q  <= more;
      end else if (taken) begin
        index_q <= index_q + 30'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (frame_o.valid) begin
        assert (body_q)
        else $error("a beat that no length announces");
        assert (part_q == (tag_o ? 3'd4 : 3'(frame_o.section)))
        else $error("a beat of another part of the frame");
        assert (frame_o.last == last)
        else $error("the last beat of a part");
      end
      if (frame_o.start || body_q) begin
        assert (header_o == header_q)
        else $error("the header changes under the engine");
        assert (aead || header_o.aad_len == '0)
        else $error("AAD of a frame that cannot have any");
      end
      cover (taken && tag_o && last && header_o.aad_len != '0 && header_o.payload_len != '0);
    end
  end

endmodule

bind array_shell array_shell_check u_array_check (.*);

// SPDX-License-Identifier: Apache-2.0
//
// The beats behind a header, counted plainly: which section each belongs to, and whether it is the last of it.
module slot_sections_check
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input header_t header_i,
  input logic head_i,
  input logic look_i,
  input logic load_i,
  input logic take_i,
  input section_e section_o,
  input logic last_o,
  input logic complete_o,
  input logic none_o
);

  // Beats of each section.
  logic [29:0] payload;
  logic [5:0] key, iv;
  assign key     = 6'((9'(header_i.key_len) + 9'd7) >> 3);
  assign iv      = 6'((9'(header_i.iv_len) + 9'd7) >> 3);
  assign payload = 30'((33'(header_i.payload_len) + 33'd7) >> 3);

  logic looked_q;  // the clock before, look_i was high
  logic open_q;  // there are beats to come
  section_e section_q;
  logic [28:0] index_q;  // of the next beat in its section

  logic [29:0] beats;
  logic last;
  assign beats = section_q == SecKey ? 30'(key) : section_q == SecIv ? 30'(iv) : payload;
  assign last  = 30'(index_q) == beats - 30'd1;

  section_e first, second;
  assign first  = key != '0 ? SecKey : iv != '0 ? SecIv : SecPayload;
  assign second = section_q == SecKey && iv != '0 ? SecIv : SecPayload;

  logic complete;
  assign complete = last && (section_q == SecPayload || (payload == '0 && (section_q == SecIv || iv == '0)));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looked_q  <= 1'b0;
      open_q    <= 1'b0;
      section_q <= SecKey;
      index_q   <= '0;
    end else begin
      looked_q <= look_i;
      if (head_i || look_i) open_q <= 1'b0;
      else if (load_i) begin
        open_q    <= key != '0 || iv != '0 || payload != '0;
        section_q <= first;
        index_q   <= '0;
      end else if (take_i) begin
        open_q  <= open_q && !complete;
        index_q <= index_q + 29'd1;
        if (last) begin
          section_q <= second;
          index_q   <= '0;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (looked_q) begin
        assert (none_o == (key == '0 && iv == '0 && payload == '0))
        else $error("whether there are beats");
      end
      if (open_q && !head_i) begin
        assert (section_o == section_q)
        else $error("a beat of another section");
        assert (last_o == last)
        else $error("the last beat of a section");
        assert (complete_o == complete)
        else $error("the last beat of the frame");
      end
    end
  end

endmodule

bind slot_sections slot_sections_check u_check (.*);

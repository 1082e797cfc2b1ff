// SPDX-License-Identifier: Apache-2.0
//
// array_loader: no bank that runs is touched; a bank has no set from a load's first beat on until its end, and none behind
// one that was refused; keys come to the banks that they are for, and go with their set; only tiles that are named are
// written; something goes on unless beats or tiles are waited for.
module array_loader_check
  import array_pkg::*;
  import array_front_pkg::*;
  import core_pkg::clear_t;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1,
  // Clocks in which nothing goes on though nobody has to do something.
  parameter int unsigned Quiet = 12
) (
  input logic clk_i,
  input logic rst_ni,
  input clear_t clear_i,
  input header_t header_i,
  input request_t frame_i,
  input response_t answer_o,
  input logic [7:0] fault_o,
  input logic [Tiles-1:0] run_i,
  input logic [Tiles-1:0][1:0] key_banks_i,
  input logic [Tiles-1:0][1:0] key_serves_i,
  input area_t key_area_i,
  input set_t [Tiles-1:0][1:0] sets_o,
  input keys_t [Tiles-1:0][1:0] keys_o,
  input logic busy_o,
  input logic [Tiles-1:0] writes_o,
  input write_t [Tiles-1:0] write_o
);

  set_t  [Tiles-1:0][1:0] sets_q;
  keys_t [Tiles-1:0][1:0] keys_q;
  logic past_q, load_q, started_q, cleared_q;
  logic [Tiles-1:0] named_q, banks_q;
  logic [4:0] quiet_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sets_q, keys_q, past_q, load_q, started_q, cleared_q, named_q, banks_q, quiet_q} <= '0;
    end else begin
      sets_q    <= sets_o;
      keys_q    <= keys_o;
      past_q    <= 1'b1;
      started_q <= frame_i.start;
      cleared_q <= clear_i.active;
      if (frame_i.start) begin
        load_q  <= header_i.op == OpLoad;
        named_q <= header_i.result_len == '0 ? Tiles'(1) : header_i.result_len[Tiles-1:0];
        banks_q <= ~run_i;
      end
      quiet_q <= !busy_o || frame_i.valid && answer_o.ready || frame_i.start || frame_i.drop || answer_o.done
          || writes_o != '0 || (answer_o.ready && !frame_i.valid) ? '0 : quiet_q + 5'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && past_q) begin
      for (int unsigned t = 0; t < Tiles; t++) begin
        for (int unsigned b = 0; b < 2; b++) begin
          automatic logic loads = load_q && named_q[t] && banks_q[t] == 1'(b);
          if (sets_o[t][b] != sets_q[t][b]) begin
            assert (loads && run_i[t] != 1'(b))
            else $error("a set changes that is not loaded, or runs");
            assert (sets_o[t][b].valid ? answer_o.done && fault_o == '0 : started_q)
            else $error("a set comes or goes in the middle of a load, or one comes that is refused");
          end
          if (keys_o[t][b] != keys_q[t][b] && !cleared_q) begin
            assert (load_q ? started_q && loads && !keys_o[t][b].valid : answer_o.done && (key_banks_i[t][b] ?
                keys_o[t][b] == {2'b10, key_area_i} : key_serves_i[t][b] && keys_o[t][b].stale))
            else $error("a key comes or goes that should not");
          end
          if (started_q && loads) begin
            assert (!sets_o[t][b].valid && !keys_o[t][b].valid)
            else $error("a bank has a set while it is loaded");
          end
        end
        if (writes_o[t] && load_q) begin
          assert (named_q[t])
          else $error("a tile is written that is not loaded");
        end
        if (writes_o[t] && write_o[t].target == TargetKey) begin
          assert (write_o[t].at >= 9'(2 << ConstantBits))
          else $error("a key lies among constants");
        end
      end
      assert (quiet_q < 5'(Quiet))
      else $error("nothing goes on, and nobody has to do something");
    end
  end

endmodule

bind array_loader array_loader_check #(.Tiles(Tiles)) u_check (.*);

// SPDX-License-Identifier: Apache-2.0
// Bytes between two clocks: a port to write, a port to read with a register behind it. Latency 2 clocks.
module small_queue (
  input  logic       write_clk_i,
  input  logic       write_i,
  input  logic [9:0] write_at_i,
  input  logic [7:0] write_data_i,
  input  logic       read_clk_i,
  input  logic [9:0] read_at_i,
  output logic [7:0] read_data_o
);
  (* ram_style = "block", no_rw_check *)
  logic [7:0] ram[1024];
  logic [7:0] raw_q;
  always_ff @(posedge write_clk_i) if (write_i) ram[write_at_i] <= write_data_i;
  always_ff @(posedge read_clk_i) begin
    raw_q       <= ram[read_at_i];
    read_data_o <= raw_q;
  end
endmodule

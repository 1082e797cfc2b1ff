// SPDX-License-Identifier: Apache-2.0
//
// Round keys, one word of each: block memory with a register behind it, or logic if there are few.
//
// Latency of a read: 2 clocks, or 3.
module aes_ring_memory #(
  // Words.
  parameter int unsigned Depth = 256,
  // One register more.
  parameter bit Late = 1'b0,

  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input logic clk_i,

  input logic                   write_i,
  input logic [AddressBits-1:0] write_at_i,
  input logic [           31:0] write_data_i,

  input  logic [AddressBits-1:0] read_at_i,
  output logic [           31:0] read_data_o
);

  logic [31:0] raw_q;

  if (Depth > 16) begin : gen_block
    (* ram_style = "block", no_rw_check *)
    logic [31:0] ram[Depth];

    always_ff @(posedge clk_i) begin
      if (write_i) ram[write_at_i] <= write_data_i;
      raw_q <= ram[read_at_i];
    end
  end else begin : gen_logic
    (* ram_style = "distributed" *)
    logic [31:0] ram[Depth];

    always_ff @(posedge clk_i) begin
      if (write_i) ram[write_at_i] <= write_data_i;
      raw_q <= ram[read_at_i];
    end
  end

  if (Late) begin : gen_late
    logic [31:0] near_q;

    always_ff @(posedge clk_i) begin
      near_q      <= raw_q;
      read_data_o <= near_q;
    end
  end else begin : gen_soon
    always_ff @(posedge clk_i) begin
      read_data_o <= raw_q;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// The machine of the paper's Figure 2: core, arbiter, reconfigurable unit, one memory. While the unit works on an
// instruction it has the memory's port; the core has it in all other clocks.
module molen_machine
  import molen_pkg::*;
#(
  // Words of memory, as a power of two.
  parameter int unsigned       MemoryBits = 14,
  parameter logic        [4:0] Ciphers    = 5'b11111
) (
  input logic clk_i,
  input logic rst_ni,

  // While in reset, the memory is written from here.
  input logic                   load_i,
  input logic  [MemoryBits-1:0] load_at_i,
  input word_t                  load_data_i,

  // Clocks of MixColumns in the unit besides the first: a constant on a device.
  input logic [4:0] more_clocks_i,

  output logic         set_o,
  output logic         set_partial_o,
  output logic  [15:0] set_mask_o,
  output word_t        set_list_o,
  input  logic         set_done_i,
  input  logic         set_refused_i,
  input  logic  [15:0] set_can_i,

  output logic   halted_o,
  output cause_t cause_o,
  output logic   retire_o,
  output word_t  retire_pc_o,
  output logic   retire_write_o,
  output word_t  retire_data_o
);

  (* ram_style = "block", no_rw_check *) word_t memory[1<<MemoryBits];

  word_t core_address, core_data, unit_address, unit_data, address, written, read_q;
  logic [3:0] core_write, write;
  logic unit_write, unit_turn_q;
  unit_req_t req;
  unit_rsp_t rsp;

  molen_core u_core (
    .clk_i,
    .rst_ni,
    .address_o(core_address),
    .write_o  (core_write),
    .data_o   (core_data),
    .data_i   (read_q),
    .unit_o   (req),
    .unit_i   (rsp),
    .halted_o,
    .cause_o,
    .retire_o,
    .retire_pc_o,
    .retire_write_o,
    .retire_data_o
  );

  molen_unit #(
    .Ciphers(Ciphers)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .more_clocks_i,
    .req_i    (req),
    .rsp_o    (rsp),
    .address_o(unit_address),
    .write_o  (unit_write),
    .data_o   (unit_data),
    .data_i   (read_q),
    .set_o,
    .set_partial_o,
    .set_mask_o,
    .set_list_o,
    .set_done_i,
    .set_refused_i,
    .set_can_i
  );

  // The arbiter: the unit's turn begins behind its instruction and ends with it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unit_turn_q <= 1'b0;
    else unit_turn_q <= req.valid || (unit_turn_q && !rsp.done && !rsp.trap);
  end

  always_comb begin
    address = core_address;
    written = core_data;
    write   = core_write;
    if (unit_turn_q && !rsp.done) begin
      address = unit_address;
      written = unit_data;
      write   = {4{unit_write}};
    end
    if (load_i) begin
      address = {{30 - MemoryBits{1'b0}}, load_at_i, 2'd0};
      written = load_data_i;
      write   = '1;
    end
  end

  for (genvar b = 0; b < 4; b++) begin : gen_lane
    always_ff @(posedge clk_i) if (write[b]) memory[address[MemoryBits+1:2]][8*b+:8] <= written[8*b+:8];
  end
  always_ff @(posedge clk_i) read_q <= memory[address[MemoryBits+1:2]];

  logic unused;
  assign unused = ^address;

endmodule

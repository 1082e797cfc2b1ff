// SPDX-License-Identifier: Apache-2.0
//
// Block RAM with the tables of one purpose, and two lookups a clock. Tables of 256 entries, generated at
// elaboration:
//   RomBytes     0: q0, 1: q1, 2: the byte itself (a layer that a shorter key has not)
//   RomProducts  0: q0, 1: q1, times the constants of the MDS matrix
//   RomCode      0: the share of byte Column in the RS code, 1: of byte Column + 1
//
// A lookup takes one clock; the clock-to-out of the memory is what it is (no output register).
module twofish_rom
  import twofish_pkg::*;
#(
  parameter int unsigned Kind   = 0,
  parameter int unsigned Column = 0,

  localparam int unsigned Bits = Kind == 0 ? 8 : Kind == 1 ? $bits(products_t) : 32
) (
  input  logic                  clk_i,
  input  logic                  enable_i,
  input  logic  [1:0][     1:0] table_i,
  input  byte_t [1:0]           a_i,
  output logic  [1:0][Bits-1:0] y_o
);

  if (Kind > 2) begin : gen_illegal
    $error("twofish_rom: Kind must be 0, 1 or 2");
  end

  localparam int unsigned Depth = Kind == 0 ? 1024 : 512;
  localparam int unsigned AddressBits = $clog2(Depth);

  typedef logic [Depth-1:0][Bits-1:0] tables_t;

  function automatic tables_t make_tables();
    tables_t tables;
    for (int unsigned n = 0; n < Depth; n++) begin
      unique case (Kind)
        0: tables[n] = Bits'(n < 512 ? q(1'(n / 256), 8'(n)) : 8'(n));
        1: tables[n] = Bits'(products(q(1'(n / 256), 8'(n))));
        default: tables[n] = Bits'(rs_product(Column + n / 256, 8'(n)));
      endcase
    end
    return tables;
  endfunction

  localparam tables_t Tables = make_tables();

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  logic [Bits-1:0] rom[Depth];

  initial begin
    for (int unsigned i = 0; i < Depth; i++) rom[i] = Tables[i];
  end

  for (genvar p = 0; p < 2; p++) begin : gen_port
    always_ff @(posedge clk_i) begin
      if (enable_i) y_o[p] <= rom[AddressBits'({table_i[p], a_i[p]})];
    end
  end

endmodule

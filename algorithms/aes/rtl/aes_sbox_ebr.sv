// SPDX-License-Identifier: Apache-2.0
//
// Four S-box lookups in two block RAMs (ECP5: a DP16KD for two, one lookup at each port, 4 tables of 256 x 16 bits,
// see aes_sbox). The address register is the state register of the cipher, so a lookup costs no clock of its
// own. That register has no reset; at rest the core has it point at a table of zeros instead.
module aes_sbox_ebr
  import aes_pkg::*;
#(
  // 0: without the tables for decryption.
  parameter bit Decrypt = 1'b1,
  // As in aes_sbox.
  parameter bit Triple  = 1'b0
) (
  input  logic  clk_i,
  input  look_t look_i,
  output sub_t  sub_o
);

  typedef enum logic [1:0] {
    TableEncrypt,
    TableDecrypt,
    TableLast,
    TableRest
  } table_e;

  typedef logic [1023:0][15:0] tables_t;

  // Entry {table, a} is {y, x}.
  function automatic tables_t make_tables();
    tables_t tables;
    for (int unsigned a = 0; a < 256; a++) begin
      byte_t s = sub_byte(8'(a));
      byte_t t = inv_sub_byte(8'(a));
      for (int unsigned k = 0; k < 4; k++) tables[256*k+a] = '0;
      tables[{TableEncrypt, 8'(a)}] = {Triple ? s ^ xtime(s) : s, xtime(s)};
      if (Decrypt) begin
        tables[{TableDecrypt, 8'(a)}] = {multiply(t, 8'h09), xtime(t)};
        tables[{TableLast, 8'(a)}]    = {t, 8'h00};
      end else begin
        tables[{TableLast, 8'(a)}] = Triple ? {s, 8'h00} : {8'h00, s};
      end
    end
    return tables;
  endfunction

  localparam tables_t Tables = make_tables();

  table_e table_d;

  always_comb begin
    if (look_i.rest) table_d = TableRest;
    else if (look_i.last && (look_i.decrypt || !Decrypt)) table_d = TableLast;
    else table_d = Decrypt && look_i.decrypt ? TableDecrypt : TableEncrypt;
  end

  for (genvar i = 0; i < 2; i++) begin : gen_pair
    // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
    // array in simulation.
    (* rom_style = "block" *)
    logic [15:0] rom[1024];

    initial begin
      for (int unsigned a = 0; a < 1024; a++) rom[a] = Tables[a];
    end

    always_ff @(posedge clk_i) begin
      {sub_o.y[16*i+:8], sub_o.x[16*i+:8]}     <= rom[{table_d, look_i.a[16*i+:8]}];
      {sub_o.y[16*i+8+:8], sub_o.x[16*i+8+:8]} <= rom[{table_d, look_i.a[16*i+8+:8]}];
    end
  end

endmodule

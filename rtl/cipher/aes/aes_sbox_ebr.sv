// SPDX-License-Identifier: Apache-2.0
//
// Two S-box lookups in one block RAM (ECP5: one DP16KD, one lookup at each port, 4 tables of 256 x 16 bits,
// see aes_sbox). Its address register is the state register of the cipher, so a lookup costs no clock of its
// own. That register has no reset; at rest the core has it point at a table of zeros instead.
module aes_sbox_ebr
  import aes_pkg::*;
#(
  // 0: without the tables for decryption.
  parameter bit Decrypt = 1'b1,
  // As in aes_sbox.
  parameter bit Triple  = 1'b0
) (
  input  logic        clk_i,
  input  logic        decrypt_i,
  input  logic        last_i,
  input  logic        rest_i,
  input  logic [15:0] a_i,
  output logic [15:0] x_o,
  output logic [15:0] y_o
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

  // A memory filled once, and not the constant itself: it becomes block RAM in the device and an indexed
  // array in simulation.
  (* rom_style = "block" *)
  logic [15:0] rom[1024];

  initial begin
    for (int unsigned i = 0; i < 1024; i++) rom[i] = Tables[i];
  end

  table_e table_d;

  always_comb begin
    if (rest_i) table_d = TableRest;
    else if (last_i && (decrypt_i || !Decrypt)) table_d = TableLast;
    else table_d = Decrypt && decrypt_i ? TableDecrypt : TableEncrypt;
  end

  always_ff @(posedge clk_i) begin
    {y_o[7:0], x_o[7:0]}   <= rom[{table_d, a_i[7:0]}];
    {y_o[15:8], x_o[15:8]} <= rom[{table_d, a_i[15:8]}];
  end

endmodule

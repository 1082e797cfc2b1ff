// SPDX-License-Identifier: Apache-2.0
//
// ECP5 cells for the proof that bits and netlist are the same (docs/proof.md). Logic is in ace_flow/gates.py.
// Whatever holds a state, or is too large to look into, is a shell around an empty core: the shell turns inverted
// and unused pins into one form, and the proof is cut at the core's pins. What a core is told to be (its reset
// value, its contents, its widths) is compared apart from that, by ace_flow/prove.py.

(* blackbox *)
module ace_core_ff (
  input  clock,
  input  enable,
  input  reset,
  input  data,
  output q
);
endmodule

module TRELLIS_FF #(
  parameter GSR = "ENABLED",
  parameter CEMUX = "1",
  parameter CLKMUX = "CLK",
  parameter LSRMUX = "LSR",
  parameter SRMODE = "LSR_OVER_CE",
  parameter REGSET = "RESET"
) (
  input  CLK,
  input  LSR,
  input  CE,
  input  DI,
  output Q
);
  ace_core_ff core (
    .clock(CLKMUX == "INV" ? ~CLK : CLK),
    .enable(CEMUX == "CE" ? CE : CEMUX == "INV" ? ~CE : 1'b1),
    .reset(LSRMUX == "INV" ? ~LSR : LSR),
    .data(DI),
    .q(Q)
  );
endmodule

(* blackbox *)
module ace_core_ram (
  input        clock,
  input        write,
  input  [3:0] write_address,
  input  [3:0] data,
  input  [3:0] read_address,
  output [3:0] q
);
endmodule

module TRELLIS_DPR16X4 #(
  parameter WCKMUX = "WCK",
  parameter WREMUX = "WRE",
  parameter [63:0] INITVAL = 64'h0
) (
  input  [3:0] DI,
  input  [3:0] WAD,
  input        WRE,
  input        WCK,
  input  [3:0] RAD,
  output [3:0] DO
);
  ace_core_ram core (
    .clock(WCKMUX == "INV" ? ~WCK : WCK),
    .write(WREMUX == "INV" ? ~WRE : WRE),
    .write_address(WAD),
    .data(DI),
    .read_address(RAD),
    .q(DO)
  );
endmodule

// Block memory. A CSDECODE is text, such as 0b101. Address bits below the width are unused; data and byte enables count only while writing; the enable
// of an output register that is not there does not count.
(* blackbox *)
module ace_core_ebr (
  input         clock_a,
  input         enable_a,
  input         output_enable_a,
  input         write_a,
  input         reset_a,
  input         select_a,
  input  [13:0] address_a,
  input  [17:0] data_a,
  output [17:0] q_a,
  input         clock_b,
  input         enable_b,
  input         output_enable_b,
  input         write_b,
  input         reset_b,
  input         select_b,
  input  [13:0] address_b,
  input  [17:0] data_b,
  output [17:0] q_b
);
endmodule

module DP16KD #(
  parameter DATA_WIDTH_A = 18,
  parameter DATA_WIDTH_B = 18,
  parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG",
  parameter RESETMODE = "SYNC",
  parameter ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000",
  parameter CSDECODE_B = "0b000",
  parameter WRITEMODE_A = "NORMAL",
  parameter WRITEMODE_B = "NORMAL",
  parameter CLKAMUX = "CLKA",
  parameter CEAMUX = "CEA",
  parameter OCEAMUX = "OCEA",
  parameter WEAMUX = "WEA",
  parameter RSTAMUX = "RSTA",
  parameter CLKBMUX = "CLKB",
  parameter CEBMUX = "CEB",
  parameter OCEBMUX = "OCEB",
  parameter WEBMUX = "WEB",
  parameter RSTBMUX = "RSTB",
  parameter GSR = "ENABLED",
  parameter [319:0] INITVAL_00 = 320'h0,
  parameter [319:0] INITVAL_01 = 320'h0,
  parameter [319:0] INITVAL_02 = 320'h0,
  parameter [319:0] INITVAL_03 = 320'h0,
  parameter [319:0] INITVAL_04 = 320'h0,
  parameter [319:0] INITVAL_05 = 320'h0,
  parameter [319:0] INITVAL_06 = 320'h0,
  parameter [319:0] INITVAL_07 = 320'h0,
  parameter [319:0] INITVAL_08 = 320'h0,
  parameter [319:0] INITVAL_09 = 320'h0,
  parameter [319:0] INITVAL_0A = 320'h0,
  parameter [319:0] INITVAL_0B = 320'h0,
  parameter [319:0] INITVAL_0C = 320'h0,
  parameter [319:0] INITVAL_0D = 320'h0,
  parameter [319:0] INITVAL_0E = 320'h0,
  parameter [319:0] INITVAL_0F = 320'h0,
  parameter [319:0] INITVAL_10 = 320'h0,
  parameter [319:0] INITVAL_11 = 320'h0,
  parameter [319:0] INITVAL_12 = 320'h0,
  parameter [319:0] INITVAL_13 = 320'h0,
  parameter [319:0] INITVAL_14 = 320'h0,
  parameter [319:0] INITVAL_15 = 320'h0,
  parameter [319:0] INITVAL_16 = 320'h0,
  parameter [319:0] INITVAL_17 = 320'h0,
  parameter [319:0] INITVAL_18 = 320'h0,
  parameter [319:0] INITVAL_19 = 320'h0,
  parameter [319:0] INITVAL_1A = 320'h0,
  parameter [319:0] INITVAL_1B = 320'h0,
  parameter [319:0] INITVAL_1C = 320'h0,
  parameter [319:0] INITVAL_1D = 320'h0,
  parameter [319:0] INITVAL_1E = 320'h0,
  parameter [319:0] INITVAL_1F = 320'h0,
  parameter [319:0] INITVAL_20 = 320'h0,
  parameter [319:0] INITVAL_21 = 320'h0,
  parameter [319:0] INITVAL_22 = 320'h0,
  parameter [319:0] INITVAL_23 = 320'h0,
  parameter [319:0] INITVAL_24 = 320'h0,
  parameter [319:0] INITVAL_25 = 320'h0,
  parameter [319:0] INITVAL_26 = 320'h0,
  parameter [319:0] INITVAL_27 = 320'h0,
  parameter [319:0] INITVAL_28 = 320'h0,
  parameter [319:0] INITVAL_29 = 320'h0,
  parameter [319:0] INITVAL_2A = 320'h0,
  parameter [319:0] INITVAL_2B = 320'h0,
  parameter [319:0] INITVAL_2C = 320'h0,
  parameter [319:0] INITVAL_2D = 320'h0,
  parameter [319:0] INITVAL_2E = 320'h0,
  parameter [319:0] INITVAL_2F = 320'h0,
  parameter [319:0] INITVAL_30 = 320'h0,
  parameter [319:0] INITVAL_31 = 320'h0,
  parameter [319:0] INITVAL_32 = 320'h0,
  parameter [319:0] INITVAL_33 = 320'h0,
  parameter [319:0] INITVAL_34 = 320'h0,
  parameter [319:0] INITVAL_35 = 320'h0,
  parameter [319:0] INITVAL_36 = 320'h0,
  parameter [319:0] INITVAL_37 = 320'h0,
  parameter [319:0] INITVAL_38 = 320'h0,
  parameter [319:0] INITVAL_39 = 320'h0,
  parameter [319:0] INITVAL_3A = 320'h0,
  parameter [319:0] INITVAL_3B = 320'h0,
  parameter [319:0] INITVAL_3C = 320'h0,
  parameter [319:0] INITVAL_3D = 320'h0,
  parameter [319:0] INITVAL_3E = 320'h0,
  parameter [319:0] INITVAL_3F = 320'h0
) (
  // verilog_format: off
  input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
    DIA2, DIA1, DIA0,
  input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
    DOA3, DOA2, DOA1, DOA0,
  input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3,
    DIB2, DIB1, DIB0,
  input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0
  // verilog_format: on
);
  wire write_a;
  wire [13:0] address_a, used_a;
  wire [17:0] data_a;
  assign write_a = WEA ^ (WEAMUX == "INV");
  assign address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign used_a = DATA_WIDTH_A == 36 ? 14'h3fe0 | {10'h0, {4{write_a}}} :
      DATA_WIDTH_A == 18 ? 14'h3ff0 | {12'h0, {2{write_a}}} :
      DATA_WIDTH_A == 9 ? 14'h3ff8 : DATA_WIDTH_A == 4 ? 14'h3ffc : DATA_WIDTH_A == 2 ? 14'h3ffe : 14'h3fff;
  assign data_a = {
    DIA17,
    DIA16,
    DIA15,
    DIA14,
    DIA13,
    DIA12,
    DIA11,
    DIA10,
    DIA9,
    DIA8,
    DIA7,
    DIA6,
    DIA5,
    DIA4,
    DIA3,
    DIA2,
    DIA1,
    DIA0
  };
  wire write_b;
  wire [13:0] address_b, used_b;
  wire [17:0] data_b;
  assign write_b = WEB ^ (WEBMUX == "INV");
  assign address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  assign used_b = DATA_WIDTH_B == 36 ? 14'h3fe0 | {10'h0, {4{write_b}}} :
      DATA_WIDTH_B == 18 ? 14'h3ff0 | {12'h0, {2{write_b}}} :
      DATA_WIDTH_B == 9 ? 14'h3ff8 : DATA_WIDTH_B == 4 ? 14'h3ffc : DATA_WIDTH_B == 2 ? 14'h3ffe : 14'h3fff;
  assign data_b = {
    DIB17,
    DIB16,
    DIB15,
    DIB14,
    DIB13,
    DIB12,
    DIB11,
    DIB10,
    DIB9,
    DIB8,
    DIB7,
    DIB6,
    DIB5,
    DIB4,
    DIB3,
    DIB2,
    DIB1,
    DIB0
  };

  // The wide mode takes its upper half from the other port's pins.
  wire writes_a, writes_b;
  assign writes_a = write_a | DATA_WIDTH_B == 36 & write_b;
  assign writes_b = write_b | DATA_WIDTH_A == 36 & write_a;

  ace_core_ebr core (
    .clock_a(CLKA ^ (CLKAMUX == "INV")),
    .enable_a(CEA ^ (CEAMUX == "INV")),
    .output_enable_a(REGMODE_A == "OUTREG" && (OCEA ^ (OCEAMUX == "INV"))),
    .write_a(write_a),
    .reset_a(RSTA ^ (RSTAMUX == "INV")),
    .select_a({CSA2, CSA1, CSA0} == {CSDECODE_A[16], CSDECODE_A[8], CSDECODE_A[0]}),
    .address_a(address_a & used_a),
    .data_a(data_a & {18{writes_a}}),
    .q_a({
      DOA17,
      DOA16,
      DOA15,
      DOA14,
      DOA13,
      DOA12,
      DOA11,
      DOA10,
      DOA9,
      DOA8,
      DOA7,
      DOA6,
      DOA5,
      DOA4,
      DOA3,
      DOA2,
      DOA1,
      DOA0
    }),
    .clock_b(CLKB ^ (CLKBMUX == "INV")),
    .enable_b(CEB ^ (CEBMUX == "INV")),
    .output_enable_b(REGMODE_B == "OUTREG" && (OCEB ^ (OCEBMUX == "INV"))),
    .write_b(write_b),
    .reset_b(RSTB ^ (RSTBMUX == "INV")),
    .select_b({CSB2, CSB1, CSB0} == {CSDECODE_B[16], CSDECODE_B[8], CSDECODE_B[0]}),
    .address_b(address_b & used_b),
    .data_b(data_b & {18{writes_b}}),
    .q_b({
      DOB17,
      DOB16,
      DOB15,
      DOB14,
      DOB13,
      DOB12,
      DOB11,
      DOB10,
      DOB9,
      DOB8,
      DOB7,
      DOB6,
      DOB5,
      DOB4,
      DOB3,
      DOB2,
      DOB1,
      DOB0
    })
  );
endmodule

// A multiplier without registers: the third operand, clocks, enables and resets do not count.
(* blackbox *)
module ace_core_mult (
  input  [17:0] a,
  input  [17:0] b,
  input         signed_a,
  input         signed_b,
  input         source_a,
  input         source_b,
  output [35:0] p
);
endmodule

module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE",
  parameter REG_INPUTB_CLK = "NONE",
  parameter REG_INPUTC_CLK = "NONE",
  parameter REG_PIPELINE_CLK = "NONE",
  parameter REG_OUTPUT_CLK = "NONE",
  parameter SOURCEB_MODE = "B_SHIFT"
) (
  // verilog_format: off
  input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
  output P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
  // verilog_format: on
);
  ace_core_mult core (
    // verilog_format: off
    .a({A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0}),
    .b({B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0}),
    // verilog_format: on
    .signed_a(SIGNEDA),
    .signed_b(SIGNEDB),
    .source_a(SOURCEA),
    .source_b(SOURCEB),
    // verilog_format: off
    .p({P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16,
        P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0})
    // verilog_format: on
  );
endmodule

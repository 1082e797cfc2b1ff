// SPDX-License-Identifier: Apache-2.0
//
// Simulation model of the ECP5 block memory DP16KD: two ports on 1024 rows of 18 bits; widths 1, 2, 4, 9 and 18
// on both ports, 36 for writing on port A and for reading on port B; no clock inversion, both kinds of reset, all
// write modes, with or without output register. Any other parameter value is an elaboration error. A read that
// meets a write of the other port in the same clock returns the old word; synthesis does not rely on it.
// verilator lint_off MULTIDRIVEN
module DP16KD #(
  parameter int DATA_WIDTH_A = 18,
  parameter int DATA_WIDTH_B = 18,
  parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG",
  parameter RESETMODE = "SYNC",
  parameter ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000",
  parameter CSDECODE_B = "0b000",
  parameter WRITEMODE_A = "NORMAL",
  parameter WRITEMODE_B = "NORMAL",
  parameter CLKAMUX = "CLKA",
  parameter CLKBMUX = "CLKB",
  parameter GSR = "ENABLED",
  parameter logic [319:0] INITVAL_00 = '0,
  parameter logic [319:0] INITVAL_01 = '0,
  parameter logic [319:0] INITVAL_02 = '0,
  parameter logic [319:0] INITVAL_03 = '0,
  parameter logic [319:0] INITVAL_04 = '0,
  parameter logic [319:0] INITVAL_05 = '0,
  parameter logic [319:0] INITVAL_06 = '0,
  parameter logic [319:0] INITVAL_07 = '0,
  parameter logic [319:0] INITVAL_08 = '0,
  parameter logic [319:0] INITVAL_09 = '0,
  parameter logic [319:0] INITVAL_0A = '0,
  parameter logic [319:0] INITVAL_0B = '0,
  parameter logic [319:0] INITVAL_0C = '0,
  parameter logic [319:0] INITVAL_0D = '0,
  parameter logic [319:0] INITVAL_0E = '0,
  parameter logic [319:0] INITVAL_0F = '0,
  parameter logic [319:0] INITVAL_10 = '0,
  parameter logic [319:0] INITVAL_11 = '0,
  parameter logic [319:0] INITVAL_12 = '0,
  parameter logic [319:0] INITVAL_13 = '0,
  parameter logic [319:0] INITVAL_14 = '0,
  parameter logic [319:0] INITVAL_15 = '0,
  parameter logic [319:0] INITVAL_16 = '0,
  parameter logic [319:0] INITVAL_17 = '0,
  parameter logic [319:0] INITVAL_18 = '0,
  parameter logic [319:0] INITVAL_19 = '0,
  parameter logic [319:0] INITVAL_1A = '0,
  parameter logic [319:0] INITVAL_1B = '0,
  parameter logic [319:0] INITVAL_1C = '0,
  parameter logic [319:0] INITVAL_1D = '0,
  parameter logic [319:0] INITVAL_1E = '0,
  parameter logic [319:0] INITVAL_1F = '0,
  parameter logic [319:0] INITVAL_20 = '0,
  parameter logic [319:0] INITVAL_21 = '0,
  parameter logic [319:0] INITVAL_22 = '0,
  parameter logic [319:0] INITVAL_23 = '0,
  parameter logic [319:0] INITVAL_24 = '0,
  parameter logic [319:0] INITVAL_25 = '0,
  parameter logic [319:0] INITVAL_26 = '0,
  parameter logic [319:0] INITVAL_27 = '0,
  parameter logic [319:0] INITVAL_28 = '0,
  parameter logic [319:0] INITVAL_29 = '0,
  parameter logic [319:0] INITVAL_2A = '0,
  parameter logic [319:0] INITVAL_2B = '0,
  parameter logic [319:0] INITVAL_2C = '0,
  parameter logic [319:0] INITVAL_2D = '0,
  parameter logic [319:0] INITVAL_2E = '0,
  parameter logic [319:0] INITVAL_2F = '0,
  parameter logic [319:0] INITVAL_30 = '0,
  parameter logic [319:0] INITVAL_31 = '0,
  parameter logic [319:0] INITVAL_32 = '0,
  parameter logic [319:0] INITVAL_33 = '0,
  parameter logic [319:0] INITVAL_34 = '0,
  parameter logic [319:0] INITVAL_35 = '0,
  parameter logic [319:0] INITVAL_36 = '0,
  parameter logic [319:0] INITVAL_37 = '0,
  parameter logic [319:0] INITVAL_38 = '0,
  parameter logic [319:0] INITVAL_39 = '0,
  parameter logic [319:0] INITVAL_3A = '0,
  parameter logic [319:0] INITVAL_3B = '0,
  parameter logic [319:0] INITVAL_3C = '0,
  parameter logic [319:0] INITVAL_3D = '0,
  parameter logic [319:0] INITVAL_3E = '0,
  parameter logic [319:0] INITVAL_3F = '0
) (
  // verilog_format: off
  input logic DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0,
  input logic ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input logic CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output logic DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
    DOA3, DOA2, DOA1, DOA0,
  input logic DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0,
  input logic ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input logic CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output logic DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0
  // verilog_format: on
);
  localparam bit Async = RESETMODE == "ASYNC";

  if (!Async && RESETMODE != "SYNC" || ASYNC_RESET_RELEASE != RESETMODE) begin : gen_reset_bad
    $error("DP16KD: this RESETMODE or ASYNC_RESET_RELEASE is not modelled");
  end
  if (CSDECODE_A != "0b000" || CSDECODE_B != "0b000") begin : gen_cs_bad
    $error("DP16KD: only CSDECODE = 0b000 is modelled");
  end
  if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") begin : gen_clk_bad
    $error("DP16KD: inverted clocks are not modelled");
  end

  localparam bit Wide = DATA_WIDTH_B == 36;

  // A row of 18 bits takes 20 bits of the parameters.
  // verilog_format: off
  localparam logic [64*320-1:0] Init = {INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B,
    INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33,
    INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
    INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23,
    INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B,
    INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13,
    INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B,
    INITVAL_0A, INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03,
    INITVAL_02, INITVAL_01, INITVAL_00};
  // verilog_format: on
  logic [17:0] mem[1024];
  initial for (int i = 0; i < 1024; i++) mem[i] = Init[20*i+:18];

  logic [17:0] in_a, in_b;
  logic [13:0] addr_a, addr_b;
  logic [35:0] old_a, old_b, new_a, new_b, show_a, show_b;
  logic enable_a, enable_b, write_a, write_b;

  // verilog_format: off
  assign in_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0};
  assign in_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0};
  // verilog_format: on
  assign addr_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign addr_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};

  // What the address shows before a write and after it.
  assign old_a = {mem[addr_a[13:4]|10'd1], mem[row(DATA_WIDTH_A, addr_a)]};
  assign old_b = {mem[addr_b[13:4]|10'd1], mem[row(DATA_WIDTH_B, addr_b)]};
  assign new_a = merge(DATA_WIDTH_A, addr_a, old_a, {in_b, in_a});
  assign new_b = merge(DATA_WIDTH_B, addr_b, old_b, {18'd0, in_b});

  // A synchronous reset blocks writes, an asynchronous one does not.
  assign enable_a = CEA && {CSA2, CSA1, CSA0} == 3'd0;
  assign enable_b = CEB && {CSB2, CSB1, CSB0} == 3'd0;
  assign write_a = enable_a && WEA && (Async || !RSTA);
  assign write_b = enable_b && WEB && (Async || !RSTB);

  always @(posedge CLKA) begin
    if (write_a) begin
      mem[row(DATA_WIDTH_A, addr_a)] <= new_a[17:0];
      if (DATA_WIDTH_A == 36) mem[addr_a[13:4]|10'd1] <= new_a[35:18];
    end
  end

  always @(posedge CLKB) begin
    if (write_b) begin
      if (Wide) $fatal(1, "DP16KD: a 36-bit write on port B is not modelled");
      mem[row(DATA_WIDTH_B, addr_b)] <= new_b[17:0];
    end
  end

  dp16kd_output #(
    .RegMode  (REGMODE_A),
    .WriteMode(WRITEMODE_A),
    .DataWidth(DATA_WIDTH_A),
    .Async    (Async)
  ) u_output_a (
    .clk_i   (CLKA),
    .rst_i   (RSTA),
    .enable_i(enable_a),
    .write_i (WEA),
    .old_i   (pick(DATA_WIDTH_A, addr_a, old_a)),
    .new_i   (pick(DATA_WIDTH_A, addr_a, new_a)),
    .reg_ce_i(OCEA),
    .q_o     (show_a)
  );

  dp16kd_output #(
    .RegMode  (REGMODE_B),
    .WriteMode(WRITEMODE_B),
    .DataWidth(DATA_WIDTH_B),
    .Async    (Async)
  ) u_output_b (
    .clk_i   (CLKB),
    .rst_i   (RSTB),
    .enable_i(enable_b),
    .write_i (WEB),
    .old_i   (pick(DATA_WIDTH_B, addr_b, old_b)),
    .new_i   (pick(DATA_WIDTH_B, addr_b, new_b)),
    .reg_ce_i(OCEB),
    .q_o     (show_b)
  );

  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3,
    DOA2, DOA1, DOA0} = Wide ? show_b[17:0] : show_a[17:0];
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
    DOB2, DOB1, DOB0} = Wide ? show_b[35:18] : show_b[17:0];

  // The row of an address; of two rows the lower.
  function automatic logic [9:0] row(int width, logic [13:0] addr);
    return width == 36 ? {addr[13:5], 1'b0} : addr[13:4];
  endfunction

  // The position of a narrow word in its row. A ninth bit stands behind every eight.
  function automatic int place(int width, logic [13:0] addr);
    int bit_in_byte;
    unique case (width)
      1: bit_in_byte = int'(addr[2:0]);
      2: bit_in_byte = int'({addr[2:1], 1'b0});
      4: bit_in_byte = int'({addr[2], 2'b00});
      default: bit_in_byte = 0;
    endcase
    return (width < 18 ? 9 * int'(addr[3]) : 0) + bit_in_byte;
  endfunction

  function automatic logic [35:0] mask(int width);
    return width == 36 ? '1 : (36'd1 << width) - 36'd1;
  endfunction

  function automatic logic [35:0] pick(int width, logic [13:0] addr, logic [35:0] rows);
    return (rows >> place(width, addr)) & mask(width);
  endfunction

  // Widths of 18 and 36 have byte enables on the low address pins.
  function automatic logic [35:0] merge(int width, logic [13:0] addr, logic [35:0] rows, logic [35:0] data);
    logic [35:0] enable;
    unique case (width)
      36: enable = {{9{addr[3]}}, {9{addr[2]}}, {9{addr[1]}}, {9{addr[0]}}};
      18: enable = {18'd0, {9{addr[1]}}, {9{addr[0]}}};
      default: enable = mask(width) << place(width, addr);
    endcase
    return (rows & ~enable) | ((data << place(width, addr)) & enable);
  endfunction
endmodule

// What one port shows: the latch behind the memory, the optional output register, and the checks of both.
module dp16kd_output #(
  parameter RegMode = "NOREG",
  parameter WriteMode = "NORMAL",
  parameter int DataWidth = 18,
  parameter bit Async = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic        enable_i,
  input  logic        write_i,
  input  logic [35:0] old_i,
  input  logic [35:0] new_i,
  input  logic        reg_ce_i,
  output logic [35:0] q_o
);
  localparam bit Through = WriteMode == "WRITETHROUGH";
  localparam bit Before = WriteMode == "READBEFOREWRITE";

  if (!(DataWidth inside {1, 2, 4, 9, 18, 36})) begin : gen_width_bad
    $error("DP16KD: this DATA_WIDTH is not modelled");
  end
  if (!Through && !Before && WriteMode != "NORMAL") begin : gen_mode_bad
    $error("DP16KD: this WRITEMODE is not modelled");
  end

  logic [35:0] latch_d, latch_q;
  assign latch_d = !enable_i ? latch_q : !write_i || Before ? old_i : Through ? new_i : latch_q;

  if (Async) begin : gen_async
    always_ff @(posedge clk_i or posedge rst_i) begin
      if (rst_i) latch_q <= '0;
      else latch_q <= latch_d;
    end
  end else begin : gen_sync
    always_ff @(posedge clk_i) begin
      if (rst_i) latch_q <= '0;
      else latch_q <= latch_d;
    end
  end

  if (RegMode == "OUTREG" && Async) begin : gen_outreg_async
    always_ff @(posedge clk_i or posedge rst_i) begin
      if (rst_i) q_o <= '0;
      else if (reg_ce_i) q_o <= latch_q;
    end
  end else if (RegMode == "OUTREG") begin : gen_outreg
    always_ff @(posedge clk_i) begin
      if (rst_i) q_o <= '0;
      else if (reg_ce_i) q_o <= latch_q;
    end
  end else if (RegMode == "NOREG") begin : gen_noreg
    assign q_o = latch_q;
  end else begin : gen_reg_bad
    $error("DP16KD: this REGMODE is not modelled");
  end
endmodule

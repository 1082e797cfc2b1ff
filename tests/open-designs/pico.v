// SPDX-License-Identifier: Apache-2.0
// PicoRV32 with 4 KiB of memory and a UART: reads of 0x02000004 and 0x02000008 are the UART's divider and data.
module pico (
    input clk,
    input reset_n,
    input rx,
    output tx,
    output trap
);
    wire valid, instr;
    reg ready = 0;
    wire [31:0] addr, wdata;
    wire [3:0] wstrb;
    reg [31:0] loaded;
    wire [31:0] rdata;
    reg [3:0] resets = 0;
    wire running = &resets;
    always @(posedge clk) resets <= !reset_n ? 0 : resets + !running;

    wire in_ram = valid && addr[31:12] == 0;
    wire in_div = valid && addr == 32'h0200_0004;
    wire in_dat = valid && addr == 32'h0200_0008;
    wire [31:0] div, dat;
    wire waits;

    picorv32 #(
        .STACKADDR(32'h1000),
        .ENABLE_MUL(0),
        .ENABLE_DIV(0),
        .BARREL_SHIFTER(1),
        .ENABLE_IRQ(0),
        .COMPRESSED_ISA(1)
    ) cpu (
        .clk(clk),
        .resetn(running),
        .trap(trap),
        .mem_valid(valid),
        .mem_instr(instr),
        .mem_ready(ready || in_div || (in_dat && !waits)),
        .mem_addr(addr),
        .mem_wdata(wdata),
        .mem_wstrb(wstrb),
        .mem_rdata(in_div ? div : in_dat ? dat : loaded),
        .pcpi_wr(1'b0),
        .pcpi_rd(32'b0),
        .pcpi_wait(1'b0),
        .pcpi_ready(1'b0),
        .irq(32'b0)
    );

    simpleuart uart (
        .clk(clk),
        .resetn(running),
        .ser_tx(tx),
        .ser_rx(rx),
        .reg_div_we(in_div ? wstrb : 4'b0),
        .reg_div_di(wdata),
        .reg_div_do(div),
        .reg_dat_we(in_dat ? wstrb[0] : 1'b0),
        .reg_dat_re(in_dat && wstrb == 0),
        .reg_dat_di(wdata),
        .reg_dat_do(dat),
        .reg_dat_wait(waits)
    );

    reg [31:0] memory[0:1023];
    integer at;
    initial for (at = 0; at < 1024; at = at + 1) memory[at] = 32'h0000_0013 ^ (at << 7);
    always @(posedge clk) begin
        ready <= in_ram && !ready;
        loaded <= memory[addr[11:2]];
        if (in_ram && !ready) begin
            if (wstrb[0]) memory[addr[11:2]][7:0] <= wdata[7:0];
            if (wstrb[1]) memory[addr[11:2]][15:8] <= wdata[15:8];
            if (wstrb[2]) memory[addr[11:2]][23:16] <= wdata[23:16];
            if (wstrb[3]) memory[addr[11:2]][31:24] <= wdata[31:24];
        end
    end
endmodule

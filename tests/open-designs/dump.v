// SPDX-License-Identifier: Apache-2.0
// Reads a flash memory from its beginning with PicoSoC's controller and sends it over PicoSoC's UART.
module dump (
    input clk,
    input reset_n,
    input rx,
    output tx,
    output flash_csb,
    output flash_clk,
    inout flash_io0,
    inout flash_io1,
    inout flash_io2,
    inout flash_io3
);
    reg [2:0] resets = 0;
    wire running = &resets;
    always @(posedge clk) resets <= !reset_n ? 0 : resets + !running;

    reg [23:0] address;
    reg [31:0] word;
    reg [2:0] left;
    reg valid;
    wire ready;
    wire [31:0] data, received;
    wire waits;
    wire [3:0] oe, out, in;

    always @(posedge clk)
        if (!running) begin
            address <= 0;
            valid <= 0;
            left <= 0;
            word <= 0;
        end else if (left != 0) begin
            if (!waits) begin
                left <= left - 1;
                word <= word >> 8;
            end
        end else if (!valid) valid <= 1;
        else if (ready) begin
            word <= data;
            valid <= 0;
            left <= 4;
            address <= address + 4;
        end

    spimemio flash (
        .clk(clk),
        .resetn(running),
        .valid(valid),
        .ready(ready),
        .addr(address),
        .rdata(data),
        .flash_csb(flash_csb),
        .flash_clk(flash_clk),
        .flash_io0_oe(oe[0]),
        .flash_io1_oe(oe[1]),
        .flash_io2_oe(oe[2]),
        .flash_io3_oe(oe[3]),
        .flash_io0_do(out[0]),
        .flash_io1_do(out[1]),
        .flash_io2_do(out[2]),
        .flash_io3_do(out[3]),
        .flash_io0_di(in[0]),
        .flash_io1_di(in[1]),
        .flash_io2_di(in[2]),
        .flash_io3_di(in[3]),
        .cfgreg_we(4'b0),
        .cfgreg_di(32'b0),
        .cfgreg_do()
    );

    BB pad0 (.I(out[0]), .T(!oe[0]), .O(in[0]), .B(flash_io0));
    BB pad1 (.I(out[1]), .T(!oe[1]), .O(in[1]), .B(flash_io1));
    BB pad2 (.I(out[2]), .T(!oe[2]), .O(in[2]), .B(flash_io2));
    BB pad3 (.I(out[3]), .T(!oe[3]), .O(in[3]), .B(flash_io3));

    simpleuart #(
        .DEFAULT_DIV(217)
    ) uart (
        .clk(clk),
        .resetn(running),
        .ser_tx(tx),
        .ser_rx(rx),
        .reg_div_we(4'b0),
        .reg_div_di(32'b0),
        .reg_div_do(),
        .reg_dat_we(left != 0),
        .reg_dat_re(1'b1),
        .reg_dat_di(word),
        .reg_dat_do(received),
        .reg_dat_wait(waits)
    );
endmodule

// SPDX-License-Identifier: Apache-2.0
// SHA-256 of secworks behind four pins: a word of 42 bits is shifted in while `select` is low (write, address, data, the
// highest bit first), and carried out when it rises; what was read is shifted out with the next word.
module hash (
    input clk,
    input reset_n,
    input sck,
    input select,
    input mosi,
    output miso,
    output error
);
    reg [2:0] clocks = 0, selects = 7, bits = 0;
    reg [41:0] in = 0;
    reg [31:0] out = 0;
    reg go = 0;
    wire [31:0] read_data;
    always @(posedge clk) begin
        clocks <= {clocks[1:0], sck};
        selects <= {selects[1:0], select};
        bits <= {bits[1:0], mosi};
        go <= selects[2:1] == 2'b01;
        if (!selects[2] && clocks[2:1] == 2'b01) begin
            in <= {in[40:0], bits[2]};
            out <= {out[30:0], 1'b0};
        end
        if (go) out <= read_data;
    end
    assign miso = out[31];
    sha256 core (
        .clk(clk),
        .reset_n(reset_n),
        .cs(go),
        .we(in[41]),
        .address(in[39:32]),
        .write_data(in[31:0]),
        .read_data(read_data),
        .error(error)
    );
endmodule

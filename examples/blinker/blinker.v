// SPDX-License-Identifier: Apache-2.0
//
// Four lights that count. Each is on for half of its time, the next one half as often. A button begins anew.
module blinker #(
    parameter WIDTH = 24
) (
    input wire clk,
    input wire button_n,
    output wire [3:0] led
);

  reg [WIDTH-1:0] count = 0;
  reg [1:0] pressed = 0;

  always @(posedge clk) begin
    pressed <= {pressed[0], !button_n};
    count   <= pressed[1] ? 0 : count + 1;
  end

  assign led = count[WIDTH-1-:4];

endmodule

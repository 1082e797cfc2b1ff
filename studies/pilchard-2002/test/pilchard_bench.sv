// SPDX-License-Identifier: Apache-2.0
//
// What the test of this study drives: the DES cores of Table 2 side by side, and interfaces with several clocks of the
// core and of the host. The first interface has the real core. The others have one that is quick to simulate: when a
// word is done is no matter of the cipher. As silicon would, a core shows what is not its result until its path's
// clocks are over.
module pilchard_bench
  import des_pkg::*;
#(
  localparam int unsigned Cores = 6,
  localparam int unsigned Ports = 6
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               start_i,
  input  logic               decrypt_i,
  input  block_t             key_i,
  input  block_t             block_i,
  output logic   [Cores-1:0] valid_o,
  output block_t             block_o  [Cores],

  input  logic               write_i,
  input  logic   [      7:0] address_i,
  input  block_t             data_i,
  output block_t             data_o    [Ports],
  output logic   [Ports-1:0] complete_o
);

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    des_rounds #(
      .RoundsPerClock   (c < 5 ? 1 << c : 16),
      .Pipelined(c == 5)
    ) u_core (
      .clk_i,
      .start_i,
      .decrypt_i,
      .key_i,
      .block_i,
      .valid_o(valid_o[c]),
      .block_o(block_o[c])
    );
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    // The host slower than the core, faster, as fast; each as it should be and a clock too early.
    localparam int unsigned CoreClocks = p / 2 == 0 ? 5 : p / 2 == 1 ? 3 : 4;
    localparam int unsigned ReadClocks = p / 2 == 0 ? 1 : p / 2 == 1 ? 7 : 4;

    logic decrypt;
    block_t [2:0] key;
    block_t entered, entered_q, made;
    int unsigned inside_q;

    block_port #(
      .CoreClocks(CoreClocks),
      .ReadClocks(ReadClocks),
      .TooEarly  (p % 2)
    ) u_port (
      .clk_i,
      .rst_ni,
      .write_i,
      .address_i,
      .data_i,
      .data_o    (data_o[p]),
      .complete_o(complete_o[p]),
      .decrypt_o (decrypt),
      .key_o     (key),
      .block_o   (entered),
      .block_i   (entered == entered_q && inside_q + 2 >= CoreClocks ? made : ~made)
    );

    if (p == 0) begin : gen_real
      tdes_cascade u_core (
        .decrypt_i(decrypt),
        .key_i    (key),
        .block_i  (entered),
        .block_o  (made)
      );
    end else begin : gen_quick
      assign made = {entered[62:0], entered[63]} ^ key[0] ^ {64{decrypt}};
    end

    always_ff @(posedge clk_i) begin
      entered_q <= entered;
      inside_q  <= entered == entered_q ? inside_q + 1 : 0;
    end
  end

endmodule

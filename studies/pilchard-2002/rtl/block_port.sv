// SPDX-License-Identifier: Apache-2.0
//
// The paper's host interface: a block of up to 248 words of 64 bits is written, the accelerator is told to start,
// the host polls until it is told that it may read, and reads. That is told early: not when the last word is done,
// but at the first clock from which a host that reads as fast as it can finds every word done as it comes to it.
//
// The core (triple DES in CBC, combinational) is a path of many clocks: a word enters a register, and what comes out
// is taken CoreClocks clocks later, in the clock in which the next word enters. The start's clock being clock 0, word i
// of n is taken at the end of clock (i + 1) * CoreClocks, written a clock later and can be read from clock
// (i + 1) * CoreClocks + 2; a host that begins in clock T and takes ReadClocks clocks or more for a word reads word i in
// clock T + i * ReadClocks or later. Nothing is overtaken if T >= max(CoreClocks, n * CoreClocks - (n - 1) * ReadClocks)
// + 2, and that is the clock from which complete_o is high.
//
// Addresses: 0 to 247 words; 248 to 250 the raw keys, 251 the initial vector; 252 starts (bits 7:0 the number of
// words, 0 for none, bit 8 decryption). Read data comes a clock after its address.
module block_port #(
  // Clocks of the core's path, 2 or more.
  parameter int unsigned CoreClocks = 24,
  // Clocks in which the host reads a word at the fastest.
  parameter int unsigned ReadClocks = 1,
  // Clocks that the completion is told too early; other than 0 for the test that this is noticed.
  parameter int unsigned TooEarly   = 0
) (
  input logic clk_i,
  input logic rst_ni,

  input logic write_i,
  input logic [7:0] address_i,
  input logic [63:0] data_i,
  output logic [63:0] data_o,
  output logic complete_o,

  // The combinational core.
  output logic              decrypt_o,
  output logic [ 2:0][63:0] key_o,
  output logic [63:0]       block_o,
  input  logic [63:0]       block_i
);

  localparam int unsigned Words = 248;
  localparam logic [7:0] KeyAddress = 8'(Words), IvAddress = 8'(Words + 3), StartAddress = 8'(Words + 4);
  localparam int unsigned TimeWidth = $clog2((Words + 1) * CoreClocks + 2);
  localparam int unsigned StepWidth = $clog2(CoreClocks);

  if (CoreClocks < 2 || ReadClocks < 1) begin : gen_illegal
    $error("block_port: CoreClocks must be 2 or more, ReadClocks 1 or more");
  end

  typedef logic [TimeWidth-1:0] time_t;

  // -- the moment -----------------------------------------------------------------------------------------

  // The last clock in which n words are not yet to be read.
  function automatic time_t moment(input logic [7:0] n);
    int unsigned whole, ahead, m;
    whole = int'(n) * CoreClocks;
    ahead = (int'(n) - 1) * ReadClocks;
    m     = whole > ahead + CoreClocks ? whole - ahead : CoreClocks;
    return n == '0 ? time_t'(1) : time_t'(m + 1 - TooEarly);
  endfunction

  logic start, running_q;
  logic [7:0] count;
  time_t left_q;  // until the moment

  assign start = write_i && address_i == StartAddress;
  assign count = data_i[7:0] > 8'(Words) ? 8'(Words) : data_i[7:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) complete_o <= 1'b0;
    else if (start) complete_o <= 1'b0;
    else if (running_q && left_q == time_t'(1)) complete_o <= 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) running_q <= 1'b0;
    else if (start) running_q <= 1'b1;
    else if (left_q == time_t'(1)) running_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start) left_q <= moment(count);
    else left_q <= left_q - time_t'(1);
  end

  // -- the words ------------------------------------------------------------------------------------------

  (* ram_style = "block", no_rw_check *)logic [63:0] given[256];
  (* ram_style = "block", no_rw_check *)logic [63:0] made [256];

  logic busy_q, take, store_q;
  logic [7:0] next_q, last_q, store_at_q;  // next_q: the word that enters next
  logic [StepWidth-1:0] step_q;  // clocks that the word has been inside
  logic [63:0] word_q, chain_q, iv_q, result, store_word_q;

  assign take   = busy_q && step_q == StepWidth'(CoreClocks - 1);
  assign result = decrypt_o ? block_i ^ chain_q : block_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (start) busy_q <= count != '0;
    else if (take && next_q == last_q) busy_q <= 1'b0;
  end

  // The word that enters next is read ahead; the first is kept as it is written.
  logic [63:0] first_q;

  always_ff @(posedge clk_i) begin
    word_q <= given[next_q];
    if (write_i && address_i == '0) first_q <= data_i;
    if (write_i && address_i == IvAddress) iv_q <= data_i;
    for (int unsigned k = 0; k < 3; k++) if (write_i && address_i == KeyAddress + 8'(k)) key_o[k] <= data_i;
    if (start) begin
      decrypt_o <= data_i[8];
      next_q    <= 8'd1;
      last_q    <= count;
      step_q    <= '0;
      chain_q   <= data_i[8] ? iv_q : '0;
      block_o   <= data_i[8] ? first_q : first_q ^ iv_q;
    end else if (take) begin
      next_q  <= next_q + 8'd1;
      step_q  <= '0;
      chain_q <= decrypt_o ? block_o : '0;
      block_o <= decrypt_o ? word_q : word_q ^ result;
    end else begin
      step_q <= step_q + StepWidth'(1);
    end
    store_q      <= take;
    store_at_q   <= next_q - 8'd1;
    store_word_q <= result;
  end

  always_ff @(posedge clk_i) if (write_i && address_i < 8'(Words)) given[address_i] <= data_i;
  always_ff @(posedge clk_i) if (store_q) made[store_at_q] <= store_word_q;
  always_ff @(posedge clk_i) data_o <= made[address_i];

endmodule

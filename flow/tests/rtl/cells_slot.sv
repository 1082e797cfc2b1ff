// SPDX-License-Identifier: Apache-2.0
//
// Not a cipher: a slot-shaped design whose synthesis needs each kind of cell once. A beat goes in, a few clocks
// later one comes out that depends on it and on what was stored before; bits 63:61 choose which unit answers.
// The tests compare this RTL with its netlist on the flow's cell models.
module cells_slot #(
  // 0: logic, carry, flip-flops, distributed memory. 1: block memory. 2: multipliers.
  parameter int unsigned Kind = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast
);

  typedef enum logic [2:0] {
    Idle,
    Work,
    Settle,
    Collect,
    Send
  } state_e;

  state_e state_q;
  logic [63:0] x_q, y_q;
  logic last_q, work;
  logic [7:0][63:0] y;

  assign work = state_q == Work;
  assign s_axis_tready = state_q == Idle;
  assign m_axis_tvalid = state_q == Send;
  assign m_axis_tdata = y_q;
  assign m_axis_tlast = last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      x_q     <= '0;
      y_q     <= '0;
      last_q  <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (s_axis_tvalid) begin
            x_q     <= s_axis_tdata;
            last_q  <= s_axis_tlast;
            state_q <= Work;
          end
        end
        Work:    state_q <= Settle;
        Settle:  state_q <= Collect;
        Collect: begin
          y_q     <= y[x_q[63:61]];
          state_q <= Send;
        end
        default: if (m_axis_tready) state_q <= Idle;
      endcase
    end
  end

  if (Kind == 0) begin : gen_logic
    logic [7:0] mem[16];
    logic [31:0] sync_reset_q, sync_set_q, async_set_q, enable_q;

    assign y[0] = {x_q, x_q} >> x_q[5:0];
    assign y[1] = {x_q[31:0] + x_q[60:29], x_q[31:0] - x_q[60:29]};
    assign y[2] = {62'd0, $signed(x_q[31:0]) < $signed(x_q[60:29]), x_q[30:0] == x_q[60:30]};
    assign y[3] = {48'd0, mem[x_q[7:4]], mem[x_q[3:0]]};
    assign y[4] = {sync_reset_q, sync_set_q};
    assign y[5] = {async_set_q, enable_q};
    assign y[6] = {60'd0, ^x_q, &x_q[15:0], |x_q[40:20], x_q[{x_q[3:0], 2'b01}]};
    assign y[7] = {32'd0, x_q[31:0] * 32'd5};

    initial for (int i = 0; i < 16; i++) mem[i] = 8'(37 * i + 5);

    always_ff @(posedge clk_i) begin
      if (work && x_q[20]) mem[x_q[3:0]] <= x_q[15:8];
    end

    always_ff @(posedge clk_i) begin
      if (work && x_q[0]) sync_reset_q <= '0;
      else if (work) sync_reset_q <= x_q[31:0];
      if (work && x_q[1]) sync_set_q <= '1;
      else if (work) sync_set_q <= ~x_q[31:0];
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        async_set_q <= '1;
        enable_q    <= '0;
      end else begin
        async_set_q <= async_set_q ^ {32{work}} & x_q[31:0];
        if (work && x_q[2:0] == 3'd5) enable_q <= x_q[40:9];
      end
    end
  end else if (Kind == 1) begin : gen_memory
    assign y[7] = '0;
    for (genvar i = 0; i < 5; i++) begin : gen_width
      // Single port, each width with each behaviour of a read that meets a write.
      localparam int unsigned Width = i == 4 ? 18 : i == 3 ? 9 : 1 << i;
      localparam int unsigned AddressBits = i == 4 ? 10 : i == 3 ? 11 : 14 - i;
      logic [2:0][Width-1:0] q;
      for (genvar mode = 0; mode < 3; mode++) begin : gen_mode
        single_port #(
          .Width      (Width),
          .AddressBits(AddressBits),
          .Mode       (mode)
        ) u_memory (
          .clk_i,
          .enable_i(work & x_q[60]),
          .reset_i (work & (x_q[59:56] == 4'd0)),
          .write_i (x_q[55]),
          .addr_i  (AddressBits'({x_q[5:0], x_q[54]} << (AddressBits - 7))),
          .data_i  (x_q[32+:Width]),
          .data_o  (q[mode])
        );
      end
      assign y[i] = 64'(q);
    end
    logic [35:0] wide_q, bytes_q;
    dual_port u_wide (
      .clk_i,
      .write_i (work & x_q[60]),
      .enable_i(4'hf),
      .waddr_i ({x_q[58:56], 6'd0}),
      .data_i  ({x_q[3:0], x_q[31:0]}),
      .raddr_i ({x_q[55:53], 6'd0}),
      .data_o  (wide_q)
    );
    dual_port u_bytes (
      .clk_i,
      .write_i (work),
      .enable_i(x_q[60:57]),
      .waddr_i ({6'd0, x_q[56:54]}),
      .data_i  ({x_q[3:0], x_q[31:0]}),
      .raddr_i ({6'd0, x_q[53:51]}),
      .data_o  (bytes_q)
    );
    assign y[5] = 64'(wide_q);
    assign y[6] = 64'(bytes_q);
  end else begin : gen_multiply
    logic signed [35:0] product;
    assign product = $signed(x_q[17:0]) * $signed(x_q[35:18]);
    assign y[0] = 64'(x_q[17:0]) * 64'(x_q[35:18]);
    assign y[1] = 64'(product);
    assign y[2] = 64'(x_q[31:0]) * 64'(x_q[58:27]);
    assign y[7:3] = '0;
  end

endmodule

// Block memory with one port for reading and writing. Mode 0: the output holds its value in a write, 1: it shows
// the old word, 2: the new one.
module single_port #(
  parameter int unsigned Width = 9,
  parameter int unsigned AddressBits = 11,
  parameter int unsigned Mode = 0
) (
  input  logic                   clk_i,
  input  logic                   enable_i,
  input  logic                   reset_i,
  input  logic                   write_i,
  input  logic [AddressBits-1:0] addr_i,
  input  logic [      Width-1:0] data_i,
  output logic [      Width-1:0] data_o
);
  (* ram_style = "block" *) logic [Width-1:0] mem[2**AddressBits];
  // Only these addresses are in use.
  initial for (int i = 0; i < 128; i++) mem[i<<(AddressBits-7)] = Width'(i * 40503 >> 7);

  always_ff @(posedge clk_i) begin
    if (enable_i && write_i) mem[addr_i] <= data_i;
    if (reset_i) data_o <= '0;
    else if (enable_i) begin
      if (!write_i || Mode == 1) data_o <= mem[addr_i];
      else if (Mode == 2) data_o <= data_i;
    end
  end
endmodule

// Block memory of 36 bits with one port for writing, by bytes of 9 bits, and one for reading.
module dual_port (
  input  logic        clk_i,
  input  logic        write_i,
  input  logic [ 3:0] enable_i,
  input  logic [ 8:0] waddr_i,
  input  logic [35:0] data_i,
  input  logic [ 8:0] raddr_i,
  output logic [35:0] data_o
);
  (* ram_style = "block" *) logic [35:0] mem[512];
  initial for (int i = 0; i < 512; i++) mem[i] = 36'(i * 64'd2654435761);

  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 4; i++) if (write_i && enable_i[i]) mem[waddr_i][9*i+:9] <= data_i[9*i+:9];
    data_o <= mem[raddr_i];
  end
endmodule

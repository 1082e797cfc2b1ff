// SPDX-License-Identifier: Apache-2.0
//
// Not a cipher: a slot that keeps a key, answers with one beat of payload and key, and forgets, all as
// docs/slot.md wants it, but for what the algorithm's code asks it to do wrong. The key-independence test has to
// find each of these and nothing in the one that does all right.
module leaky_slot (
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

  typedef enum logic [7:0] {
    None = 8'd1,
    OnTheBus,  // the key stands on tdata
    InTime,  // the answer comes later with some keys
    AfterWipe,  // a memory is not erased by a frame
    AfterReset,  // a register is not erased by a reset
    AfterCut  // a key that was cut short stays
  } leak_e;

  typedef enum logic [2:0] {
    Clear,
    Header,
    Lengths,
    Key,
    Payload,
    Work,
    Result,
    Trailer
  } state_e;

  state_e state_q;
  leak_e leak_q;
  logic [4:0] count_q;
  logic [3:0] key_beats_q, at_q;
  logic wipe_q, from_reset_q;
  logic [63:0] key_q, result_q;
  logic [63:0] memory[16];
  logic take;

  assign s_axis_tready = state_q inside {Header, Lengths, Key, Payload};
  assign m_axis_tvalid = state_q inside {Result, Trailer};
  assign m_axis_tlast = state_q == Trailer;
  assign m_axis_tdata = state_q == Result ? result_q : leak_q == OnTheBus && state_q == Work ? key_q : '0;
  assign take = s_axis_tvalid && s_axis_tready;

  always_ff @(posedge clk_i) begin
    if (state_q == Clear && !(leak_q == AfterWipe && !from_reset_q)) memory[count_q[3:0]] <= '0;
    else if (take && state_q == Key) memory[at_q] <= s_axis_tdata;
    if (state_q == Clear && !(leak_q == AfterReset && from_reset_q)) key_q <= '0;
    else if (take && state_q == Key) key_q <= s_axis_tdata;
    if (state_q == Header && take) leak_q <= leak_e'(s_axis_tdata[7:0]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Clear;
      count_q      <= '0;
      key_beats_q  <= '0;
      at_q         <= '0;
      wipe_q       <= 1'b0;
      from_reset_q <= 1'b1;
      result_q     <= '0;
    end else begin
      unique case (state_q)
        Clear: begin
          count_q  <= count_q + 5'd1;
          result_q <= '0;
          if (count_q == 5'd15) begin
            state_q      <= Header;
            from_reset_q <= 1'b0;
          end
        end
        Header: begin
          count_q     <= '0;
          at_q        <= '0;
          wipe_q      <= s_axis_tdata[18];
          key_beats_q <= s_axis_tdata[30:27];
          if (take) state_q <= s_axis_tlast ? Work : Lengths;
        end
        Lengths: if (take) state_q <= s_axis_tlast ? Work : key_beats_q != 0 ? Key : Payload;
        Key:
        if (take) begin
          at_q <= at_q + 4'd1;
          if (at_q + 4'd1 == key_beats_q) state_q <= s_axis_tlast ? Work : Payload;
          else if (s_axis_tlast) begin
            state_q <= Work;
            wipe_q  <= leak_q != AfterCut;
          end
        end
        Payload:
        if (take) begin
          result_q <= s_axis_tdata ^ key_q ^ memory[0];
          if (s_axis_tlast) state_q <= Work;
        end
        Work: begin
          count_q <= count_q + 5'd1;
          if (count_q == (leak_q == InTime ? {2'd1, key_q[2:0]} : 5'd8)) state_q <= Result;
        end
        Result:  if (m_axis_tready) state_q <= Trailer;
        Trailer: begin
          count_q <= '0;
          if (m_axis_tready) state_q <= wipe_q ? Clear : Header;
        end
      endcase
    end
  end

endmodule

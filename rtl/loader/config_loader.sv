// SPDX-License-Identifier: Apache-2.0
//
// Loads configurations: carries out a list of steps (load_pkg) in the library's memory and writes what comes of it to
// the configuration port, a byte at a time: commands and contents of block RAMs as they stand in the memory, frames
// decompressed, and in the device's own compression if told so, CRCs computed. What is loaded is decided by the list
// alone: a whole image, a few runs of frames over what the device holds, or a skeleton and the frames of a variant
// over it.
//
// Clocks: 1 a byte of a copy, and 1 a byte of a frame unless the decoder takes longer (config_decoder); of frames in
// the device's compression those of the decoder or, if these are more, of the bytes. About 22 a step. The memory has to
// answer within 4 clocks for that.
module config_loader
  import load_pkg::*;
#(
  // What frames look like (device_t).
  parameter int unsigned Pairs       = 32'h000b0c0c,
  parameter int unsigned Odd         = 0,
  parameter int unsigned FillBits    = 2,
  // Bits of a byte's address in the memory.
  parameter int unsigned AddressBits = 24
) (
  input logic clk_i,
  input logic rst_ni,

  // Carries out the list at this address, while nothing is under way.
  input  logic                   start_i,
  input  logic [AddressBits-1:0] list_i,
  output logic                   busy_o,
  // The list or a stream in it is not one that can be: nothing more is written, in particular no DONE. Stays until the
  // next start.
  output logic                   error_o,

  // The memory: addresses of 32-bit words, lowest byte first; words come in order, after any time.
  output logic                   r_valid_o,
  input  logic                   r_ready_i,
  output logic [AddressBits-3:0] r_address_o,
  input  logic                   r_valid_i,
  input  logic [           31:0] r_data_i,

  // The configuration port
  output logic       p_valid_o,
  input  logic       p_ready_i,
  output logic [7:0] p_data_o
);

  typedef enum logic [3:0] {
    Idle,
    Next,  // the next step is asked for
    Fetch,  // it is read
    Begin,
    Copy,
    Seal0,  // the CRC
    Seal1,
    Dummy,
    Clear,  // the decoder forgets
    Dictionary,
    Address,  // the address and the count of frames
    Frames,
    Finish  // the stream has to end
  } state_e;

  state_e state_d, state_q;
  step_t step_q;
  logic error_d, error_q;
  logic [AddressBits-1:0] list_q;
  logic [3:0] fetched_q;
  logic unknown;  // a step sets bits that mean nothing

  // The reader, and where the stream goes on
  logic read_start, read_ready;
  read_t read, stream;
  logic [AddressBits-1:0] read_address, read_length, read_at, read_left, stream_at_q, stream_left_q;

  // The frames
  decode_req_t decode_req;
  decode_rsp_t decode_rsp;
  logic decode, decode_q, frames, row_wanted, s_ready, row_valid, pack, some, taken;
  logic [11:0][7:0] address_bytes;
  byte_t frame;
  logic dictionary_q;  // the stream is the dictionary
  logic [13:0] stream_count_q, count_q;
  logic counted_q;  // the frame at hand is the last one
  logic taken_q;  // the packer has all of the frame that goes to the port

  // To the port
  logic out_valid, out_ready, covered, send, sending;
  logic [7:0] out_data;

  assign unknown = step_q.zero_low != '0 || step_q.zero_high != '0 ||
                   (step_q.address >> AddressBits) != '0 || (step_q.length >> AddressBits) != '0;
  assign busy_o = state_q != Idle || sending;
  assign error_o = error_q;
  assign send = out_valid && out_ready;

  assign pack = step_q.op == OpFrames && step_q.pack;
  assign frames = step_q.op == OpFrames &&
                  (state_q == Seal0 || state_q == Seal1 || (state_q == Dummy && !counted_q));
  // The highest row of a frame is taken while the CRC of the last one is sent; the packer takes more.
  assign row_wanted = (state_q == Frames && !(taken_q && counted_q)) || (frames && !counted_q) || state_q == Address;
  assign decode = state_q == Frames || state_q == Finish || state_q == Dictionary || state_q == Address || frames;
  // What announces frames: the commands LSC_WRITE_ADDRESS and LSC_PROG_INCR_RTI or LSC_PROG_INCR_CMP.
  assign address_bytes = {{32'hb4000000, step_q.address}, {pack ? 8'hb8 : 8'h82, 8'h91, step_q.length[15:0]}};

  always_comb begin
    read_start   = state_q == Next;
    read_address = stream_at_q;
    read_length  = stream_left_q;
    if (state_q == Next) begin
      read_address = list_q;
      read_length  = AddressBits'(StepBytes);
    end
    if (state_q == Begin) begin
      read_start = 1'b1;
      // Reading goes on where the stream was left.
      if (step_q.op != OpFrames) begin
        read_address = step_q.address[AddressBits-1:0];
        read_length  = step_q.length[AddressBits-1:0];
      end
    end
  end

  always_comb begin
    out_valid  = 1'b0;
    out_data   = frame.data;
    covered    = 1'b1;
    read_ready = 1'b0;
    unique case (state_q)
      Fetch: read_ready = 1'b1;
      Copy: begin
        out_valid  = read.valid && !read.behind;
        out_data   = step_q.blank ? '0 : read.data;
        covered    = step_q.covered;
        read_ready = out_ready;
      end
      Seal0, Seal1: begin
        out_valid  = 1'b1;
        read_ready = decode_q && s_ready;
      end
      Dummy: begin
        out_valid  = 1'b1;
        out_data   = '1;
        read_ready = decode_q && s_ready;
      end
      Address: begin
        out_valid  = 1'b1;
        out_data   = address_bytes[11-fetched_q];
        read_ready = decode_q && s_ready;
      end
      Frames: begin
        out_valid  = frame.valid;
        read_ready = decode_q && s_ready;
      end
      Finish, Dictionary: read_ready = decode_q && s_ready;
      default: ;
    endcase
  end

  always_comb begin
    state_d = state_q;
    error_d = error_q;
    unique case (state_q)
      Idle: begin
        if (start_i) begin
          state_d = Next;
          error_d = 1'b0;
        end
      end
      Next: state_d = Fetch;
      Fetch: if (read.valid && fetched_q == 4'(StepBytes - 1)) state_d = Begin;
      Begin: begin
        unique case (step_q.op)
          OpEnd: state_d = Idle;
          OpCopy: state_d = Copy;
          OpStream: state_d = Clear;
          default: state_d = step_q.covered ? Address : Frames;
        endcase
        if (unknown) error_d = 1'b1;
      end
      Copy: if (read.behind) state_d = step_q.seal ? Seal0 : Next;
      Seal0: if (out_ready) state_d = Seal1;
      Seal1: begin
        if (out_ready) state_d = step_q.op == OpFrames ? Dummy : Next;
      end
      Dummy: begin
        if (out_ready) begin
          if (!counted_q) state_d = Frames;
          else state_d = step_q.finish ? Finish : Next;
        end
      end
      Clear: state_d = step_q.dictionary ? Dictionary : Next;
      Dictionary: if (decode_rsp.done) state_d = Next;
      Address: if (out_ready && fetched_q == 4'(StepBytes - 1)) state_d = Frames;
      Frames: begin
        if (send && frame.last) state_d = Seal0;
        // The stream has fewer frames than the list.
        if (decode_rsp.done && !some && !taken_q) error_d = 1'b1;
      end
      default: begin
        if (decode_rsp.done) state_d = Next;
        // It has more.
        if (row_valid) error_d = 1'b1;
      end
    endcase
    if (decode && decode_rsp.error) error_d = 1'b1;
    if (state_q != Idle && error_d) state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      error_q <= 1'b0;
    end else begin
      state_q <= state_d;
      error_q <= error_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) list_q <= list_i;
    else if (state_q == Begin) list_q <= list_q + AddressBits'(StepBytes);

    if (state_q != Fetch && state_q != Address) fetched_q <= '0;
    else if (state_q == Fetch ? read.valid : out_ready) fetched_q <= fetched_q + 1'b1;
    if (state_q == Fetch && read.valid) step_q <= {read.data, step_q[$bits(step_t)-1:8]};

    // Between the runs of a stream its decoder holds still, and other things are read.
    if (state_q == Begin && step_q.op == OpStream) begin
      stream_at_q   <= step_q.address[AddressBits-1:0];
      stream_left_q <= step_q.length[AddressBits-1:0];
    end else if (state_q == Next && step_q.op == OpFrames) begin
      stream_at_q   <= read_at;
      stream_left_q <= read_left;
    end

    // Both count up to the last, whose count is all ones. This one is looked at more than a clock after it changes.
    counted_q <= &count_q;
    decode_q  <= decode;
    if (state_q == Clear) dictionary_q <= step_q.dictionary;
    if (state_q == Clear) stream_count_q <= ~step_q.last;
    else if (decode_rsp.next) stream_count_q <= stream_count_q + 1'b1;
    if (state_q == Begin) count_q <= ~step_q.last;
    else if (state_q == Dummy && out_ready) count_q <= count_q + 1'b1;
    if (state_q == Begin || (state_q == Dummy && out_ready)) taken_q <= 1'b0;
    else if (taken) taken_q <= 1'b1;
  end

  load_reader #(
    .AddressBits(AddressBits)
  ) u_reader (
    .clk_i,
    .rst_ni,
    .start_i  (read_start),
    .address_i(read_address),
    .length_i (read_length),
    .address_o(read_at),
    .left_o   (read_left),
    .r_valid_o,
    .r_ready_i,
    .r_address_o,
    .r_valid_i,
    .r_data_i,
    .m_o      (read),
    .m_ready_i(read_ready)
  );

  assign stream = '{valid: read.valid && decode_q, behind: read.behind, data: read.data};

  assign decode_req = '{
      clear: state_q == Idle || state_q == Clear,
      active: decode,
      dictionary: dictionary_q,
      last: &stream_count_q,
      place: stream_count_q[9:0]
    };

  load_frames #(
    .Device('{pairs: Pairs, one: Odd != 0, fill_bits: FillBits})
  ) u_frames (
    .clk_i,
    .req_i          (decode_req),
    .rsp_o          (decode_rsp),
    .s_i            (stream),
    .s_ready_o      (s_ready),
    .pack_i         (pack),
    .pattern_valid_i(send && state_q == Copy && step_q.pack),
    .pattern_i      (read.data),
    .want_i         (row_wanted),
    .row_o          (row_valid),
    .some_o         (some),
    .taken_o        (taken),
    .m_o            (frame),
    .m_ready_i      (out_ready && state_q == Frames)
  );

  port_crc u_port (
    .clk_i,
    .rst_ni,
    .clear_i    (start_i && state_q == Idle),
    .busy_o     (sending),
    .s_valid_i  (out_valid),
    .s_ready_o  (out_ready),
    .s_data_i   (out_data),
    .s_covered_i(covered),
    .s_seal_i   (state_q == Seal0 || state_q == Seal1),
    .p_valid_o,
    .p_ready_i,
    .p_data_o
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// From a stream to the bytes of its frames: decoder, queue of cells, bytes, and the device's own compression where it
// is wanted.
//
// Clocks: see config_decoder, frame_bytes and frame_packer.
module load_frames
  import load_pkg::*;
#(
  parameter device_t Device = AnyDevice
) (
  input logic clk_i,

  input  decode_req_t req_i,
  output decode_rsp_t rsp_o,

  input  read_t s_i,
  output logic  s_ready_o,

  // Bytes go through the packer. Its patterns, as they go to the port.
  input logic       pack_i,
  input logic       pattern_valid_i,
  input logic [7:0] pattern_i,

  // Cells may be taken from the queue; there is one; something of a frame is there.
  input  logic want_i,
  output logic row_o,
  output logic some_o,
  // The packer takes the last byte of a frame.
  output logic taken_o,

  output byte_t m_o,
  input  logic  m_ready_i
);

  cell_t new_row, row, wanted;
  logic room, row_ready, queued;
  byte_t plain, packed_byte, entering;
  logic pack_ready, plain_ready;
  logic [1:0] zeros;

  assign row_o = row.valid;
  assign some_o = plain.valid || queued;
  assign wanted = '{valid: row.valid && want_i, kind: row.kind, rows: row.rows};
  assign entering = '{valid: plain.valid && pack_i, last: plain.last, data: plain.data};
  assign plain_ready = pack_i ? pack_ready : m_ready_i;
  assign taken_o = entering.valid && pack_ready && plain.last;
  assign m_o = pack_i ? packed_byte : plain;

  config_decoder #(
    .Device(Device)
  ) u_decoder (
    .clk_i,
    .req_i,
    .rsp_o,
    .s_i,
    .s_ready_o,
    .m_o     (new_row),
    .m_room_i(room)
  );

  row_queue u_queue (
    .clk_i,
    .clear_i  (req_i.clear),
    .room_o   (room),
    .s_i      (new_row),
    .m_o      (row),
    .m_ready_i(row_ready && want_i),
    .some_o   (queued)
  );

  frame_bytes #(
    .Fill(Device.fill_bits)
  ) u_bytes (
    .clk_i,
    .clear_i  (req_i.clear),
    .pair_i   (pack_i),
    .s_i      (wanted),
    .s_ready_o(row_ready),
    .m_o      (plain),
    .zeros_o  (zeros),
    .m_ready_i(plain_ready)
  );

  frame_packer #(
    .FrameBytes(frame_bytes_of(Device))
  ) u_packer (
    .clk_i,
    .clear_i  (req_i.clear),
    .pattern_valid_i,
    .pattern_i,
    .s_i      (entering),
    .zeros_i  (zeros),
    .s_ready_o(pack_ready),
    .m_o      (packed_byte),
    .m_ready_i
  );

endmodule

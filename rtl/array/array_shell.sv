// SPDX-License-Identifier: Apache-2.0
//
// slot_shell for slots that have AEADs. A frame of OpAead has AAD in front of its payload and, when it decrypts, a tag
// behind it, each on a fresh beat. The shell is told of a payload of as many beats, so that it finds frames that are too
// short or too long; behind it the beats are what they are again, and the header is that of the frame. Shells of other
// slots know nothing of AEADs.
//
// The next frame's header comes when this one's beats have all been taken. The engine refuses what is longer than 2^31 bytes.
//
// Clocks: one more than slot_shell from the entrance on.
module array_shell
  import core_pkg::*;
  import slot_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  clear_t clear_i,
  output logic   forget_o,

  input  stream_t s_axis_i,
  output logic    s_axis_ready_o,
  output stream_t m_axis_o,
  input  logic    m_axis_ready_i,

  // As slot_shell has them; and the beat is of the tag, and of no section.
  output header_t   header_o,
  output request_t  frame_o,
  output logic      tag_o,
  input  response_t answer_i,
  output logic      answer_ready_o
);

  typedef logic [28:0] beats_t;

  function automatic beats_t beats_of(logic [31:0] bytes);
    return bytes[31:3] + beats_t'(bytes[2:0] != '0);
  endfunction

  // -- in front of the shell --------------------------------------------------------------------------------

  logic valid, ready, last;
  logic [63:0] data;

  skid_buffer #(
    .Width(65)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .s_valid_i(s_axis_i.valid),
    .s_ready_o(s_axis_ready_o),
    .s_data_i ({s_axis_i.last, s_axis_i.data}),
    .m_valid_o(valid),
    .m_ready_i(ready),
    .m_data_o ({last, data})
  );

  // Of a frame's second beat, what the first one has to do with it.
  header_t head;
  logic second_q, behind_q, aead_q;
  logic [5:0] tag_beats_q;
  logic [15:0] aad_len_q;
  logic [31:0] payload_len_q;
  stream_t told;
  beats_t aad_beats;

  assign head = header_t'({64'b0, data});
  assign aad_beats = beats_of(32'(data[47:32]));

  always_comb begin
    told = '{valid, last, data};
    if (second_q && aead_q) begin
      told.data[31:0]  = {beats_of(data[31:0]) + (aad_beats + beats_t'(tag_beats_q)), 3'b0};
      told.data[47:32] = '0;
    end
    if (!valid) told.data = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {second_q, behind_q, aead_q} <= '0;
      {tag_beats_q, aad_len_q, payload_len_q} <= '0;
    end else if (valid && ready) begin
      second_q <= !second_q && !behind_q && !last;
      behind_q <= (second_q || behind_q) && !last;
      if (!second_q && !behind_q) begin
        aead_q      <= head.op == OpAead;
        tag_beats_q <= head.op == OpAead && head.flags.decrypt ? 6'(beats_of(32'(head.result_len))) : '0;
      end
      if (second_q) {aad_len_q, payload_len_q} <= {aead_q ? data[47:32] : 16'b0, data[31:0]};
    end
  end

  // -- the shell --------------------------------------------------------------------------------------------

  header_t  header;
  request_t frame;

  slot_shell u_shell (
    .clk_i,
    .rst_ni,
    .clear_i,
    .forget_o,
    .s_axis_i      (told),
    .s_axis_ready_o(ready),
    .m_axis_o,
    .m_axis_ready_i,
    .header_o      (header),
    .frame_o       (frame),
    .answer_i,
    .answer_ready_o,
    .refuse_i      (1'b0)
  );

  // -- behind it --------------------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    Aad,
    Text,
    Tag
  } part_e;

  (* fsm_encoding = "none" *)part_e part_q;
  part_e next;
  beats_t left_q, aad_left_q, text_left_q, tag_left_q;
  logic split;  // the payload is what is taken apart
  logic taken;

  assign split = aead_q && frame.section == SecPayload;
  assign taken = frame.valid && answer_i.ready && split;

  // The first part behind this one that has beats, and how many.
  beats_t next_left;
  always_comb begin
    {next, next_left} = {Tag, tag_left_q};
    if (part_q == Aad && text_left_q != '0) {next, next_left} = {Text, text_left_q};
  end

  always_comb begin
    header_o             = header;
    header_o.aad_len     = aad_len_q;
    header_o.payload_len = payload_len_q;
    frame_o              = frame;
    if (split) begin
      if (part_q == Aad) frame_o.section = SecAad;
      frame_o.last = left_q == beats_t'(1);
    end
    tag_o = split && part_q == Tag;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q <= Aad;
      {left_q, aad_left_q, text_left_q, tag_left_q} <= '0;
    end else begin
      aad_left_q  <= beats_of(32'(aad_len_q));
      text_left_q <= beats_of(payload_len_q);
      tag_left_q  <= beats_t'(tag_beats_q);
      if (frame.start) begin
        part_q <= aad_left_q != '0 ? Aad : text_left_q != '0 ? Text : Tag;
        left_q <= aad_left_q != '0 ? aad_left_q : text_left_q != '0 ? text_left_q : tag_left_q;
      end else if (taken) begin
        left_q <= left_q - beats_t'(1);
        if (left_q == beats_t'(1)) {part_q, left_q} <= {next, next_left};
      end
    end
  end

endmodule

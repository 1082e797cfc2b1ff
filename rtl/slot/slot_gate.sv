// SPDX-License-Identifier: Apache-2.0
//
// In front of a slot: decides what the slot does at all. Each direction, mode, operation and key length has a bit, kept
// in a LUT of its own (init_lut), and so have bits of the algorithm's code, so that variants differ in the contents of
// these LUTs and in nothing else. A request that asks for something else has the field that asks replaced by what no
// slot knows, and is then refused by the slot behind as docs/slot.md says: UnknownOperation for mode, direction or
// operation, BadKeyLength for a key length, UnknownAlgorithm for another code. CTR and OFB have no direction.
//
// Cycles: none. It stands before the registers of the slot's entry.
module slot_gate
  import slot_pkg::*;
#(
  // The code of the slot behind, and the code that requests have to carry. Where a bit of CodeMask is set the latter
  // is in a LUT; elsewhere the two must be the same.
  parameter logic [7:0] Algorithm = 8'd0,
  parameter logic [7:0] Code = Algorithm,
  parameter logic [7:0] CodeMask = 8'd0,
  // What has a LUT: operations, directions and modes as in Gate.open, and keys of n bytes for every bit n.
  parameter logic [15:0] Has = 16'h001f,
  parameter logic [63:0] KeyLengths = '0,
  parameter gate_t Gate = gate_t'(AllOpen)
) (
  input logic clk_i,
  input logic rst_ni,

  // The request stream, looked at in passing.
  input  stream_t s_axis_i,
  input  logic    s_axis_ready_i,
  output stream_t m_axis_o
);

  localparam logic [15:0] Allowed = Has & Gate.open;
  localparam bit Present = Gate.present;
  localparam int unsigned KeyMin = 32'(Gate.key_min), KeyMax = 32'(Gate.key_max);

  if (((Algorithm ^ Code) & ~CodeMask) != '0) begin : gen_illegal_code
    $error("slot_gate: Code differs from Algorithm where there is no LUT");
  end
  if (Present && !((Allowed[1:0] != '0 && (Allowed[3:2] != '0 || Allowed[9:8] != '0)) || Allowed[7:4] != '0 || Allowed[10])) begin : gen_illegal_open
    $error("slot_gate: nothing is open");
  end
  if (Present && KeyLengths != '0 && (KeyLengths & key_range(KeyMin, KeyMax)) == '0) begin : gen_illegal_keys
    $error("slot_gate: no key length is open");
  end

  if (!Present && Algorithm != Code) begin : gen_illegal_absent
    $error("slot_gate: without a gate there is one code");
  end

  function automatic logic [63:0] key_range(int unsigned low, int unsigned high);
    for (int unsigned n = 0; n < 64; n++) key_range[n] = n >= low && n <= high;
  endfunction

  // -- what is open ---------------------------------------------------------------------------------------

  logic [10:0] open;
  logic [63:0] keys;
  logic [ 7:0] code;  // where it differs from the code of the slot behind

  for (genvar i = 0; i < 11; i++) begin : gen_open
    if (Present && Has[i]) begin : gen_kept
      (* keep *)
      init_lut #(
        .Init({16{Gate.open[i]}})
      ) u_open (
        .in_i ('0),
        .out_o(open[i])
      );
    end else begin : gen_closed
      assign open[i] = 1'b0;
    end
  end

  for (genvar n = 0; n < 64; n++) begin : gen_keys
    if (Present && KeyLengths[n]) begin : gen_kept
      (* keep *)
      init_lut #(
        .Init({16{n >= KeyMin && n <= KeyMax}})
      ) u_key (
        .in_i ('0),
        .out_o(keys[n])
      );
    end else begin : gen_closed
      // No key has no length to be refused for.
      assign keys[n] = n == 0;
    end
  end

  for (genvar i = 0; i < 8; i++) begin : gen_code
    if (Present && CodeMask[i]) begin : gen_kept
      (* keep *)
      init_lut #(
        .Init({16{Code[i] ^ Algorithm[i]}})
      ) u_code (
        .in_i ('0),
        .out_o(code[i])
      );
    end else begin : gen_fixed
      assign code[i] = 1'b0;
    end
  end

  // -- which beat is a header -----------------------------------------------------------------------------

  logic first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (s_axis_i.valid && s_axis_ready_i) first_q <= s_axis_i.last;
  end

  // -- what it asks for -----------------------------------------------------------------------------------

  header_t head;
  logic direction_open, op_open, key_open;

  assign head = header_t'({64'b0, s_axis_i.data});

  assign direction_open = head.flags.decrypt ? open[1] : open[0];

  always_comb begin
    unique case (head.op)
      OpEcb:        op_open = open[2] && direction_open;
      OpCbc:        op_open = open[3] && direction_open;
      OpCtr:        op_open = open[4];
      OpCfb:        op_open = open[8] && direction_open;
      OpCfb8:       op_open = open[9] && direction_open;
      OpOfb:        op_open = open[10];
      OpHash:       op_open = open[5];
      OpHmacStates: op_open = open[6];
      OpHmacKey:    op_open = open[7];
      default:      op_open = 1'b0;
    endcase
    key_open = KeyLengths == '0 || (head.key_len[7:6] == '0 && keys[head.key_len[5:0]]);
  end

  always_comb begin
    m_axis_o = s_axis_i;
    if (Present && first_q) begin
      m_axis_o.data[7:0] = s_axis_i.data[7:0] ^ code;
      if (!op_open) m_axis_o.data[15:8] = '0;
      if (!key_open) m_axis_o.data[31:24] = '1;
    end
  end

  // The second half of a header is not looked at, nor are other fields of the first.
  logic unused_head;
  assign unused_head = ^{head.reserved, head.aad_len, head.payload_len, head.result_len, head.iv_len, head.tag,
      head.flags.reserved, head.flags.partial, head.flags.resume, head.flags.wipe, head.flags.fresh_key,
      head.algorithm};

endmodule

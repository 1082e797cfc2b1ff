// SPDX-License-Identifier: Apache-2.0
//
// In front of a cipher's slot: decides what the slot does at all. Each direction, mode and key length has a bit, kept
// in a LUT of its own (init_lut), and so have bits of the algorithm's code, so that variants differ in the contents of
// these LUTs and in nothing else. A request that asks for something else has the field that asks replaced by what no
// slot knows, and is then refused by the slot behind as docs/slot.md says: UnknownOperation for mode or direction,
// BadKeyLength for a key length, UnknownAlgorithm for another code. The direction of CTR is that of its mode.
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
  // Whether there are LUTs for directions, modes and key lengths; if not, all are open.
  parameter bit Restrict = 1'b1,
  parameter bit Encrypt = 1'b1,
  parameter bit Decrypt = 1'b1,
  parameter bit Ecb = 1'b1,
  parameter bit Cbc = 1'b1,
  parameter bit Ctr = 1'b1,
  // Bit n: a key of n bytes. The lengths that have a LUT, and those of them that are open.
  parameter logic [63:0] KeyLengths = '0,
  parameter logic [63:0] Keys = '1
) (
  input logic clk_i,
  input logic rst_ni,

  // The request stream, looked at in passing.
  input  logic [63:0] data_i,
  input  logic        valid_i,
  input  logic        ready_i,
  input  logic        last_i,
  output logic [63:0] data_o
);

  if (((Algorithm ^ Code) & ~CodeMask) != '0) begin : gen_illegal_code
    $error("slot_gate: Code differs from Algorithm where there is no LUT");
  end
  if (Restrict && (KeyLengths == '0 || (KeyLengths & Keys) == '0)) begin : gen_illegal_keys
    $error("slot_gate: no key length is open");
  end
  if (Restrict && !((Encrypt || Decrypt) && (Ecb || Cbc) || Ctr)) begin : gen_illegal_modes
    $error("slot_gate: nothing is open");
  end

  // -- what is open ---------------------------------------------------------------------------------------

  logic encrypt, decrypt, ecb, cbc, ctr;
  logic [63:0] keys;
  logic [ 7:0] code;  // where it differs from the code of the slot behind

  if (Restrict) begin : gen_restrict
    // verilog_format: off
    (* keep *) init_lut #(.Init({16{Encrypt}})) u_encrypt (.in_i('0), .out_o(encrypt));
    (* keep *) init_lut #(.Init({16{Decrypt}})) u_decrypt (.in_i('0), .out_o(decrypt));
    (* keep *) init_lut #(.Init({16{Ecb}})) u_ecb (.in_i('0), .out_o(ecb));
    (* keep *) init_lut #(.Init({16{Cbc}})) u_cbc (.in_i('0), .out_o(cbc));
    (* keep *) init_lut #(.Init({16{Ctr}})) u_ctr (.in_i('0), .out_o(ctr));
    // verilog_format: on
    for (genvar n = 0; n < 64; n++) begin : gen_keys
      if (KeyLengths[n]) begin : gen_kept
        (* keep *)
        init_lut #(
          .Init({16{Keys[n]}})
        ) u_key (
          .in_i ('0),
          .out_o(keys[n])
        );
      end else begin : gen_closed
        // No key has no length to be refused for.
        assign keys[n] = n == 0;
      end
    end
  end else begin : gen_open
    assign {encrypt, decrypt, ecb, cbc, ctr} = '1;
    assign keys = '1;
  end

  for (genvar i = 0; i < 8; i++) begin : gen_code
    if (CodeMask[i]) begin : gen_kept
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
    else if (valid_i && ready_i) first_q <= last_i;
  end

  // -- what it asks for -----------------------------------------------------------------------------------

  header_t head;
  logic op_open, key_open;

  assign head = header_t'({64'b0, data_i});

  always_comb begin
    unique case (head.op)
      OpEcb:   op_open = ecb && (head.flags.decrypt ? decrypt : encrypt);
      OpCbc:   op_open = cbc && (head.flags.decrypt ? decrypt : encrypt);
      OpCtr:   op_open = ctr;
      default: op_open = !Restrict;
    endcase
    key_open = !Restrict || (head.key_len[7:6] == '0 && keys[head.key_len[5:0]]);
  end

  always_comb begin
    data_o = data_i;
    if (first_q) begin
      data_o[7:0] = data_i[7:0] ^ code;
      if (!op_open) data_o[15:8] = '0;
      if (!key_open) data_o[31:24] = '1;
    end
  end

  // The second half of a header is not looked at, nor are other fields of the first.
  logic unused_head;
  assign unused_head = ^{head.reserved, head.aad_len, head.payload_len, head.result_len, head.iv_len, head.tag,
      head.flags.reserved, head.flags.partial, head.flags.resume, head.flags.wipe, head.flags.fresh_key,
      head.algorithm};

endmodule

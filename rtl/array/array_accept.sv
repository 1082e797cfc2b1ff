// SPDX-License-Identifier: Apache-2.0
//
// Whether the loader takes a frame, by its header, and where it goes: a set into the banks that do not run of the tiles that
// it names, a key into an area of the banks that it is for.
//
// Clocks: 3 from a header to all that is said of it here, and looked_o when that stands.
module array_accept
  import array_pkg::*;
  import array_front_pkg::*;
  import slot_pkg::*;
#(
  parameter int unsigned Tiles = 1
) (
  input logic clk_i,

  input  header_t header_i,
  // The second beat of the header is there.
  input  logic    heads_i,
  output logic    looked_o,

  // Which banks run; of a key the banks that it goes to and where in them; what banks have.
  input logic  [Tiles-1:0]      run_i,
  input logic  [Tiles-1:0][1:0] key_banks_i,
  input area_t                  key_area_i,
  input set_t  [Tiles-1:0][1:0] sets_i,

  // It is a set. Of a key, what the sets that it is for are.
  output logic                                 load_o,
  output logic                                 hash_o,
  output logic                                 aead_o,
  // Tiles that it goes to, and their banks; where its words begin, or those of all keys that a set's bank forgets.
  output logic    [Tiles-1:0]                  target_o,
  output logic    [Tiles-1:0]                  banks_o,
  output logic    [Tiles-1:0][KeyWordBits-1:0] base_o,
  output status_e                              verdict_o
);

  logic load_q, plain_q, fits_q, sized_q, hash_q, aead_q, key_known_q;
  logic [7:0] words_q;
  logic [9:0] bytes_q;
  logic [2:0] heads_q;
  logic [Tiles-1:0] names_q, target_q, target_banks_q;
  logic [Tiles-1:0][KeyWordBits-1:0] base_q;
  status_e verdict_q;

  assign load_o    = load_q;
  assign hash_o    = hash_q;
  assign aead_o    = aead_q;
  assign target_o  = target_q;
  assign banks_o   = target_banks_q;
  assign base_o    = base_q;
  assign verdict_o = verdict_q;

  // The shell is made to wait for the last of these. All banks of a key have sets for keys of as many words.
  always_ff @(posedge clk_i) begin
    logic [7:0] words;
    logic hash, aead;
    {words, hash, aead} = '0;
    for (int unsigned t = 0; t < Tiles; t++)
    for (int unsigned b = 0; b < 2; b++) begin
      if (key_banks_i[t][b]) begin
        words |= sets_i[t][b].key_words;
        hash |= sets_i[t][b].hash;
        aead |= sets_i[t][b].aead;
      end
    end
    {words_q, hash_q, aead_q} <= {words, hash, aead};
    key_known_q <= key_banks_i != '0;
    // A hash's key is two states of four beats each.
    bytes_q <= hash_q ? 10'd64 : {words_q, 2'b0};
    // A set goes to the first tile, if none is named.
    names_q <= header_i.result_len == '0 ? Tiles'(1) : header_i.result_len[Tiles-1:0];
    for (int unsigned t = 0; t < Tiles; t++) begin
      target_q[t] <= load_q ? names_q[t] : key_banks_i[t] != '0;
      target_banks_q[t] <= load_q ? !run_i[t] : key_banks_i[t][1];
      base_q[t] <= load_q ? key_base(!run_i[t], '0, '0) : key_base(key_banks_i[t][1], key_area_i, words_q);
    end
    load_q <= header_i.op == OpLoad;
    plain_q <= header_i.iv_len == '0 && !header_i.flags.partial && !header_i.flags.resume
        && (!load_q || header_i.result_len < 8'(1 << Tiles));
    fits_q <= header_i.payload_len == 32'(bytes_q) && bytes_q != '0;
    sized_q      <= header_i.payload_len[2:0] == '0 && header_i.payload_len >= 32'd64
                    && header_i.payload_len[31:17] == '0;
    heads_q <= {heads_q[1:0], heads_i};
    if (!load_q && !key_known_q) verdict_q <= StatusUnknownAlgorithm;
    else if (!plain_q) verdict_q <= StatusUnknownOperation;
    else if (header_i.flags.fresh_key || (!load_q && !fits_q)) verdict_q <= StatusBadKeyLength;
    else if (load_q && !sized_q) verdict_q <= StatusBadLength;
    else verdict_q <= StatusOk;
  end
  assign looked_o = heads_i && heads_q == '1;

endmodule

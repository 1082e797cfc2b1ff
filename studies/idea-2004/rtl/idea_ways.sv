// SPDX-License-Identifier: Apache-2.0
//
// A data path behind one of the paper's ways in (section 3.2.1), for a text of blocks_i blocks: the memory's banks, words
// of 32 bits; the ports, bytes; or the memory and an internal array, which is filled, worked on and emptied. Whoever is
// outside acknowledges each access, after as long as it takes. Encryption in ECB, CBC, CFB or OFB; with feedback one
// block at a time. Copies of the path work side by side on as many blocks (ECB): blocks_i is a multiple of them.
//
// Cycles: through memory and ports the accesses of a block (2 * 64 / Width) overlap with the path's work; through the
// array accesses and work follow each other, for Depth groups of blocks at a time.
module idea_ways
  import idea_paths_pkg::*;
#(
  parameter int unsigned Path = 0,
  parameter int unsigned Way = 0,     // 0 memory, 1 ports, 2 array
  parameter int unsigned Mode = 0,    // 0 ECB, 1 CBC, 2 CFB, 3 OFB
  parameter int unsigned Copies = 1,
  parameter int unsigned Depth = 187, // groups of the array

  localparam int unsigned Width = Way == 1 ? 8 : 32
) (
  input logic clk_i,

  input logic  key_first_i,
  input logic  key_valid_i,
  input word_t key_i,

  input  logic        start_i,
  input  logic [15:0] blocks_i,
  input  logic [63:0] iv_i,
  output logic        done_o,

  output logic             req_o,
  output logic             write_o,
  output logic [     18:0] address_o,
  output logic [Width-1:0] data_o,
  input  logic             ack_i,
  input  logic [Width-1:0] data_i
);

  localparam int unsigned Group = 64 * Copies;
  localparam int unsigned Beats = Group / Width;
  localparam int unsigned Most = 16;  // groups between the way in and the way out
  localparam logic Feedback = Mode != 0;
  localparam logic Internal = Way == 2;

  if (Way > 2 || Mode > 3 || Copies == 0 || (Mode != 0 && Copies != 1) || Depth < 2) begin : gen_illegal
    $error("idea_ways: Way is 0 to 2, Mode 0 to 3, Copies at least 1 and 1 with feedback, Depth at least 2");
  end

  typedef logic [Group-1:0] group_t;
  typedef logic [15:0] count_t;
  typedef enum logic [1:0] {
    Bus,
    Reading,
    Writing
  } bus_t;
  // Of the internal array.
  typedef enum logic [1:0] {
    Fill,
    Work,
    Empty
  } part_t;

  bus_t bus_q;
  part_t part_q;
  logic [7:0] beat_q;
  logic last_beat, busy_q;
  // Groups that are read, given to the path, made, and written.
  count_t wanted, read_q, given_q, made_q, written_q, part_end, at;
  group_t gather_q, scatter_q;

  assign wanted    = blocks_i / count_t'(Copies);
  assign last_beat = beat_q == 8'(Beats - 1);
  assign done_o    = busy_q && written_q == wanted;

  // The way in fills a register; the path takes it from there.
  logic next_valid_q;
  group_t next_q;
  // Results wait for the way out.
  group_t queue_q[Most];
  count_t queued;
  group_t made;
  logic made_valid, give, may_read, may_write;

  assign queued = made_q - written_q;

  // The path.
  logic [Copies-1:0] ready, valid;
  group_t path_in, path_out;

  for (genvar c = 0; c < Copies; c++) begin : gen_copy
    idea_paths #(
      .Path(Path)
    ) u_path (
      .clk_i,
      .key_first_i,
      .key_valid_i,
      .key_i,
      .ready_o(ready[c]),
      .start_i(give),
      .block_i(path_in[64*c+:64]),
      .valid_o(valid[c]),
      .block_o(path_out[64*c+:64])
    );
  end

  // Modes: what goes in, what comes out, what the next block needs of it.
  logic [63:0] before_q, plain_q;
  if (Mode == 0) begin : gen_ecb
    logic unused;
    assign path_in = next_q;
    assign made    = path_out;
    assign unused  = ^{before_q, plain_q};
  end else if (Mode == 1) begin : gen_cbc
    logic unused;
    assign path_in = next_q ^ before_q;
    assign made    = path_out;
    assign unused  = ^plain_q;
  end else begin : gen_stream
    assign path_in = before_q;
    assign made    = path_out ^ plain_q;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) before_q <= iv_i;
    else if (made_valid) before_q <= Mode == 3 ? path_out[63:0] : made[63:0];
    if (give) plain_q <= next_q[63:0];
  end

  assign made_valid = &valid && given_q != made_q;
  // As many may be under way as there is room for behind; with feedback one.
  assign give = &ready && next_valid_q && !start_i && (!Feedback || given_q == made_q) &&
                (Internal || given_q - written_q < count_t'(Most));

  // The internal array: one port to write, one to read.
  group_t array_data;
  logic   array_valid_q;
  logic   array_read;
  // What is gathered goes on without its first beat, and the array's addresses are short.
  logic   unused;
  if (Internal) begin : gen_array
    (* ram_style = "block" *) group_t array[Depth];
    count_t begin_q, read_at, write_at;
    group_t data_q;
    logic   fill;
    assign fill     = bus_q == Reading && ack_i && last_beat;
    assign write_at = (fill ? read_q : made_q) - begin_q;
    assign read_at  = (part_q == Empty ? written_q : given_q) - begin_q;
    always_ff @(posedge clk_i) begin
      if (fill || made_valid)
        array[write_at[$clog2(Depth)-1:0]] <= fill ? {data_i, gather_q[Group-1:Width]} : made;
      data_q <= array[read_at[$clog2(Depth)-1:0]];
      if (start_i) begin_q <= '0;
      else if (part_q == Empty && written_q == part_end) begin_q <= written_q;
    end
    assign unused = ^{gather_q[Width-1:0], read_at[15:$clog2(Depth)], write_at[15:$clog2(Depth)]};
    assign array_data = data_q;
    assign part_end = wanted - begin_q > count_t'(Depth) ? begin_q + count_t'(Depth) : wanted;
    // The address stands still for a clock, then its data are there.
    assign array_read = part_q == Work ? !next_valid_q && given_q != part_end : bus_q == Bus && written_q != part_end;
    always_ff @(posedge clk_i) array_valid_q <= array_read && !array_valid_q && !start_i && part_q != Fill;
  end else begin : gen_none
    assign unused        = ^{gather_q[Width-1:0], array_read};
    assign array_data    = '0;
    assign part_end      = wanted;
    assign array_read    = 1'b0;
    assign array_valid_q = 1'b0;
  end

  assign may_read  = Internal ? part_q == Fill && read_q != part_end : !next_valid_q && read_q != wanted;
  assign may_write = Internal ? part_q == Empty && array_valid_q : queued != '0;

  assign req_o     = bus_q != Bus;
  assign write_o   = bus_q == Writing;
  assign at        = (write_o ? written_q : read_q) * count_t'(Beats);
  assign address_o = 19'(at) + 19'(beat_q);
  assign data_o    = scatter_q[Width-1:0];

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      bus_q                                <= Bus;
      part_q                               <= Fill;
      beat_q                               <= '0;
      busy_q                               <= 1'b1;
      next_valid_q                         <= 1'b0;
      {read_q, given_q, made_q, written_q} <= '0;
    end else if (busy_q) begin
      if (done_o) busy_q <= 1'b0;
      unique case (bus_q)
        Bus: begin
          beat_q <= '0;
          if (may_write) begin
            bus_q     <= Writing;
            scatter_q <= Internal ? array_data : queue_q[written_q[3:0]];
          end else if (may_read) begin
            bus_q <= Reading;
          end
        end
        Reading: begin
          if (ack_i) begin
            gather_q <= {data_i, gather_q[Group-1:Width]};
            beat_q   <= beat_q + 8'd1;
            if (last_beat) begin
              bus_q  <= Bus;
              read_q <= read_q + 16'd1;
              if (!Internal) begin
                next_q       <= {data_i, gather_q[Group-1:Width]};
                next_valid_q <= 1'b1;
              end
            end
          end
        end
        default: begin
          if (ack_i) begin
            scatter_q <= scatter_q >> Width;
            beat_q    <= beat_q + 8'd1;
            if (last_beat) begin
              bus_q     <= Bus;
              written_q <= written_q + 16'd1;
            end
          end
        end
      endcase
      if (Internal) begin
        if (part_q == Fill && read_q == part_end) part_q <= Work;
        if (part_q == Work && made_q == part_end) part_q <= Empty;
        if (part_q == Empty && written_q == part_end) part_q <= Fill;
        if (part_q == Work && array_valid_q && !next_valid_q) begin
          next_q       <= array_data;
          next_valid_q <= 1'b1;
        end
      end
      if (give) begin
        given_q <= given_q + 16'd1;
        next_valid_q <= 1'b0;
      end
      if (made_valid) begin
        made_q               <= made_q + 16'd1;
        queue_q[made_q[3:0]] <= made;
      end
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// What every ring of pipeline stages does with its blocks, whatever they are. Each clock the stages move on by one,
// and what was in the last one is at the door: a block that has turns left goes round again, one that has none leaves,
// and where nothing stays another block may enter. Data may lag behind by as many clocks as a core likes.
//
// A stage and what is in it keep their number on the way round. The result of a block comes when the next one may be
// inside already, so that two tickets of each stage are given in turn; with Early it comes before, and one will do.
// Blocks of a single turn need no such numbers: their tickets are given one after the other, and come back like that.
//
// Cycles: a block every turns_i + 1 clocks at full load; from the block to its result Stages * (turns_i + 1) + Tail
// clocks, or with Early Stages * turns_i + Tail.
module ring_control
  import core_pkg::*;
#(
  parameter int unsigned Stages = 4,
  // Turns of the longest block.
  parameter int unsigned Turns  = 16,
  // Clocks from the end of the last turn to the result, at least 1. With Early: from the beginning of that turn.
  parameter int unsigned Tail   = 1,
  parameter bit          Early  = 1'b0,
  // Bits of a core's own that go along with a block.
  parameter int unsigned Width  = 1,

  localparam int unsigned TurnBits = Turns > 1 ? $clog2(Turns) : 1
) (
  input logic   clk_i,
  input logic   rst_ni,
  input clear_t clear_i,

  // block_ready_o comes from a register, block_ticket_o from registers and one gate.
  input  logic    block_valid_i,
  output logic    block_ready_o,
  output ticket_t block_ticket_o,

  // At the door: a block enters, with so many turns behind the first; a block leaves; what is there is to vanish,
  // without a result. The bits that go along, of a block that enters and of one that goes round.
  output logic                enter_o,
  output logic                leave_o,
  input  logic                drop_i,
  input  logic [TurnBits-1:0] turns_i,
  input  logic [   Width-1:0] enter_i,
  input  logic [   Width-1:0] around_i,

  // By stage; stage 1 is behind the door, and what is in the last is at the door. last_o is high for free stages too.
  output logic [Stages:1]               valid_o,
  output logic [Stages:1]               first_o,  // this is the first turn
  output logic [Stages:1]               last_o,   // this is the last turn
  output logic [Stages:1][TurnBits-1:0] left_o,   // turns behind this one
  output logic [Stages:1][   Width-1:0] along_o,

  output logic    result_valid_o,
  output ticket_t result_ticket_o
);

  if (Stages < 2 || Tail == 0 || (Early && (Turns == 1 || Tail > Stages)) || (Turns > 1 && Tail > Stages)) begin : gen_illegal
    $error("ring_control: a result comes at least a clock behind the door, and no turn later");
  end

  // -- stages ---------------------------------------------------------------------------------------------

  logic valid_d, last_d;
  logic [TurnBits-1:0] left_d;

  assign block_ready_o = last_o[Stages];
  assign enter_o       = block_valid_i && block_ready_o;
  assign leave_o       = valid_o[Stages] && last_o[Stages];
  assign valid_d       = enter_o || (valid_o[Stages] && !last_o[Stages] && !drop_i);
  assign left_d        = enter_o ? turns_i : left_o[Stages] - TurnBits'(1);

  always_comb begin
    if (Turns == 1) last_d = 1'b1;
    else if (enter_o) last_d = turns_i == '0;
    else last_d = last_o[Stages] || left_o[Stages] == TurnBits'(1) || drop_i;
  end

  // No reset of their own: in the first clock behind one they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) begin
      valid_o <= '0;
      first_o <= '0;
      last_o  <= '1;
      left_o  <= '0;
      along_o <= '0;
    end else begin
      valid_o <= {valid_o[Stages-1:1], valid_d};
      first_o <= {first_o[Stages-1:1], enter_o};
      last_o  <= {last_o[Stages-1:1], last_d};
      left_o  <= {left_o[Stages-1:1], left_d};
      along_o <= {along_o[Stages-1:1], enter_o ? enter_i : around_i};
    end
  end

  // -- results --------------------------------------------------------------------------------------------

  logic [Tail:1] leave_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) leave_q <= '0;
    else if (clear_i.active) leave_q <= '0;
    else leave_q <= Tail'({leave_q, Early ? valid_d && last_d : leave_o});
  end

  assign result_valid_o = leave_q[Tail];

  // -- tickets --------------------------------------------------------------------------------------------

  if (Turns == 1) begin : gen_straight
    localparam int unsigned CountBits = $clog2(Stages + Tail);
    localparam logic [CountBits-1:0] Way = CountBits'(Stages + Tail);

    logic [CountBits-1:0] enter_q, result_q;

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        enter_q  <= Way;
        result_q <= '0;
      end else begin
        enter_q  <= enter_q + CountBits'(1);
        result_q <= result_q + CountBits'(1);
      end
    end

    assign block_ticket_o  = ticket_t'(enter_q);
    assign result_ticket_o = ticket_t'(result_q);
  end else begin : gen_round
    localparam int unsigned PlaceBits = $clog2(Stages);
    localparam int unsigned NumberBits = Early ? PlaceBits : PlaceBits + 1;

    typedef logic [NumberBits-1:0] number_t;

    logic [PlaceBits-1:0] place_q;  // of the stage that is at the door
    number_t enter, leave;
    number_t [Tail:1] number_q;

    if (Early) begin : gen_one
      assign enter = place_q;
      assign leave = place_q;
    end else begin : gen_two
      logic [Stages:1] second_q;  // the second ticket was given last

      assign enter = {!second_q[Stages], place_q};
      assign leave = {second_q[Stages], place_q};

      always_ff @(posedge clk_i) begin
        if (clear_i.active) second_q <= '0;
        else second_q <= {second_q[Stages-1:1], second_q[Stages] ^ enter_o};
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        place_q  <= '0;
        number_q <= '0;
      end else begin
        place_q  <= place_q == PlaceBits'(Stages - 1) ? '0 : place_q + PlaceBits'(1);
        number_q <= (Tail * NumberBits)'({number_q, leave});
      end
    end

    assign block_ticket_o  = ticket_t'(enter);
    assign result_ticket_o = ticket_t'(number_q[Tail]);
  end

endmodule

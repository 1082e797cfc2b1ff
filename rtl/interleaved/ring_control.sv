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
// Cycles: a block every turns + 1 clocks at full load; from the block to its result Stages * (turns + 1) + Tail
// clocks, or with Early Stages * turns + Tail.
module ring_control
  import core_pkg::*;
#(
  parameter int unsigned Stages  = 4,
  // Turns of the longest block.
  parameter int unsigned Turns   = 16,
  // Clocks from the end of the last turn to the result, at least 1. With Early: from the beginning of that turn.
  parameter int unsigned Tail    = 1,
  parameter bit          Early   = 1'b0,
  // 0: no block is to be decrypted.
  parameter bit          Decrypt = 1'b1
) (
  input logic clk_i,
  input logic rst_ni,

  input  clear_t                 clear_i,
  input  ring_req_t              req_i,
  input  ring_door_t             door_i,
  // By stage; stage 1 is behind the door, and what is in the last is at the door.
  output ring_stage_t [Stages:1] stage_o,
  // The ring's own part of the answer. block_ready comes from a register, block_ticket from registers and one gate.
  input  logic                   busy_i,
  input  logic        [   127:0] result_i,
  output ring_rsp_t              rsp_o
);

  localparam int unsigned TurnBits = Turns > 1 ? $clog2(Turns) : 1;

  if (Stages < 2 || Tail == 0 || (Early && (Turns == 1 || Tail > Stages)) || (Turns > 1 && Tail > Stages)) begin : gen_illegal
    $error("ring_control: a result comes at least a clock behind the door, and no turn later");
  end

  // -- stages ---------------------------------------------------------------------------------------------

  ring_stage_t door, next;
  logic enter, leave;

  assign door  = stage_o[Stages];
  assign enter = (req_i.block_valid || door_i.other) && door.last;
  assign leave = door.valid && door.last;

  always_comb begin
    next       = door;
    next.valid = enter || (door.valid && !door.last && !door_i.drop);
    next.first = enter;
    next.left  = 8'(TurnBits'(enter ? door_i.turns : door.left - 8'd1));
    next.own   = enter ? door_i.enter : door_i.around;
    if (enter) next.key = req_i.block_context;
    if (enter) next.decrypt = Decrypt && req_i.decrypt;
    if (Turns == 1) next.last = 1'b1;
    else if (enter) next.last = TurnBits'(door_i.turns) == '0;
    else next.last = door.last || TurnBits'(door.left) == TurnBits'(1) || door_i.drop;
  end

  // No reset of their own: in the first clock behind one they are cleared.
  always_ff @(posedge clk_i) begin
    if (clear_i.active) stage_o <= {Stages{ring_stage_t'{last: 1'b1, default: '0}}};
    else stage_o <= {stage_o[Stages-1:1], next};
  end

  // -- results --------------------------------------------------------------------------------------------

  logic [Tail:1] leave_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) leave_q <= '0;
    else if (clear_i.active) leave_q <= '0;
    else leave_q <= Tail'({leave_q, Early ? next.valid && next.last : leave});
  end

  ticket_t enter_ticket, result_ticket;

  assign rsp_o = '{
      key_busy: busy_i,
      block_ready: door.last && !door_i.other,
      block_ticket: enter_ticket,
      result_valid: leave_q[Tail],
      result_ticket: result_ticket,
      result: result_i
    };

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

    assign enter_ticket  = ticket_t'(enter_q);
    assign result_ticket = ticket_t'(result_q);
  end else begin : gen_round
    localparam int unsigned PlaceBits = $clog2(Stages);
    localparam int unsigned NumberBits = Early ? PlaceBits : PlaceBits + 1;

    typedef logic [NumberBits-1:0] number_t;

    logic [PlaceBits-1:0] place_q;  // of the stage that is at the door
    number_t given, back;
    number_t [Tail:1] number_q;

    if (Early) begin : gen_one
      assign given = place_q;
      assign back  = place_q;
    end else begin : gen_two
      logic [Stages:1] second_q;  // the second ticket was given last

      assign given = {!second_q[Stages], place_q};
      assign back  = {second_q[Stages], place_q};

      always_ff @(posedge clk_i) begin
        if (clear_i.active) second_q <= '0;
        else second_q <= {second_q[Stages-1:1], second_q[Stages] ^ enter};
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i.active) begin
        place_q  <= '0;
        number_q <= '0;
      end else begin
        place_q  <= place_q == PlaceBits'(Stages - 1) ? '0 : place_q + PlaceBits'(1);
        number_q <= (Tail * NumberBits)'({number_q, back});
      end
    end

    assign enter_ticket  = ticket_t'(given);
    assign result_ticket = ticket_t'(number_q[Tail]);
  end

endmodule

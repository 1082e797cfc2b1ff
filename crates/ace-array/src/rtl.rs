// SPDX-License-Identifier: Apache-2.0
//! The shape as the RTL takes it: a package of numbers and of the context's fields.

use std::fmt::Write;

use crate::ir::layout::Layout;
use crate::ir::shape::{Kind, Shape, bits_for};

/// The text of `rtl/array/array_pkg.sv`.
pub fn package(shape: &Shape) -> String {
    let layout = Layout::of(shape);
    let mut out = String::from(
        "// SPDX-License-Identifier: Apache-2.0\n//\n\
         // The shape of a tile and the fields of its contexts, printed from array/shape.toml by `ace array rtl`.\n\
         package array_pkg;\n\n",
    );
    let mut number = |name: &str, value: usize| {
        let _ = writeln!(out, "  localparam int unsigned {name} = {value};");
    };
    for (name, kind) in [
        ("Alus", Kind::Alu),
        ("Rotators", Kind::Rotator),
        ("Quads", Kind::Quad),
        ("Multipliers", Kind::Multiplier),
        ("Memories", Kind::Memory),
        ("Inputs", Kind::Input),
        ("Outputs", Kind::Output),
    ] {
        number(name, shape.count(kind));
    }
    number("Sources", shape.sources());
    number("AluOperands", shape.alu_operands);
    number("SelectBits", shape.select_bits());
    number("DelayBits", shape.delay_bits());
    number("LineBits", bits_for(shape.line));
    number("LongLineBits", bits_for(shape.long_line));
    number("MemoryBits", bits_for(shape.memory_words));
    number("StreamBits", bits_for(shape.stream_words));
    number("KeyWordBits", bits_for(shape.key_words));
    number("KeyOffsetBits", shape.key_offset_bits());
    number("ConstantBits", bits_for(shape.constants));
    number("ContextBits", bits_for(shape.contexts));
    number("StageBits", bits_for(shape.stages));
    number("ContextWords", layout.words());
    number("ContextUsed", layout.bits);
    let _ = writeln!(
        out,
        "  // What a set has to be compiled for.\n  localparam logic [31:0] Version = 32'h{:08x};",
        shape.version()
    );
    out += STRUCTS;
    // Elements as they lie in a context: the last one of the last kind has the highest bits.
    let kinds: Vec<(&str, &str)> = vec![
        ("Outputs", "output"),
        ("Inputs", "input"),
        ("Memories", "memory"),
        ("Multipliers", "multiplier"),
        ("Quads", "quad"),
        ("Rotators", "rotator"),
        ("Alus", "alu"),
    ];
    out += "  typedef struct packed {\n";
    for (count, name) in kinds {
        if name == "multiplier" && shape.multipliers == 0 {
            continue;
        }
        let _ = writeln!(out, "    {name}_ctx_t [{count}-1:0] {};", count.to_lowercase());
    }
    out += "  } context_t;\n\nendpackage\n";
    out
}

const STRUCTS: &str = "
  // What a port takes in the clock after, and how old a value it reads.
  typedef struct packed {
    logic [DelayBits-1:0]  delay;
    logic [SelectBits-1:0] select;
  } port_t;

  // A word of the key of the block that is so many stages old, or a constant.
  typedef struct packed {
    logic                     used;
    logic                     constant;
    logic [StageBits-1:0]     stage;
    logic [KeyOffsetBits-1:0] word;
  } key_t;

  typedef struct packed {
    key_t                    key;
    logic [8:0]              op;
    port_t [AluOperands-1:0] ports;
  } alu_ctx_t;

  typedef struct packed {
    key_t       key;
    logic [2:0] op;
    port_t      amount;
    port_t      value;
  } rotator_ctx_t;

  typedef struct packed {
    logic [14:0] op;
    port_t [3:0] ports;
  } quad_ctx_t;

  typedef struct packed {
    logic [4:0] op;
    port_t      b;
    port_t      a;
  } multiplier_ctx_t;

  typedef struct packed {
    logic [MemoryBits-1:0] read_at;
    logic [MemoryBits-1:0] write_at;
    logic                  write;
    port_t                 value;
  } memory_ctx_t;

  typedef struct packed {logic [StreamBits-1:0] read_at;} input_ctx_t;

  typedef struct packed {
    logic [StreamBits-1:0] write_at;
    logic                  write;
    port_t                 value;
  } output_ctx_t;

  // What a bank runs with: its last context, and by how much a block moves each base.
  typedef struct packed {
    logic                   bank;
    logic [MemoryBits-1:0]  memory_stride;
    logic [StreamBits-1:0]  output_stride;
    logic [StreamBits-1:0]  input_stride;
    logic [ContextBits-1:0] last;
  } settings_t;

  // Where a word that is loaded goes. Contexts, tables and constants go to the bank that does not run.
  typedef enum logic [2:0] {
    TargetNone = 3'd0,
    // The word of the context that lane names.
    TargetContext = 3'd1,
    // Lanes by mask: odd ones take the high half, even ones the low one; or all the low half, rotated by a byte
    // for each lane.
    TargetTable = 3'd2,
    // Lane 0: into the ALUs' key memories; lane 1: into the rotators'.
    TargetConstant = 3'd3,
    TargetKey = 3'd4,
    // Words of the stream, one for each input.
    TargetInput = 3'd5,
    TargetSettings = 3'd6
  } target_e;

  typedef struct packed {
    target_e     target;
    // Of words of the stream: which of a tile's ways they are for. All else goes to all of them.
    logic        way;
    logic        rotate;
    logic [3:0]  lane;
    logic [8:0]  at;
    logic [63:0] data;
  } write_t;

";

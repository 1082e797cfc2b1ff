// SPDX-License-Identifier: Apache-2.0
//! A schedule as a picture: elements by contexts, each operation in the colour of its block.

use std::fmt::Write;

use crate::ir::graph::{Link, Op};
use crate::ir::shape::{Kind, Shape, Unit};
use crate::schedule::Schedule;
use crate::{Compiled, graph::Graph};

const CELL: usize = 34;
const ROW: usize = 18;
const LEFT: usize = 92;
const TOP: usize = 46;

/// An SVG of what every element does in every context. Blocks in flight have a colour each, the youngest the lightest.
pub fn svg(compiled: &Compiled, shape: &Shape) -> String {
    let (graph, schedule) = (&compiled.graph, &compiled.schedule);
    let units: Vec<Unit> = shape.units().collect();
    let width = LEFT + CELL * schedule.ii + 10;
    let height = TOP + ROW * units.len() + 26;
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
        out.push('\n');
    };
    line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"10\">"
    ));
    line(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"));
    let flight = schedule.in_flight(graph);
    line(format_args!(
        "<text x=\"8\" y=\"18\" font-size=\"13\">{}: {} contexts, {} slots to the result, {flight} blocks in \
         flight</text>",
        compiled.built.variant,
        schedule.ii,
        schedule.latency(graph)
    ));
    for context in 0..schedule.ii {
        let x = LEFT + CELL * context + CELL / 2;
        line(format_args!(
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{context}</text>",
            TOP - 6
        ));
    }
    for (row, unit) in units.iter().enumerate() {
        let y = TOP + ROW * row;
        line(format_args!("<text x=\"8\" y=\"{}\">{} {}</text>", y + 13, unit.kind.name(), unit.index));
        for context in 0..schedule.ii {
            let x = LEFT + CELL * context;
            let found = cell(graph, schedule, *unit, context);
            let (fill, text) = found.unwrap_or(("#f4f4f4".to_owned(), String::new()));
            line(format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
                CELL - 1,
                ROW - 1
            ));
            if !text.is_empty() {
                let middle = x + CELL / 2;
                line(format_args!(
                    "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                    y + 12
                ));
            }
        }
    }
    let y = TOP + ROW * units.len() + 16;
    for stage in 0..flight.min(schedule.ii.max(1)) {
        let x = LEFT + CELL * stage;
        let fill = colour(stage as i64);
        line(format_args!("<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{fill}\"/>", y - 9));
        line(format_args!("<text x=\"{}\" y=\"{y}\">-{stage}</text>", x + 13));
    }
    out += "</svg>\n";
    out
}

/// What an element does in a context: a colour for the block's age, and a word.
fn cell(graph: &Graph, schedule: &Schedule, unit: Unit, context: usize) -> Option<(String, String)> {
    let ii = schedule.ii as i64;
    let here = |slot: i64| slot.rem_euclid(ii) == context as i64;
    for (id, place) in schedule.places.iter().enumerate() {
        if let Some(place) = place.as_ref().filter(|place| place.unit == unit && here(place.slot)) {
            return Some((colour(place.slot / ii), word(&graph.nodes[id].op)));
        }
    }
    let store = schedule
        .stores
        .values()
        .find(|store| unit.kind == Kind::Memory && store.memory == unit.index && here(store.slot))?;
    Some((colour(store.slot / ii), "store".to_owned()))
}

/// Colours that can be told apart, in turn.
fn colour(stage: i64) -> String {
    let hue = (200 + stage * 67) % 360;
    format!("hsl({hue},65%,{}%)", 86 - 4 * (stage % 4))
}

fn word(op: &Op) -> String {
    match op {
        Op::Input(word) => format!("w{word}"),
        Op::Output(word) => format!("w{word}"),
        Op::Logic(truth) => format!("{truth:02x}"),
        Op::Sum(0) => "+".to_owned(),
        Op::Sum(_) => "−".to_owned(),
        Op::Again => "again".to_owned(),
        Op::Rotate(by) => format!("≪{by}"),
        Op::RotateBy { right: false } => "≪x".to_owned(),
        Op::RotateBy { right: true } => "≫x".to_owned(),
        Op::Shift { right: false, by } => format!("←{by}"),
        Op::Shift { right: true, by } => format!("→{by}"),
        Op::Multiply => "×".to_owned(),
        Op::Carryless(_) => "⊗".to_owned(),
        Op::Quadratic { .. } => "x(2x+1)".to_owned(),
        Op::Quad { links, .. } if links.iter().any(|link| *link != Link::Xor) => "chain".to_owned(),
        Op::Quad { .. } | Op::Lookup { .. } => "look".to_owned(),
        Op::Key(_) | Op::Const(_) | Op::Pin(_) => String::new(),
    }
}

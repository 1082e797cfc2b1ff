// SPDX-License-Identifier: Apache-2.0
//! A schedule as it is shown: what every element does when, as data or as a picture.

use std::fmt::Write;

use serde::Serialize;

use crate::Compiled;
use crate::ir::graph::{Id, Link, Op};
use crate::ir::shape::{Kind, Shape, Unit};
use crate::schedule::{Route, Schedule};

const CELL: usize = 34;
const ROW: usize = 18;
const LEFT: usize = 92;
const TOP: usize = 46;
/// Paper, idle cells and words by the reader's colours; words in a coloured cell are dark in both.
const STYLE: &str = "<style>.paper{fill:#fff}.idle{fill:#f4f4f4}text{fill:#1f2328}\
     @media(prefers-color-scheme:dark){.paper{fill:#1e2129}.idle{fill:#2a2e36}text{fill:#d7dde3}text.on{fill:#1f2328}}</style>";

/// A variant's schedule.
#[derive(Serialize)]
pub struct Drawing {
    /// The variant's name.
    pub variant: String,
    /// Slots from one block's start to the next one's.
    pub contexts: usize,
    /// Slots to the result.
    pub latency: usize,
    /// Blocks that are on their way at once.
    pub in_flight: usize,
    /// The tile's elements, in the order of the shape.
    pub elements: Vec<String>,
    /// What they do, in the order of slots.
    pub operations: Vec<Operation>,
}

/// What an element does with one block.
#[derive(Serialize)]
pub struct Operation {
    /// The number of the value that it makes, or stores.
    pub value: Id,
    /// Its place in [`Drawing::elements`].
    pub element: usize,
    /// Slots behind the block's start.
    pub slot: i64,
    /// The context that says so: the slot, modulo their number.
    pub context: usize,
    /// A word for it.
    pub what: String,
    /// The values that it takes, keys and constants included.
    pub takes: Vec<Taken>,
}

/// An operand.
#[derive(Serialize)]
pub struct Taken {
    /// The number of the value.
    pub value: Id,
    /// `key`: from the key memory; `direct`: from the network; `stored`: from the network, when a memory element shows it.
    pub by: &'static str,
}

impl Drawing {
    /// What is drawn of a set.
    pub fn new(compiled: &Compiled, shape: &Shape) -> Self {
        let (graph, schedule) = (&compiled.graph, &compiled.schedule);
        let units: Vec<Unit> = shape.units().collect();
        let at = |unit: Unit| units.iter().position(|known| *known == unit);
        let context = |slot: i64| slot.rem_euclid(schedule.ii as i64) as usize;
        let mut operations = Vec::new();
        for (value, place) in schedule.places.iter().enumerate() {
            let Some((place, element)) = place.as_ref().and_then(|place| Some((place, at(place.unit)?)))
            else {
                continue;
            };
            let node = &graph.nodes[value];
            let takes = taken(schedule, value, &node.args);
            let (slot, what) = (place.slot, word(&node.op));
            operations.push(Operation { value, element, slot, context: context(slot), what, takes });
        }
        for (value, store) in &schedule.stores {
            let unit = Unit { kind: Kind::Memory, index: store.memory };
            let Some(element) = at(unit) else { continue };
            let takes = vec![Taken { value: *value, by: "direct" }];
            let (slot, what) = (store.slot, "store".to_owned());
            operations.push(Operation { value: *value, element, slot, context: context(slot), what, takes });
        }
        operations.sort_by_key(|operation| (operation.slot, operation.element));
        Self {
            variant: compiled.built.variant.clone(),
            contexts: schedule.ii,
            latency: schedule.latency(graph),
            in_flight: schedule.in_flight(graph),
            elements: units.iter().map(|unit| format!("{} {}", unit.kind.name(), unit.index)).collect(),
            operations,
        }
    }

    /// An SVG of what every element does in every context. Blocks in flight have a colour each, the youngest the lightest.
    pub fn svg(&self) -> String {
        let width = LEFT + CELL * self.contexts + 10;
        let height = TOP + ROW * self.elements.len() + 26;
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = out.write_fmt(text);
            out.push('\n');
        };
        line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"10\">{STYLE}"
        ));
        line(format_args!("<rect width=\"{width}\" height=\"{height}\" class=\"paper\"/>"));
        line(format_args!(
            "<text x=\"8\" y=\"18\" font-size=\"13\">{}: {} contexts, {} slots to the result, {} blocks in flight</text>",
            self.variant, self.contexts, self.latency, self.in_flight
        ));
        for context in 0..self.contexts {
            let x = LEFT + CELL * context + CELL / 2;
            line(format_args!("<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{context}</text>", TOP - 6));
        }
        for (row, name) in self.elements.iter().enumerate() {
            let y = TOP + ROW * row;
            line(format_args!("<text x=\"8\" y=\"{}\">{name}</text>", y + 13));
            for context in 0..self.contexts {
                let x = LEFT + CELL * context;
                let (wide, high) = (CELL - 1, ROW - 1);
                let here = |operation: &&Operation| operation.element == row && operation.context == context;
                let Some(operation) = self.operations.iter().find(here) else {
                    line(format_args!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" class=\"idle\"/>"
                    ));
                    continue;
                };
                let fill = colour(operation.slot.div_euclid(self.contexts as i64));
                line(format_args!(
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\"/>"
                ));
                line(format_args!(
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"on\">{}</text>",
                    x + CELL / 2,
                    y + 12,
                    operation.what
                ));
            }
        }
        let y = TOP + ROW * self.elements.len() + 16;
        for stage in 0..self.in_flight.min(self.contexts.max(1)) {
            let x = LEFT + CELL * stage;
            let fill = colour(stage as i64);
            line(format_args!(
                "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{fill}\"/>",
                y - 9
            ));
            line(format_args!("<text x=\"{}\" y=\"{y}\">-{stage}</text>", x + 13));
        }
        out += "</svg>\n";
        out
    }
}

/// How the operands of a value come.
fn taken(schedule: &Schedule, value: Id, args: &[Id]) -> Vec<Taken> {
    let routes = &schedule.routes[value];
    let by = |route: &Route| match route {
        Route::Key => "key",
        Route::Direct => "direct",
        Route::Stored { .. } => "stored",
    };
    args.iter().zip(routes).map(|(value, route)| Taken { value: *value, by: by(route) }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Effort;
    use crate::{algorithms, compile};

    #[test]
    fn what_is_drawn_is_made_before_it_is_taken() {
        let shape = Shape::standard();
        let program = algorithms::program("sm4.ace").unwrap();
        let drawing =
            Drawing::new(&compile(&program, "sm4_encrypt", &shape, Effort::default()).unwrap(), &shape);
        let of = |kind: &str| -> Vec<&Operation> {
            drawing.operations.iter().filter(|one| drawing.elements[one.element].starts_with(kind)).collect()
        };
        // Four words out, and a look-up for each of 32 rounds; the last results are outputs.
        assert_eq!((of("output").len(), of("quad").len()), (4, 32));
        for operation in &drawing.operations {
            assert_eq!(operation.context as i64, operation.slot.rem_euclid(drawing.contexts as i64));
            for taken in operation.takes.iter().filter(|taken| taken.by != "key") {
                let made = |one: &&Operation| one.value == taken.value && one.what != "store";
                let source = drawing.operations.iter().find(made).expect("it is made");
                assert!(source.slot < operation.slot, "value {} before it is there", taken.value);
            }
        }
        let (text, cells) = (drawing.svg(), drawing.contexts * drawing.elements.len());
        assert_eq!(text.matches("<rect ").count(), 1 + cells + drawing.in_flight);
        assert_eq!(text.matches("class=\"idle\"").count(), cells - drawing.operations.len());
    }
}

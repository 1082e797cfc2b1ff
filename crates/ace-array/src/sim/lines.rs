// SPDX-License-Identifier: Apache-2.0
//! The lines of a trace.

use std::fmt::Write as _;

use super::tile::Clock;
use crate::codegen::set::{Target, Write};
use crate::ir::shape::Shape;

/// Lines of a trace, with the number of words that each shows in front.
pub struct Trace {
    /// A line with a number, and then a line a clock.
    pub text: String,
}

impl Trace {
    /// A trace without clocks: the number of words that each of its lines shows.
    pub fn new(shape: &Shape) -> Trace {
        Trace { text: format!("{}\n", shape.sources() + shape.outputs) }
    }

    /// What goes in with a clock, and what is seen before its edge.
    pub fn line(&mut self, write: Option<Write>, key_base: usize, read_at: usize, seen: &Clock) {
        let idle = Write { target: Target::Context, rotate: false, lane: 0, at: 0, data: 0 };
        let (target, with) = write.map_or((0, idle), |write| (write.target as u8, write));
        let _ = write!(
            self.text,
            "{target} {} {} {} {:x} {key_base} {read_at} {}",
            u8::from(with.rotate),
            with.lane,
            with.at,
            with.data,
            u8::from(seen.start)
        );
        for word in seen.sources.iter().chain(&seen.words) {
            let _ = write!(self.text, " {word:08x}");
        }
        self.text.push('\n');
    }
}

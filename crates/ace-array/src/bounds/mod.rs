// SPDX-License-Identifier: Apache-2.0
//! What a set may reach: its own block's words, its own key, its own constants and tables, and what it has itself computed
//! of those since the block began. docs/array-sets.md, "What a set may reach", says it in words.
//!
//! A set runs for ever, one block an interval behind the other, so that one block stands for all of them. From the words of
//! its result [`check`] goes back through everything that they are made of, slot by slot: block 0 begins in slot 0, and in
//! slot `t` the youngest block is `t / contexts`. Whatever is asked in a slot before 0 was said by a block before, or by the
//! set that ran before; whatever address is not one of block 0 belongs to another block.

mod refusal;

use std::collections::HashSet;

use crate::codegen::set::Set;
use crate::ir::layout::{self, Context, Field, Fields, Layout};
use crate::ir::shape::{Kind, Shape, Unit, latency, starts_ahead};

pub use refusal::{Beyond, Place, Refusal, Why};

/// Bits of a set's header that the slot keeps (`set_t` of rtl/array/array_front_pkg.sv): more it would take for less.
const INPUT_WORDS: u32 = 6;
const LATENCY: u32 = 12;

/// Refuses a set that reaches for anything but its own block, key, constants, tables and what it has computed of them.
///
/// # Errors
/// The first place where it does.
pub fn check(set: &Set, shape: &Shape) -> Result<(), Refusal> {
    let most = |what, value: usize, most: usize| match value <= most {
        true => Ok(()),
        false => Err(Refusal::Header { what, value, most }),
    };
    most("words of a block", set.input_words.into(), (1 << INPUT_WORDS) - 1)?;
    most("slots of latency", set.latency.into(), (1 << LATENCY) - 1)?;
    let layout = Layout::of(shape);
    Walk::new(set, shape, &layout).all().map_err(Refusal::Beyond)
}

/// A write that a context says: its number, and the address that is in it.
type Written = (usize, i64);

struct Walk<'a> {
    set: &'a Set,
    shape: &'a Shape,
    layout: &'a Layout,
    ii: i64,
    /// By memory element and by output, what contexts write there.
    stores: Vec<Vec<Written>>,
    outputs: Vec<Vec<Written>>,
    /// Stores that something is made of.
    needed: HashSet<(usize, usize)>,
    /// Results of elements that are to be looked at, by the source's number and the slot in which the network shows them.
    open: Vec<(usize, i64)>,
    known: HashSet<(usize, i64)>,
}

impl<'a> Walk<'a> {
    fn new(set: &'a Set, shape: &'a Shape, layout: &'a Layout) -> Self {
        let written = |kind: Kind| {
            let of = layout.all().iter().filter(|(unit, _)| unit.kind == kind);
            let writes = |fields: &Fields| {
                let (write, at) = fields.write.zip(fields.write_address)?;
                let contexts = set.contexts.iter().enumerate();
                let writing = contexts.filter(|(_, context)| context.get(write) == 1);
                Some(writing.map(|(number, context)| (number, context.get(at) as i64)).collect())
            };
            of.map(|(_, fields)| writes(fields).unwrap_or_default()).collect()
        };
        Walk {
            set,
            shape,
            layout,
            ii: set.contexts.len().max(1) as i64,
            stores: written(Kind::Memory),
            outputs: written(Kind::Output),
            needed: HashSet::new(),
            open: Vec::new(),
            known: HashSet::new(),
        }
    }

    fn all(mut self) -> Result<(), Beyond> {
        self.keys()?;
        for slot in self.results()? {
            self.port(slot.0, 0, slot.1)?;
        }
        while let Some((source, shown)) = self.open.pop() {
            self.result(source, shown)?;
        }
        for (index, stores) in self.stores.iter().enumerate() {
            if let Some((context, at)) = stores.iter().find(|(at, _)| !self.needed.contains(&(index, *at))) {
                let element = Unit { kind: Kind::Memory, index };
                let place = Place::Address(*at as usize);
                return Err(Beyond { context: Some(*context), element, place, why: Why::Unneeded });
            }
        }
        Ok(())
    }

    fn context(&self, slot: i64) -> &'a Context {
        &self.set.contexts[slot.rem_euclid(self.ii) as usize]
    }

    fn get(&self, slot: i64, field: Option<Field>) -> i64 {
        field.map_or(0, |field| self.context(slot).get(field) as i64)
    }

    fn beyond(&self, slot: i64, element: Unit, place: Place, why: Why) -> Beyond {
        Beyond { context: Some(slot.rem_euclid(self.ii) as usize), element, place, why }
    }

    /// What is asked in a slot before the block's first one others have said.
    fn own(&self, slot: i64, element: Unit, place: Place) -> Result<(), Beyond> {
        if slot >= 0 { Ok(()) } else { Err(self.beyond(slot, element, place, Why::Before(slot))) }
    }

    /// Every word of a key and every constant that a context takes is one that the set has, whoever wants it.
    fn keys(&self) -> Result<(), Beyond> {
        for (slot, context) in (0..).zip(&self.set.contexts) {
            for (unit, fields) in self.layout.all() {
                let Some([word, _, constant, used]) = fields.key else { continue };
                let word = context.get(word) as usize;
                let (place, why, room) = match context.get(constant) {
                    0 => {
                        let declared = usize::from(self.set.key_words);
                        (Place::Key(word), Why::BeyondKey(declared), declared)
                    }
                    _ => {
                        let there = self.set.constants[Shape::constants_of(unit.kind)].len();
                        (Place::Constant(word), Why::NoConstant(there), there)
                    }
                };
                // A multiplier takes it some contexts later.
                let later = self.shape.units().any(|of| {
                    of != *unit
                        && self.shape.key_of(of) == Some(*unit)
                        && self.multiplies_key(of, slot + latency::KEY_LEAD as i64)
                });
                if (context.get(used) == 1 || later) && word >= room {
                    return Err(self.beyond(slot, *unit, place, why));
                }
            }
        }
        Ok(())
    }

    /// Whether a multiplier's second factor is a key memory's word.
    fn multiplies_key(&self, multiplier: Unit, slot: i64) -> bool {
        self.get(slot, self.layout.fields(multiplier).op) as u64 & layout::MULTIPLY_KEY != 0
    }

    /// The writes that make the block's result, as output and slot; and nothing else is written into results.
    fn results(&self) -> Result<Vec<(Unit, i64)>, Beyond> {
        let rows = self.set.output_stride(self.shape) as i64;
        let latency = i64::from(self.set.latency);
        // An interval is long enough to read it: two clocks a row and six more (rtl/array/array_return.sv).
        let read = latency + self.ii;
        let words = self.shape.stream_words as i64;
        let (mut found, mut missing) = (Vec::new(), None);
        for word in 0..usize::from(self.set.output_words) {
            let (index, row) = (word % self.shape.outputs, (word / self.shape.outputs) as i64);
            let element = Unit { kind: Kind::Output, index };
            let there = latency::OUTPUT as i64;
            let mut own: Option<(i64, i64)> = None;
            let mut over: Option<(i64, i64)> = None;
            for (context, at) in &self.outputs[index] {
                let mut slot = *context as i64;
                while slot + there <= read {
                    if (at + slot / self.ii * rows - row).rem_euclid(words) == 0 {
                        let wins = |best: &Option<(i64, i64)>, later: bool| {
                            best.is_none_or(|(other, _)| if later { slot > other } else { slot < other })
                        };
                        match slot + there <= latency {
                            true if wins(&own, true) => own = Some((slot, *at)),
                            false if wins(&over, false) => over = Some((slot, *at)),
                            _ => {}
                        }
                    }
                    slot += self.ii;
                }
            }
            match (own, over) {
                (None, _) => {
                    let why = Why::NoOutput { word, latency: self.set.latency.into() };
                    let place = Place::Address(row as usize);
                    missing = missing.or(Some(Beyond { context: None, element, place, why }));
                }
                (_, Some((slot, at))) => {
                    let why = Why::OutputOver { word, slot: slot + there };
                    return Err(self.beyond(slot, element, Place::Address(at as usize), why));
                }
                (Some((slot, _)), None) => found.push((element, slot)),
            }
        }
        for (index, writes) in self.outputs.iter().enumerate() {
            let element = Unit { kind: Kind::Output, index };
            for (context, at) in writes {
                let is = |(unit, slot): &(Unit, i64)| {
                    *unit == element && slot.rem_euclid(self.ii) == *context as i64
                };
                if !found.iter().any(is) {
                    let place = Place::Address(*at as usize);
                    return Err(self.beyond(*context as i64, element, place, Why::OtherOutput));
                }
            }
        }
        missing.map_or(Ok(found), Err)
    }

    /// What an element's port reads in a slot, which it has taken from the network before.
    fn port(&mut self, element: Unit, port: usize, slot: i64) -> Result<(), Beyond> {
        self.own(slot, element, Place::Port(port))?;
        let fields = self.layout.fields(element);
        let reach = self.shape.reach(element.kind, port) as i64;
        let delay = self.get(slot, fields.delay.get(port).copied()) & (reach - 1);
        let taken = slot - latency::HOP as i64 - delay;
        if taken < 0 {
            // The delay says so, which stands in the later context.
            return Err(self.beyond(slot, element, Place::Port(port), Why::Before(taken)));
        }
        let source = self.get(taken, fields.select.get(port).copied()) as usize;
        // Beyond the last source there is zero.
        if source < self.shape.sources() && self.known.insert((source, taken)) {
            self.open.push((source, taken));
        }
        Ok(())
    }

    /// What an element's last port reads, or the word of its key memory that comes instead.
    fn port_or_key(&mut self, element: Unit, port: usize, slot: i64) -> Result<(), Beyond> {
        let fields = self.shape.key_of(element).and_then(|memory| self.layout.fields(memory).key);
        let Some([word, stage, constant, used]) = fields else {
            return self.port(element, port, slot);
        };
        let asked = slot - latency::KEY_LEAD as i64;
        self.own(asked, element, Place::Port(port))?;
        let takes = match element.kind {
            Kind::Multiplier => self.multiplies_key(element, slot),
            _ => self.get(asked, Some(used)) == 1,
        };
        if !takes {
            return self.port(element, port, slot);
        }
        if self.get(asked, Some(constant)) == 1 {
            return Ok(());
        }
        let place = Place::Key(self.get(asked, Some(word)) as usize);
        let (stage, age) = (self.get(asked, Some(stage)), asked / self.ii);
        let why = match (age < self.shape.stages as i64, stage == age) {
            (false, _) => Why::LateKey { age, stages: self.shape.stages },
            (_, false) => Why::OtherKey { asked: stage as usize, age },
            _ => return Ok(()),
        };
        Err(self.beyond(asked, element, place, why))
    }

    /// What the result is made of that a source shows in a slot.
    fn result(&mut self, source: usize, shown: i64) -> Result<(), Beyond> {
        // Sources are the elements in the layout's order, of which outputs are the last.
        let (element, fields) = &self.layout.all()[source];
        let (element, op) = (*element, fields.op);
        let issue = |clocks: usize| shown - clocks as i64;
        match element.kind {
            Kind::Alu => {
                let slot = issue(latency::ALU);
                self.own(slot, element, Place::Operation)?;
                let (op, last) = (self.get(slot, op) as u64, self.shape.alu_operands - 1);
                for port in (0..=last).filter(|port| alu_reads(op, *port, last)) {
                    match port == last {
                        true => self.port_or_key(element, port, slot)?,
                        false => self.port(element, port, slot)?,
                    }
                }
                Ok(())
            }
            Kind::Rotator => {
                let slot = issue(latency::ROTATOR);
                self.port(element, 0, slot)?;
                match self.get(slot, op) as u64 & layout::ROTATE_CONSTANT {
                    0 => self.port_or_key(element, 1, slot),
                    _ => Ok(()),
                }
            }
            Kind::Quad => self.quad(element, op, shown),
            Kind::Multiplier => {
                let slot = issue(latency::MULTIPLIER);
                self.port(element, 0, slot)?;
                match self.get(slot, op) as u64 & layout::MULTIPLY_QUADRATIC {
                    0 => self.port_or_key(element, 1, slot),
                    _ => Ok(()),
                }
            }
            Kind::Memory => self.stored(element, fields, issue(latency::READ)),
            Kind::Input => self.input(element, fields, issue(latency::READ)),
            Kind::Output => Ok(()),
        }
    }

    /// Four look-ups. Those of a chain come two slots later, and are shown instead of what began then.
    fn quad(&mut self, element: Unit, op: Option<Field>, shown: i64) -> Result<(), Beyond> {
        let chain = shown - latency::QUAD_CHAIN as i64;
        self.own(chain, element, Place::Operation)?;
        let chained = self.get(chain, op) >> layout::QUAD_OPS != 0;
        let slot = if chained { chain } else { shown - latency::QUAD as i64 };
        let op = self.get(slot, op);
        for lane in (0..4).filter(|lane| chained || op >> lane & 1 == 0) {
            let page = (op >> (layout::QUAD_PAGE + lane) & 1) as usize;
            let why = match self.set.tables[lane][page].len() {
                0 => Some(Why::NoTable),
                64 if op >> layout::QUAD_SIX & 1 == 0 => Some(Why::ShortTable),
                _ => None,
            };
            if let Some(why) = why {
                return Err(self.beyond(slot, element, Place::Table { lane, page }, why));
            }
            self.port(element, lane, slot)?;
        }
        Ok(())
    }

    /// A word of the block, which is there from its start on.
    fn input(&self, element: Unit, fields: &Fields, slot: i64) -> Result<(), Beyond> {
        let at = self.get(slot, fields.read_address);
        let place = Place::Address(at as usize);
        self.own(slot, element, place)?;
        let rows = self.set.input_stride(self.shape) as i64;
        let all = self.shape.stream_words as i64;
        let row = (at + slot / self.ii * rows).rem_euclid(all);
        let words = usize::from(self.set.input_words);
        if row as usize * self.shape.inputs + element.index >= words {
            return Err(self.beyond(slot, element, place, Why::OtherInput { slot, words }));
        }
        // Of those that may be written by then, one whose words come round to the same place.
        let ahead = starts_ahead(rows as usize, self.ii as usize) as i64;
        let later = (1..=slot / self.ii + ahead).find(|later| (row - later * rows).rem_euclid(all) < rows);
        match later {
            Some(later) => Err(self.beyond(slot, element, place, Why::LateInput { slot, later })),
            None => Ok(()),
        }
    }

    /// A word of a memory element: what the block itself has stored there last.
    fn stored(&mut self, element: Unit, fields: &Fields, slot: i64) -> Result<(), Beyond> {
        let at = self.get(slot, fields.read_address);
        let place = Place::Address(at as usize);
        self.own(slot, element, place)?;
        let (stride, all) = (i64::from(self.set.memory_stride), self.shape.memory_words as i64);
        let word = |slot: i64, at: i64| (at + slot / self.ii * stride).rem_euclid(all);
        let read = word(slot, at);
        let mut found: Option<(i64, i64)> = None;
        for (context, at) in &self.stores[element.index] {
            let first = *context as i64;
            // The last time that the context ran before the read, and the ones before that.
            let mut stored = first + (slot - 1 - first).div_euclid(self.ii) * self.ii;
            while stored >= 0 && found.is_none_or(|(last, _)| stored > last) {
                if word(stored, *at) == read {
                    found = Some((stored, *at));
                }
                stored -= self.ii;
            }
        }
        let Some((stored, at)) = found else {
            return Err(self.beyond(slot, element, place, Why::NotStored(slot)));
        };
        if stored + (latency::STORE as i64) > slot {
            return Err(self.beyond(slot, element, place, Why::StoredMeanwhile(slot)));
        }
        let declared = stride as usize;
        if read >= stride {
            let why = Why::BeyondMemory { word: read as usize, declared };
            return Err(self.beyond(stored, element, Place::Address(at as usize), why));
        }
        self.needed.insert((element.index, stored.rem_euclid(self.ii) as usize));
        self.port(element, 0, stored)
    }
}

/// Whether an ALU's result has to do with what a port reads. A sum leaves operands out, a bit function some that do not matter.
fn alu_reads(op: u64, port: usize, last: usize) -> bool {
    if op & layout::ALU_SUM != 0 {
        let out = (port == last && op & layout::SUM_WITHOUT_LAST != 0)
            || (port == 0 && last > 1 && op & layout::SUM_WITHOUT_FIRST != 0);
        return !out;
    }
    // Of an ALU with two operands the third is zero.
    (0..2u64 << last).any(|row| (op >> row & 1) != (op >> (row ^ 1 << port) & 1))
}

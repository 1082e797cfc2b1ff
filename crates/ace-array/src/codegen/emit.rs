// SPDX-License-Identifier: Apache-2.0
//! A schedule as a context set.

use crate::Error;
use crate::codegen::set::{LANES, PAGES, Set};
use crate::error::Misfit;
use crate::frontend::Built;
use crate::ir::graph::{Graph, Id, Link, Op};
use crate::ir::layout::{self, Context, Field, Layout};
use crate::ir::shape::{Kind, Shape, Unit, latency};
use crate::schedule::{Place, Route, Schedule};

struct Emitter<'a> {
    graph: &'a Graph,
    shape: &'a Shape,
    schedule: &'a Schedule,
    layout: Layout,
    contexts: Vec<Context>,
    constants: [Vec<u32>; 2],
    tables: [[Vec<u32>; PAGES]; LANES],
    /// By lane, the tables that its pages hold.
    pages: [Vec<usize>; LANES],
}

/// Emits a schedule of `graph`, which the passes made of what was built.
pub fn emit(built: &Built, graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<Set, Error> {
    let layout = Layout::of(shape);
    let mut emitter = Emitter {
        graph,
        shape,
        schedule,
        contexts: vec![Context::new(&layout); schedule.ii],
        layout,
        constants: Default::default(),
        tables: Default::default(),
        pages: Default::default(),
    };
    emitter.pages();
    for (id, place) in schedule.places.iter().enumerate() {
        if let Some(place) = place {
            emitter.operation(id, place)?;
        }
    }
    emitter.stores()?;
    let small = |value: usize, what: &str| {
        u16::try_from(value).map_err(|_| Misfit::of_all(format!("{value} {what} are too many")))
    };
    Ok(Set {
        version: shape.version(),
        algorithm: built.code,
        decrypt: built.decrypt,
        keys: built.keys,
        latency: small(schedule.latency(graph), "slots of latency")?,
        input: built.input,
        output: built.output,
        input_words: graph.inputs as u8,
        output_words: graph.outputs.len() as u8,
        key_words: small(graph.keys, "words of a key")?,
        memory_stride: small(schedule.memory_stride(shape), "stored values")?,
        constants: emitter.constants,
        contexts: emitter.contexts,
        tables: emitter.tables,
        chain: built.chain.clone(),
    })
}

impl Emitter<'_> {
    /// Gives every table that a lane looks up a page of it, the first one that is used the first page.
    fn pages(&mut self) {
        for node in &self.graph.nodes {
            let Op::Quad { lanes, .. } = &node.op else { continue };
            for (lane, table) in lanes {
                if !self.pages[*lane].contains(table) {
                    self.pages[*lane].push(*table);
                }
            }
        }
        for (lane, pages) in self.pages.iter_mut().enumerate() {
            // Lanes that have the same tables have them on the same pages then, and are sent them once.
            if self.graph.setup {
                pages.sort_unstable();
            }
            for (page, table) in pages.iter().enumerate() {
                self.tables[lane][page].clone_from(&self.graph.tables[*table].words);
            }
        }
    }

    fn put(&mut self, slot: i64, field: Field, value: u64) {
        let at = slot.rem_euclid(self.schedule.ii as i64) as usize;
        // Two operands of one value say the same twice.
        if self.contexts[at].get(field) != value {
            self.contexts[at].put(field, value);
        }
    }

    fn stage(&self, slot: i64) -> i64 {
        slot.div_euclid(self.schedule.ii as i64)
    }

    /// An address of the block that is so many stages old, as the youngest block's base sees it.
    fn address(&self, offset: usize, slot: i64, stride: usize, words: usize) -> u64 {
        (offset as i64 - self.stage(slot) * stride as i64).rem_euclid(words as i64) as u64
    }

    fn operation(&mut self, id: Id, place: &Place) -> Result<(), Error> {
        let node = &self.graph.nodes[id];
        let fields = self.layout.fields(place.unit).clone();
        let op = fields.op;
        let write_op = |emitter: &mut Self, value: u64| {
            if let Some(field) = op {
                emitter.put(place.slot, field, value);
            }
        };
        let keyed = node.args.iter().any(|arg| self.graph.is_key(*arg));
        let keyed = if keyed { layout::MULTIPLY_KEY } else { 0 };
        match &node.op {
            Op::Logic(truth) => write_op(self, u64::from(ported(*truth, &place.ports))),
            Op::Sum(minus) => {
                let last = self.shape.alu_operands - 1;
                let negative = |port: usize| {
                    place.ports.iter().position(|of| *of == port).is_some_and(|at| minus >> at & 1 == 1)
                };
                let missing = |port: usize| !place.ports.contains(&port);
                let mut value = layout::ALU_SUM;
                value |= if negative(last - 1) { layout::SUM_MINUS_INNER } else { 0 };
                value |= if negative(last) { layout::SUM_MINUS_LAST } else { 0 };
                value |= if missing(last) { layout::SUM_WITHOUT_LAST } else { 0 };
                value |= if last > 1 && missing(0) { layout::SUM_WITHOUT_FIRST } else { 0 };
                write_op(self, value);
            }
            Op::Again => write_op(self, layout::ROTATE_CONSTANT),
            Op::Rotate(by) => {
                write_op(self, layout::ROTATE_CONSTANT);
                self.put(place.slot, fields.delay[1], u64::from(*by));
            }
            Op::Shift { right, by } => {
                let side = if *right { layout::ROTATE_RIGHT } else { 0 };
                write_op(self, layout::ROTATE_CONSTANT | layout::ROTATE_SHIFT | side);
                self.put(place.slot, fields.delay[1], u64::from(if *right { 32 - by } else { *by }));
            }
            Op::RotateBy { right } => write_op(self, if *right { layout::ROTATE_RIGHT } else { 0 }),
            Op::Multiply => write_op(self, keyed),
            Op::Carryless(half) => {
                let (low, high) = half.has();
                let bits = |is: bool, bit: u64| if is { bit } else { 0 };
                write_op(self, keyed | bits(low, layout::MULTIPLY_LOW) | bits(high, layout::MULTIPLY_HIGH));
            }
            Op::Quadratic { rotate } => {
                let turn = if *rotate { layout::MULTIPLY_ROTATE } else { 0 };
                write_op(self, layout::MULTIPLY_QUADRATIC | turn);
            }
            Op::Quad { lanes, links, six } => {
                let mut value = 0b1111 | u64::from(*six) << layout::QUAD_SIX;
                for (at, (lane, table)) in lanes.iter().enumerate() {
                    value &= !(1 << lane);
                    let page = self.pages[*lane].iter().position(|of| of == table).unwrap_or(0);
                    value |= (page as u64) << (layout::QUAD_PAGE + lane);
                    let link = match links.get(at.wrapping_sub(1)) {
                        Some(Link::Plus) => 2,
                        Some(Link::Minus) => 3,
                        _ => 0,
                    };
                    value |= if at > 0 { link << (layout::QUAD_OPS + 2 * lane) } else { 0 };
                }
                write_op(self, value);
            }
            Op::Input(word) => {
                let stride = self.graph.inputs.div_ceil(self.shape.inputs);
                let at = self.address(word / self.shape.inputs, place.slot, stride, self.shape.stream_words);
                if let Some(field) = fields.read_address {
                    self.put(place.slot, field, at);
                }
            }
            Op::Output(word) => {
                let stride = self.graph.outputs.len().div_ceil(self.shape.outputs);
                let at = self.address(word / self.shape.outputs, place.slot, stride, self.shape.stream_words);
                if let (Some(write), Some(field)) = (fields.write, fields.write_address) {
                    self.put(place.slot, write, 1);
                    self.put(place.slot, field, at);
                }
            }
            Op::Key(_) | Op::Const(_) | Op::Lookup { .. } | Op::Pin(_) => {}
        }
        for at in 0..node.args.len() {
            self.operand(id, at, place)?;
        }
        Ok(())
    }

    fn operand(&mut self, id: Id, at: usize, place: &Place) -> Result<(), Error> {
        let arg = self.graph.nodes[id].args[at];
        let fields = self.layout.fields(place.unit).clone();
        let port = place.ports[at];
        let from = match self.schedule.routes[id][at] {
            Route::Key => {
                let slot = place.slot - latency::KEY_LEAD as i64;
                let (word, constant) = match self.graph.nodes[arg].op {
                    Op::Const(value) => (self.constant(place.unit.kind, value), 1),
                    Op::Key(word) => (word, 0),
                    _ => {
                        return Err(Error::Schedule(format!(
                            "operand {at} of operation {id} is no key's word"
                        )));
                    }
                };
                let memory = self.shape.key_of(place.unit);
                let fields = memory.and_then(|memory| self.layout.fields(memory).key);
                if let Some([offset, stage, is_constant, used]) = fields {
                    self.put(slot, offset, word as u64);
                    let age = if constant == 1 { 0 } else { self.stage(slot) as u64 };
                    self.put(slot, stage, age);
                    self.put(slot, is_constant, constant);
                    // Of a multiplier its operation says that.
                    self.put(slot, used, u64::from(memory == Some(place.unit)));
                }
                return Ok(());
            }
            Route::Direct => self.schedule.places[arg].as_ref().map(|from| from.unit),
            Route::Stored { .. } => {
                self.schedule.stores.get(&arg).map(|store| Unit { kind: Kind::Memory, index: store.memory })
            }
        };
        let from = from.ok_or_else(|| Error::Schedule(format!("value {arg} comes from nowhere")))?;
        let taken = self.schedule.taken(self.graph, id, at);
        self.put(taken, fields.select[port], self.shape.source(from) as u64);
        self.put(place.slot, fields.delay[port], (place.slot - taken - latency::HOP as i64) as u64);
        Ok(())
    }

    fn constant(&mut self, kind: Kind, value: u32) -> usize {
        let constants = &mut self.constants[Shape::constants_of(kind)];
        constants.iter().position(|known| *known == value).unwrap_or_else(|| {
            constants.push(value);
            constants.len() - 1
        })
    }

    /// The stores, and the reads of what was stored.
    fn stores(&mut self) -> Result<(), Error> {
        let stride = self.schedule.memory_stride(self.shape);
        for memory in 0..self.shape.memories {
            let unit = Unit { kind: Kind::Memory, index: memory };
            let fields = self.layout.fields(unit).clone();
            for (value, offset) in self.schedule.stored(memory) {
                let store = self.schedule.stores[&value];
                let visible = self.schedule.visible(self.graph, value);
                let place = self.schedule.places[value].as_ref();
                let from = place.ok_or_else(|| Error::Schedule(format!("value {value} is nowhere")))?.unit;
                self.put(visible, fields.select[0], self.shape.source(from) as u64);
                self.put(store.slot, fields.delay[0], (store.slot - visible - latency::HOP as i64) as u64);
                let at = self.address(offset, store.slot, stride, self.shape.memory_words);
                if let (Some(write), Some(write_at), Some(read_at)) =
                    (fields.write, fields.write_address, fields.read_address)
                {
                    self.put(store.slot, write, 1);
                    self.put(store.slot, write_at, at);
                    for (id, node) in self.graph.nodes.iter().enumerate() {
                        for (arg, route) in node.args.iter().zip(&self.schedule.routes[id]) {
                            if let (true, Route::Stored { slot }) = (*arg == value, route) {
                                let issue = slot - latency::READ as i64;
                                let at = self.address(offset, issue, stride, self.shape.memory_words);
                                self.put(issue, read_at, at);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// A truth table by arguments as one by ports.
fn ported(truth: u8, ports: &[usize]) -> u8 {
    (0..8u8).fold(0, |out, row| {
        let at = ports.iter().enumerate().fold(0, |at, (arg, port)| at | (row >> port & 1) << arg);
        out | (truth >> at & 1) << row
    })
}

// SPDX-License-Identifier: Apache-2.0
//! What a schedule is, and what of it follows from it.

use std::collections::BTreeMap;

use crate::aead;
use crate::error::Misfit;
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::starts_ahead;
use crate::ir::shape::{Kind, Shape, Unit, latency};
use crate::passes::latency_of;

/// Where an operation is done: its slot counts from the block's start, `ports[i]` is the port of argument `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The slot of its issue.
    pub slot: i64,
    /// The element that does it.
    pub unit: Unit,
    /// By argument: the operand port that takes it.
    pub ports: Vec<usize>,
}

/// How an operand comes to its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// From the key memory beside the port.
    Key,
    /// Taken from the network in the value's first slot, and kept in the delay line.
    Direct,
    /// Read again from the memory element that stored the value; `slot` is the first one of what is read.
    Stored {
        /// The slot in which the value can be taken from the network again.
        slot: i64,
    },
}

/// A value that a memory element keeps: the slot of the store's issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The memory element's number.
    pub memory: usize,
    /// The slot of the store's issue, from the block's start.
    pub slot: i64,
}

/// Where and when a graph's operations are done. [`check`](super::check()) says whether it is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The initiation interval: slots from one block's start to the next one's.
    pub ii: usize,
    /// By node; keys and constants have none.
    pub places: Vec<Option<Place>>,
    /// By node and argument.
    pub routes: Vec<Vec<Route>>,
    /// The values that memory elements keep, by node.
    pub stores: BTreeMap<Id, Store>,
    /// The addresses of these, where some share one that are not there at the same time. If it is empty, they lie in the
    /// order of their nodes.
    pub shared: BTreeMap<Id, usize>,
}

/// Clocks from a result in the tile to the start of the packet's next block in the slot, if that were there at once: the
/// lane's turn, and the words of the block into the tile (`rtl/array`: `array_return`, `array_turn`, `array_issue`). The slot
/// reads what the block waits for as late as it can, and calls it as much earlier.
fn around(inputs: usize, outputs: usize) -> usize {
    let (all, before) = reads(inputs, outputs);
    16 + 2 * all.saturating_sub(before)
}

/// The kind of element that does an operation.
pub fn kind_of(op: &Op) -> Option<Kind> {
    Some(match op {
        Op::Key(_) | Op::Const(_) | Op::Pin(_) => return None,
        Op::Input(_) => Kind::Input,
        Op::Logic(_) | Op::Sum(_) => Kind::Alu,
        Op::Again | Op::Rotate(_) | Op::RotateBy { .. } | Op::Shift { .. } => Kind::Rotator,
        Op::Multiply | Op::Carryless(_) | Op::Quadratic { .. } => Kind::Multiplier,
        Op::Lookup { .. } | Op::Quad { .. } => Kind::Quad,
        Op::Output(_) => Kind::Output,
    })
}

/// Operations of each kind, in the order of [`Kind::ALL`].
pub fn counts(graph: &Graph) -> [usize; 7] {
    let mut out = [0; 7];
    for kind in graph.nodes.iter().filter_map(|node| kind_of(&node.op)) {
        out[kind as usize] += 1;
    }
    out
}

/// The least initiation interval that the numbers of elements allow, and the slot that brings words, and the kind that
/// says so.
pub fn bound(graph: &Graph, shape: &Shape) -> (usize, Kind) {
    let counts = counts(graph);
    let mut least = (1, Kind::Alu);
    for kind in Kind::ALL {
        let count = if matches!(kind, Kind::Input | Kind::Output) {
            // A word's element is that of its number.
            let all = shape.count(kind);
            let of = |unit: usize| {
                let word = |op: &Op| match op {
                    Op::Input(word) if kind == Kind::Input => Some(*word),
                    Op::Output(word) if kind == Kind::Output => Some(*word),
                    _ => None,
                };
                graph.nodes.iter().filter_map(|node| word(&node.op)).filter(|word| word % all == unit).count()
            };
            (0..all).map(of).max().unwrap_or(0)
        } else {
            counts[kind as usize].div_ceil(shape.count(kind).max(1))
        };
        if count > least.0 {
            least = (count, kind);
        }
    }
    let words = match graph.setup {
        true => fetched_in(graph.outputs.len()),
        false => words_in(graph.inputs, graph.outputs.len()),
    };
    if words > least.0 { (words, Kind::Input) } else { least }
}

/// From a block's last word in the tile to the end of what the slot does with it, at most (rtl/array/array_front_pkg.sv).
const FLIGHT_CLOCKS: usize = 64;

/// Ways of a tile, each of which may begin a block at a start (rtl/array/array_front_pkg.sv, `WaysMost`).
const WAYS: usize = 2;

/// Beats that the front end reads of its memories for a block, and those of them that it reads before what the block waits
/// for: of a cipher the block and its masks, of a hash the message and the state, of an AEAD counter, text, mask and sum.
fn reads(inputs: usize, outputs: usize) -> (usize, usize) {
    match (inputs, outputs) {
        (aead::IN, aead::OUT) => (8, 6),
        (inputs, outputs) if inputs == outputs + 16 => (8 + outputs.div_ceil(2), 8),
        _ => (inputs, 1),
    }
}

/// Clocks in which the slot brings a block's words into each way of a tile (`array_loader` refuses sets with less). Of words
/// that are neither a cipher's nor an AEAD's nor a hash's no slot takes a set.
fn words_in(inputs: usize, outputs: usize) -> usize {
    if matches!((inputs, outputs), (2, 2) | (4, 4) | (aead::IN, aead::OUT)) || inputs == outputs + 16 {
        return WAYS * (2 * reads(inputs, outputs).0 + 4);
    }
    1
}

/// Slots from a raw key to its last word at most: the front end counts them in twelve bits.
const SETUP_LATENCY: usize = 4000;

/// Clocks in which the front end fetches an expanded key: two words in two clocks, and the way there.
fn fetched_in(words: usize) -> usize {
    2 * words.div_ceil(2) + 8
}

/// What the front end cannot do with a set that sets keys up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("a raw key of {0} words")]
    RawKey(usize),
    #[error("{words} words of a key are fetched in {} clocks, not {ii}", fetched_in(*.words))]
    Interval { words: usize, ii: usize },
    #[error("a key is set up in {0} slots, of {SETUP_LATENCY} at most")]
    Latency(usize),
}

/// Whether the front end can do with a set that sets keys up, of so many words in and out.
pub(crate) fn sets_up(
    (inputs, outputs): (usize, usize),
    ii: usize,
    latency: usize,
) -> Result<(), SetupError> {
    if !matches!(inputs, 2 | 4 | 6 | 8) {
        return Err(SetupError::RawKey(inputs));
    }
    if ii < fetched_in(outputs) {
        return Err(SetupError::Interval { words: outputs, ii });
    }
    if latency > SETUP_LATENCY {
        return Err(SetupError::Latency(latency));
    }
    Ok(())
}

/// Ports that each argument of an operation may have, one choice a line: those that an ALU may exchange.
pub fn port_choices(graph: &Graph, id: Id, shape: &Shape) -> Vec<Vec<usize>> {
    let node = &graph.nodes[id];
    let last = shape.alu_operands - 1;
    match &node.op {
        Op::Logic(_) | Op::Sum(_) => {
            let minus = if let Op::Sum(minus) = node.op { Some(minus) } else { None };
            let mut out = Vec::new();
            for choice in choices(node.args.len(), shape.alu_operands) {
                let fits = choice.iter().enumerate().all(|(at, port)| {
                    let key = graph.is_key(node.args[at]);
                    let negative = minus.is_some_and(|mask| mask >> at & 1 == 1);
                    (!key || *port == last) && (!negative || *port + 2 >= shape.alu_operands)
                });
                // A sum leaves out the first or the last operand, no other one.
                let inner = (1..last).all(|port| choice.contains(&port));
                if fits && (minus.is_none() || inner) {
                    out.push(choice);
                }
            }
            out
        }
        Op::Quad { lanes, .. } => vec![lanes.iter().map(|(lane, _)| *lane).collect()],
        Op::Multiply | Op::Carryless(_) => match [0, 1].map(|at| graph.is_key(node.args[at])) {
            [true, _] => vec![vec![1, 0]],
            [_, true] => vec![vec![0, 1]],
            _ => vec![vec![0, 1], vec![1, 0]],
        },
        _ => vec![(0..node.args.len()).collect()],
    }
}

/// Every way to put so many things into so many places.
fn choices(things: usize, places: usize) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..things {
        out = out
            .into_iter()
            .flat_map(|taken| {
                let free = (0..places).filter(|place| !taken.contains(place)).collect::<Vec<_>>();
                free.into_iter().map(move |place| [taken.clone(), vec![place]].concat())
            })
            .collect();
    }
    out
}

/// [`Schedule::dependent_interval`] of an interval and a latency, with so many words in and out.
pub(crate) fn dependent_interval(ii: usize, latency: usize, inputs: usize, outputs: usize) -> usize {
    ii * (latency + around(inputs, outputs)).div_ceil(ii)
}

impl Schedule {
    /// The slot from which an operation's value is on the network.
    pub fn visible(&self, graph: &Graph, id: Id) -> i64 {
        self.places[id].as_ref().map_or(0, |place| place.slot) + latency_of(&graph.nodes[id].op) as i64
    }

    /// The slot in which an operand is taken by its port's line.
    pub fn taken(&self, graph: &Graph, id: Id, arg: usize) -> i64 {
        match self.routes[id][arg] {
            Route::Stored { slot } => slot,
            Route::Direct | Route::Key => self.visible(graph, graph.nodes[id].args[arg]),
        }
    }

    /// The first slot in which a context says anything of a block.
    fn start(&self, graph: &Graph) -> i64 {
        let mut start = i64::MAX;
        for (id, place) in self.places.iter().enumerate() {
            let Some(place) = place else { continue };
            let keyed = graph.nodes[id].args.iter().any(|arg| graph.is_key(*arg));
            start = start.min(place.slot - if keyed { latency::KEY_LEAD as i64 } else { 0 });
        }
        start
    }

    /// The same schedule, from slot 0 on; where the source gives contexts, from the first slot on that leaves them.
    pub(crate) fn normal(mut self, graph: &Graph) -> Schedule {
        let mut start = self.start(graph);
        if !graph.pinned.is_empty() {
            start -= start.rem_euclid(self.ii as i64);
        }
        for place in self.places.iter_mut().flatten() {
            place.slot -= start;
        }
        for route in self.routes.iter_mut().flatten() {
            if let Route::Stored { slot } = route {
                *slot -= start;
            }
        }
        for store in self.stores.values_mut() {
            store.slot -= start;
        }
        self
    }

    /// Slots from a block's first context to the one in which all of its result can be read outside.
    pub fn latency(&self, graph: &Graph) -> usize {
        graph.outputs.iter().map(|id| self.visible(graph, *id)).max().unwrap_or(0).max(0) as usize
    }

    /// Clocks from one block of a packet to its next one in the slot, if each waits for the one before (CBC, a hash): until
    /// its result has gone round, and the next start.
    pub fn dependent_interval(&self, graph: &Graph) -> usize {
        dependent_interval(self.ii, self.latency(graph), graph.inputs, graph.outputs.len())
    }

    /// Blocks that are on their way at once.
    pub fn in_flight(&self, graph: &Graph) -> usize {
        self.latency(graph).div_ceil(self.ii)
    }

    /// The values that a memory element stores, in the order of their nodes, each with its address.
    pub fn stored(&self, memory: usize) -> Vec<(Id, usize)> {
        let here = self.stores.iter().filter(|(_, store)| store.memory == memory);
        here.zip(0..).map(|((id, _), at)| (*id, self.shared.get(id).copied().unwrap_or(at))).collect()
    }

    /// By how much each block moves the memory elements' base.
    pub fn memory_stride(&self, shape: &Shape) -> usize {
        let words = |memory| self.stored(memory).into_iter().map(|(_, at)| at + 1).max();
        (0..shape.memories).filter_map(words).max().unwrap_or(0)
    }

    /// Whether stages, memories and streams are long enough for this schedule.
    pub fn fits(&self, graph: &Graph, shape: &Shape) -> Result<(), Misfit> {
        let fail = |what: String| Err(Misfit::of_all(what));
        if graph.setup {
            let words = (graph.inputs, graph.outputs.len());
            sets_up(words, self.ii, self.latency(graph)).or_else(|error| fail(error.to_string()))?;
        }
        let ii = self.ii as i64;
        let words = shape.stream_words as i64;
        let rows = graph.inputs.div_ceil(shape.inputs);
        // Their words are written that early.
        let blocks_in = words / (rows as i64).max(1) - starts_ahead(rows, self.ii) as i64;
        let blocks_out = words / (graph.outputs.len().div_ceil(shape.outputs) as i64).max(1);
        for (id, node) in graph.nodes.iter().enumerate() {
            let Some(place) = &self.places[id] else { continue };
            let keyed = node.args.iter().any(|arg| graph.is_key(*arg));
            let stage = (place.slot - if keyed { latency::KEY_LEAD as i64 } else { 0 }) / ii;
            if keyed && stage >= shape.stages as i64 {
                let what = format!("a key is asked for in stage {stage} of {}", shape.stages);
                return Err(Misfit::of(id, what));
            }
            if matches!(node.op, Op::Input(_)) && stage >= blocks_in {
                let what = format!("an input is read in stage {stage}, and words are there for {blocks_in}");
                return Err(Misfit::of(id, what));
            }
        }
        for memory in 0..shape.memories {
            self.fits_memory(graph, shape, memory)?;
        }
        // From a start to the end of what the slot does with the result.
        let on_their_way = (self.latency(graph) + FLIGHT_CLOCKS).div_ceil(self.ii.max(1));
        if on_their_way > 2 * shape.stages {
            let room = 2 * shape.stages;
            return fail(format!("{on_their_way} blocks are on their way, and the slot has room for {room}"));
        }
        let out = |id: &Id| self.places[*id].as_ref().map_or(0, |place| place.slot);
        let first = graph.outputs.iter().map(out).min().unwrap_or(0);
        if self.latency(graph) as i64 - first > (blocks_out - 2) * ii {
            // An expanded key comes over many blocks' time, and some of it late enough.
            if !(graph.setup && self.outputs_stay(graph, shape)) {
                return fail(format!("outputs come over more than {blocks_out} blocks' time"));
            }
        }
        Ok(())
    }
}

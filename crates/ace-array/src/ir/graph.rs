// SPDX-License-Identifier: Apache-2.0
//! Data-flow graphs of words of 32 bits: what a block's words, a key's words and tables make of each other.

use crate::error::Span;
use crate::ir::domain::{self, Domain, Half, Plain};

/// A node's number. Arguments have lower numbers than what uses them.
pub type Id = usize;

/// How a quad joins what its lanes find, from lane 3 down to lane 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// The XOR of both.
    Xor,
    /// The sum of both, modulo 2^32.
    Plus,
    /// What comes from the lanes above less what the lane finds, modulo 2^32.
    Minus,
}

impl Link {
    /// Joins what comes from the lanes above with what the lane below finds.
    pub fn apply<D: Domain>(self, of: &mut D, above: D::Word, below: D::Word) -> D::Word {
        match self {
            Link::Xor => {
                let zero = of.constant(0);
                of.logic(0b0110, [above, below, zero])
            }
            Link::Plus => of.sum(&[above, below], 0),
            Link::Minus => {
                let below = of.not(below);
                of.sum(&[above, below], 1)
            }
        }
    }
}

/// What a node computes of its arguments; all of them are words of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A word of the block.
    Input(usize),
    /// A word of the key.
    Key(usize),
    /// A word that the source gives, which a key memory keeps.
    Const(u32),
    /// A bit function of up to three arguments: its truth table by {third, second, first}.
    Logic(u8),
    /// A sum of up to three arguments, of which those of the mask are subtracted.
    Sum(u8),
    /// To the left.
    Rotate(u32),
    /// The argument's value, which a rotator shows once more. Passes leave it: the source says that nothing has to store the value.
    Again,
    /// By the low five bits of the second argument.
    RotateBy {
        /// To the right; otherwise to the left.
        right: bool,
    },
    /// Bits that leave are lost, and zeros come.
    Shift {
        /// To the right; otherwise to the left.
        right: bool,
        /// By so many bits, 0 to 31.
        by: u32,
    },
    /// The low half of a product.
    Multiply,
    /// Of a product without carries, of 64 bits: a half, or the XOR of both.
    Carryless(Half),
    /// x(2x + 1), rotated left by five or not.
    Quadratic {
        /// Whether the result is rotated left by five.
        rotate: bool,
    },
    /// The word of a table that a byte of the argument names, or the byte's upper six bits.
    Lookup {
        /// Index into [`Graph::tables`].
        table: usize,
        /// The byte of the argument, 0 for the lowest.
        lane: usize,
        /// The table has 64 words, and the byte's upper six bits name one.
        six: bool,
    },
    /// Up to four look-ups, each by its lane's byte of its own argument, joined. Lanes in descending order, one for
    /// each argument; links in front of all but the first.
    Quad {
        /// Lane and index into [`Graph::tables`] of each look-up.
        lanes: Vec<(usize, usize)>,
        /// How each look-up but the first is joined to those before it.
        links: Vec<Link>,
        /// The tables have 64 words, and the bytes' upper six bits name one.
        six: bool,
    },
    /// A word of the result, by its number; it has the argument's value.
    Output(usize),
    /// The argument's value, whose operation the source gives a context: an index into [`Graph::pins`]. Passes leave it where
    /// it is, so that nothing is merged beyond it, and the last one takes it out ([`Graph::pinned`]).
    Pin(usize),
}

/// A context that the source gives an operation (`at`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The context.
    pub context: usize,
    /// Where the source says so.
    pub span: Span,
}

/// The XOR of two arguments.
pub const XOR: Op = Op::Logic(0b0110);
/// The AND of two arguments, bit by bit.
pub const AND: Op = Op::Logic(0b1000);
/// The OR of two arguments, bit by bit.
pub const OR: Op = Op::Logic(0b1110);
/// The complement of one argument.
pub const NOT: Op = Op::Logic(0b01);

/// One operation of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// The nodes whose values it takes, in the order that the operation wants.
    pub args: Vec<Id>,
}

/// A table that lanes look up: 64 or 256 words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The table's name in the source.
    pub name: String,
    /// Its words, by index.
    pub words: Vec<u32>,
}

/// A computation over one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes, each behind its arguments.
    pub nodes: Vec<Node>,
    /// The node of each word of the result, an [`Op::Output`] each.
    pub outputs: Vec<Id>,
    /// The tables that look-ups name.
    pub tables: Vec<Table>,
    /// Words of the block.
    pub inputs: usize,
    /// Words of the key.
    pub keys: usize,
    /// The block is a raw key and the result what a cipher's set-up makes of it.
    pub setup: bool,
    /// The contexts that the source gives, in its order.
    pub pins: Vec<Pin>,
    /// The operations that have them, each with an index into `pins`; none before the passes have ended.
    pub pinned: Vec<(Id, usize)>,
    /// By node: the place of the source that it is for.
    pub spans: Vec<Span>,
    /// The same of nodes that are added now.
    pub here: Span,
}

impl Graph {
    /// The same block, key and tables, and no nodes.
    pub fn empty_like(&self) -> Graph {
        let (nodes, outputs, pinned, spans) = Default::default();
        Graph { nodes, outputs, pinned, spans, ..self.clone() }
    }

    /// The place of the source that a node is for, whatever passes have made of it.
    pub fn span(&self, id: Id) -> Span {
        self.spans.get(id).copied().unwrap_or_default()
    }

    /// Nodes that are added from now on are for this place of the source.
    pub fn stand(&mut self, at: Span) {
        self.here = at;
    }

    /// By node: the context that the source gives it.
    pub fn contexts(&self) -> Vec<Option<usize>> {
        let mut out = vec![None; self.nodes.len()];
        for (id, pin) in &self.pinned {
            out[*id] = Some(self.pins[*pin].context);
        }
        out
    }

    /// The least number of contexts that has all that the source gives.
    pub fn least_contexts(&self) -> usize {
        self.pinned.iter().map(|(_, pin)| self.pins[*pin].context + 1).max().unwrap_or(1)
    }

    /// Puts a node behind all others, and gives its number. Its arguments have to be there already.
    pub fn add(&mut self, op: Op, args: Vec<Id>) -> Id {
        self.nodes.push(Node { op, args });
        self.spans.resize(self.nodes.len() - 1, Span::default());
        self.spans.push(self.here);
        self.nodes.len() - 1
    }

    /// Takes the last node away, which nothing uses.
    pub(crate) fn take_back(&mut self) {
        self.nodes.pop();
        self.spans.truncate(self.nodes.len());
    }

    /// How often each node's value is used.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        for node in &self.nodes {
            for arg in &node.args {
                uses[*arg] += 1;
            }
        }
        uses
    }

    /// Whether a node's value comes from a key memory and never from the network.
    pub fn is_key(&self, id: Id) -> bool {
        matches!(self.nodes[id].op, Op::Key(_) | Op::Const(_))
    }

    /// What a node's value is, of its arguments' values.
    pub fn apply(&self, op: &Op, args: &[u32], block: &[u32], key: &[u32]) -> u32 {
        self.apply_in(&mut Plain, op, args, (block, key))
    }

    /// The same of words of any kind; the pair is the block and the key.
    pub fn apply_in<D: Domain>(
        &self,
        of: &mut D,
        op: &Op,
        args: &[D::Word],
        (block, key): (&[D::Word], &[D::Word]),
    ) -> D::Word {
        match op {
            Op::Input(word) => block[*word],
            Op::Key(word) => key[*word],
            Op::Const(value) => of.constant(*value),
            Op::Logic(truth) => {
                let zero = of.constant(0);
                of.logic(*truth, [0, 1, 2].map(|at| args.get(at).copied().unwrap_or(zero)))
            }
            Op::Sum(minus) => {
                // -x is ~x + 1.
                let turned = |at: usize| minus >> at & 1 == 1;
                let terms: Vec<D::Word> = (args.iter().enumerate())
                    .map(|(at, word)| if turned(at) { of.not(*word) } else { *word })
                    .collect();
                of.sum(&terms, (0..args.len()).filter(|at| turned(*at)).count() as u32)
            }
            Op::Rotate(by) => of.rotate(args[0], by & 31),
            Op::RotateBy { right: false } => of.rotate_by(args[0], args[1], 31),
            Op::RotateBy { right: true } => of.rotate_right_by(args[0], args[1]),
            Op::Shift { right: false, by } => {
                let turned = of.rotate(args[0], *by);
                of.mask(turned, u32::MAX << by)
            }
            Op::Shift { right: true, by } => {
                let turned = of.rotate(args[0], (32 - by) & 31);
                of.mask(turned, u32::MAX >> by)
            }
            Op::Multiply => of.multiply(args[0], args[1]),
            Op::Carryless(half) => of.carryless(args[0], args[1], *half),
            Op::Quadratic { rotate } => {
                let more = of.twice_and_one(args[0]);
                let product = of.multiply(args[0], more);
                of.rotate(product, 5 * u32::from(*rotate))
            }
            Op::Lookup { table, lane, six } => self.look_up(of, *table, *lane, *six, args[0]),
            Op::Quad { lanes, links, six } => {
                let found = |of: &mut D, at: usize| {
                    let (lane, table) = lanes[at];
                    self.look_up(of, table, lane, *six, args[at])
                };
                let first = found(of, 0);
                (1..lanes.len()).fold(first, |all, at| {
                    let below = found(of, at);
                    links[at - 1].apply(of, all, below)
                })
            }
            Op::Again | Op::Output(_) | Op::Pin(_) => args[0],
        }
    }

    fn look_up<D: Domain>(&self, of: &mut D, table: usize, lane: usize, six: bool, word: D::Word) -> D::Word {
        of.look_up(domain::Table::Source(&self.tables[table].words), word, lane, six)
    }

    /// The words of the result.
    pub fn evaluate(&self, block: &[u32], key: &[u32]) -> Vec<u32> {
        self.evaluate_in(&mut Plain, block, key)
    }

    /// The same of words of any kind.
    pub fn evaluate_in<D: Domain>(&self, of: &mut D, block: &[D::Word], key: &[D::Word]) -> Vec<D::Word> {
        let mut values: Vec<D::Word> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let args: Vec<D::Word> = node.args.iter().map(|arg| values[*arg]).collect();
            values.push(self.apply_in(of, &node.op, &args, (block, key)));
        }
        self.outputs.iter().map(|id| values[*id]).collect()
    }
}

/// A bit function of up to three words.
pub fn logic(truth: u8, args: &[u32]) -> u32 {
    let [x, y, z] = [0, 1, 2].map(|at| args.get(at).copied().unwrap_or(0));
    let by_x = |at: usize| [0, !x, x, u32::MAX][usize::from(truth >> at & 3)];
    let choose = |by: u32, one: u32, zero: u32| zero ^ (by & (one ^ zero));
    choose(z, choose(y, by_x(6), by_x(4)), choose(y, by_x(2), by_x(0)))
}

/// A graph that is built with each value once.
pub struct Builder {
    /// What was built so far.
    pub graph: Graph,
    known: std::collections::HashMap<Node, Id>,
}

impl Builder {
    /// A builder with the block, the key and the tables of another graph, and no nodes.
    pub fn like(graph: &Graph) -> Builder {
        Builder { graph: graph.empty_like(), known: std::collections::HashMap::new() }
    }

    /// The number of the node with this operation and these arguments, which is made if there is none yet.
    pub fn add(&mut self, op: Op, args: Vec<Id>) -> Id {
        let node = Node { op, args };
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = self.graph.add(node.op.clone(), node.args.clone());
        self.known.insert(node, id);
        id
    }

    /// Ends with the outputs, which are made here, and leaves out what none of them needs.
    pub fn finish(mut self, outputs: &[Id]) -> Graph {
        for (word, id) in outputs.iter().enumerate() {
            self.graph.stand(self.graph.span(*id));
            let output = self.add(Op::Output(word), vec![*id]);
            self.graph.outputs.push(output);
        }
        swept(&self.graph)
    }
}

/// The graph without nodes that no output needs.
pub fn swept(graph: &Graph) -> Graph {
    let mut needed = vec![false; graph.nodes.len()];
    for id in &graph.outputs {
        needed[*id] = true;
    }
    for id in (0..graph.nodes.len()).rev() {
        if needed[id] {
            for arg in &graph.nodes[id].args {
                needed[*arg] = true;
            }
        }
    }
    let mut out = graph.empty_like();
    let mut new = vec![usize::MAX; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        if needed[id] {
            out.stand(graph.span(id));
            new[id] = out.add(node.op.clone(), node.args.iter().map(|arg| new[*arg]).collect());
        }
    }
    out.outputs = graph.outputs.iter().map(|id| new[*id]).collect();
    out
}

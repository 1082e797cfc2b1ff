// SPDX-License-Identifier: Apache-2.0
//! A tile, clock by clock and register by register as `rtl/array/array_tile.sv`: what is written into it runs here.

use crate::codegen::set::{Target, Write};
use crate::ir::domain::{Domain, Plain};
use crate::ir::element::{Alu, Key, Keyed, Memory, Multiplier, Quad, Rotator};
use crate::ir::layout::{Context, Field, Layout};
use crate::ir::shape::{Kind, Shape, bits_for};

/// What a bank runs with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Settings {
    bank: usize,
    memory_stride: usize,
    output_stride: usize,
    input_stride: usize,
    last: usize,
}

/// What the network shows, and whether a block starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The value of each source of the network, in the order of [`Shape::source`].
    pub sources: Vec<u32>,
    /// Words of the output memories.
    pub words: Vec<u32>,
    /// In the clock before a block's context 0.
    pub start: bool,
    /// The number of the block that starts, modulo the stages.
    pub block: usize,
}

/// A tile: its elements, network, delay lines and memories, as they are between two clocks.
#[derive(Clone)]
pub struct Tile<D: Domain = Plain> {
    /// What words are.
    pub domain: D,
    /// What is read of the output memories.
    pub read_at: usize,
    shape: Shape,
    alus: Vec<Keyed<Alu<D::Word>, D::Word>>,
    rotators: Vec<Keyed<Rotator<D::Word>, D::Word>>,
    quads: Vec<Quad<D::Word>>,
    multipliers: Vec<Multiplier<D::Word>>,
    /// Memory elements and outputs, each with the word that waits to be written.
    memories: Vec<(Memory<D::Word>, D::Word)>,
    inputs: Vec<Memory<D::Word>>,
    outputs: Vec<(Memory<D::Word>, D::Word)>,
    /// The network: all sources, and zero for the selects that take none.
    seen: Vec<D::Word>,
    ports: usize,
    /// Delay lines: for every clock of them what all ports have taken. A quad's and a rotator's amount's, which are of
    /// fewer bits in the RTL, are of all bits here.
    lines: Vec<D::Word>,
    /// By port, what its line reaches.
    reach: Vec<usize>,
    /// What the lines show in this clock.
    read: Vec<D::Word>,
    /// Of every port its select, of every port its delay, then what else each element has.
    fields: Vec<Field>,
    contexts: [Vec<Context>; 2],
    /// The same contexts, a number a field: they are taken apart when they are written, not when they run.
    apart: [Vec<u16>; 2],
    /// The context's registers behind the memory: the two of the sequence, and the ports' own.
    registers: [Vec<u16>; 3],
    clock: usize,
    write: Option<Write>,
    /// Which key memories take it ([`Shape::constants_of`]), a bit each.
    key_write: Option<(u8, usize, D::Word)>,
    table_write: Option<(u8, usize, [D::Word; 4])>,
    input_data: [u64; 2],
    next: Settings,
    settings: Settings,
    late: Settings,
    pending: bool,
    at: usize,
    wraps: [bool; 2],
    start_base: Option<(usize, usize)>,
    block: usize,
    memory_base: usize,
    input_base: usize,
    output_base: usize,
}

impl Tile {
    /// A tile after its reset, with zero in every memory.
    pub fn new(shape: &Shape) -> Tile {
        Tile::filled(shape, Plain, 0)
    }

    /// What can be seen before the clock's edge.
    pub fn look(&self) -> Clock {
        Clock {
            sources: self.sources().collect(),
            words: self.outputs.iter().map(|(memory, _)| memory.result).collect(),
            start: self.starts(),
            block: (self.block + 1) % self.shape.stages,
        }
    }

    /// A word of an output memory.
    pub fn output(&self, output: usize, at: usize) -> u32 {
        self.result(output, at).unwrap_or(0)
    }
}

impl<D: Domain> Tile<D> {
    /// A tile after its reset, but with this word in every memory and in every register that has words.
    pub fn filled(shape: &Shape, mut domain: D, fill: D::Word) -> Self {
        let none = domain.constant(0);
        let layout = Layout::of(shape);
        let all = || layout.all().iter().map(|(_, fields)| fields);
        let mut fields: Vec<Field> = all().flat_map(|fields| fields.select.iter().copied()).collect();
        let ports = fields.len();
        fields.extend(all().flat_map(|fields| fields.delay.iter().copied()));
        for of in all() {
            let written = of.write.into_iter().chain(of.write_address).chain(of.read_address);
            fields.extend(of.op.into_iter().chain(of.key.into_iter().flatten()).chain(written));
        }
        let key = || Key::new(shape.key_words, shape.stages, fill);
        let stream = || Memory::new(shape.stream_words, fill);
        let zero = Context::new(&layout);
        let reach: Vec<usize> = shape
            .units()
            .flat_map(|unit| (0..shape.ports(unit.kind)).map(move |port| shape.reach(unit.kind, port)))
            .collect();
        Tile {
            domain,
            read_at: 0,
            alus: (0..shape.alus).map(|_| (Alu::new(shape.alu_operands, fill, none), key())).collect(),
            rotators: (0..shape.rotators).map(|_| (Rotator::new(fill), key())).collect(),
            quads: (0..shape.quads).map(|_| Quad::new(fill)).collect(),
            multipliers: (0..shape.multipliers).map(|_| Multiplier::new(fill)).collect(),
            memories: (0..shape.memories).map(|_| (Memory::new(shape.memory_words, fill), fill)).collect(),
            inputs: (0..shape.inputs).map(|_| stream()).collect(),
            outputs: (0..shape.outputs).map(|_| (stream(), fill)).collect(),
            seen: vec![none; 1 << shape.select_bits()],
            ports,
            lines: vec![fill; reach.iter().max().copied().unwrap_or(1) * ports],
            reach,
            read: vec![fill; ports],
            contexts: [vec![zero.clone(); shape.contexts], vec![zero; shape.contexts]],
            apart: [vec![0; shape.contexts * fields.len()], vec![0; shape.contexts * fields.len()]],
            registers: [vec![0; fields.len()], vec![0; fields.len()], vec![0; fields.len()]],
            fields,
            shape: shape.clone(),
            clock: 0,
            write: None,
            key_write: None,
            table_write: None,
            input_data: [0; 2],
            next: Settings::default(),
            settings: Settings::default(),
            late: Settings::default(),
            pending: false,
            at: 0,
            wraps: [false; 2],
            start_base: None,
            block: 0,
            memory_base: 0,
            input_base: 0,
            output_base: 0,
        }
    }

    /// What every source of the network shows, in their order.
    fn sources(&self) -> impl Iterator<Item = D::Word> {
        let alus = self.alus.iter().map(|(alu, _)| alu.result);
        let rotators = self.rotators.iter().map(|(rotator, _)| rotator.result);
        let quads = self.quads.iter().map(|quad| quad.result);
        let multipliers = self.multipliers.iter().map(|multiplier| multiplier.result);
        let memories = self.memories.iter().map(|(memory, _)| memory.result);
        let inputs = self.inputs.iter().map(|memory| memory.result);
        alus.chain(rotators).chain(quads).chain(multipliers).chain(memories).chain(inputs)
    }

    /// Whether this is the clock before a block's context 0.
    pub fn starts(&self) -> bool {
        self.wraps[1]
    }

    /// The bank that a load goes to.
    pub fn idle_bank(&self) -> usize {
        1 - self.settings.bank
    }

    /// Where the words of the youngest block lie, in the input memories and in the output memories.
    pub fn bases(&self) -> (usize, usize) {
        (self.input_base, self.output_base)
    }

    /// A word of an output memory, if there is one of that number.
    pub fn result(&self, output: usize, at: usize) -> Option<D::Word> {
        self.outputs.get(output).map(|(memory, _)| memory.word(at))
    }

    /// Puts a word into an input memory between two clocks.
    pub fn put_input(&mut self, input: usize, at: usize, word: D::Word) {
        if let Some(memory) = self.inputs.get_mut(input) {
            memory.put(at, word);
        }
    }

    /// Puts a word into all key memories between two clocks.
    pub fn put_key(&mut self, at: usize, word: D::Word) {
        let alus = self.alus.iter_mut().map(|(_, key)| key);
        alus.chain(self.rotators.iter_mut().map(|(_, key)| key)).for_each(|key| key.put(at, word));
    }

    /// One clock: what is written, and the base of the key of a block that starts.
    pub fn step(&mut self, write: Option<Write>, key_base: usize) {
        self.ports();
        self.elements();
        self.loads();
        self.sequence(key_base);
        self.write = write;
        // All depths are powers of two.
        self.clock = (self.clock + 1) & (self.lines.len() / self.ports - 1);
    }

    /// Every port's line shows a word, and takes one from the network.
    fn ports(&mut self) {
        let (clock, ports) = (self.clock, self.ports);
        let last = self.lines.len() / ports - 1;
        let delays = self.registers[2][ports..].iter().zip(&self.reach);
        for (at, (read, (delay, reach))) in self.read.iter_mut().zip(delays).enumerate() {
            let row = clock.wrapping_sub(1 + (usize::from(*delay) & (reach - 1))) & last;
            *read = self.lines[row * ports + at];
        }
        let mut seen = std::mem::take(&mut self.seen);
        self.sources().enumerate().for_each(|(at, source)| seen[at] = source);
        self.seen = seen;
        let row = &mut self.lines[clock * ports..][..ports];
        for (taken, select) in row.iter_mut().zip(&self.registers[2]) {
            *taken = self.seen[usize::from(*select)];
        }
    }

    fn elements(&mut self) {
        let bank = self.late.bank;
        let constants = bank * self.shape.constants;
        let (block, start) = (self.block, self.start_base);
        let [alu_write, rotator_write] = [Kind::Alu, Kind::Rotator].map(|kind| {
            let own = self.key_write.filter(|(mask, ..)| mask >> Shape::constants_of(kind) & 1 == 1);
            own.map(|(_, at, word)| (at, word))
        });
        let (delays, mut fields) = self.registers[1][self.ports..].split_at(self.ports);
        let mut read = self.read.as_slice();
        for (alu, key) in &mut self.alus {
            let ([op], keys) = (take(&mut fields), take(&mut fields));
            let word = key.used();
            key.step(keys, block, start, constants, alu_write);
            let (own, rest) = read.split_at(self.shape.alu_operands);
            alu.step(&mut self.domain, op.into(), own, word);
            read = rest;
        }
        let mut words = Vec::new();
        for (rotator, key) in &mut self.rotators {
            let ([op], keys) = (take(&mut fields), take(&mut fields));
            let word = key.used();
            words.push(key.word());
            key.step(keys, block, start, constants, rotator_write);
            // The delay of the amount is the amount, if that is a constant.
            let constant = delays[delays.len() - read.len() + 1];
            let [value, amount] = take(&mut read);
            rotator.step(&mut self.domain, op.into(), constant.into(), value, amount, word);
        }
        for quad in &mut self.quads {
            let [op] = take(&mut fields);
            quad.step(&mut self.domain, bank, op.into(), take(&mut read), self.table_write);
        }
        for (multiplier, word) in self.multipliers.iter_mut().zip(words) {
            let [op] = take(&mut fields);
            multiplier.step(&mut self.domain, op.into(), take(&mut read), word);
        }
        for (memory, word) in &mut self.memories {
            let [write, write_at, read_at] = take(&mut fields).map(usize::from);
            memory.step(
                &mut self.domain,
                write == 1,
                self.memory_base + write_at,
                *word,
                self.memory_base + read_at,
            );
            [*word] = take(&mut read);
        }
        let input = self.write.filter(|write| write.target == Target::Input);
        let at = input.map_or(0, |write| usize::from(write.at));
        for (memory, index) in self.inputs.iter_mut().zip(0..) {
            let [read_at] = take(&mut fields);
            let data = self.input_data[1].checked_shr(32 * index).unwrap_or(0) as u32;
            let data = self.domain.constant(data);
            memory.step(&mut self.domain, input.is_some(), at, data, self.input_base + usize::from(read_at));
        }
        for (memory, word) in &mut self.outputs {
            let [write, write_at] = take(&mut fields).map(usize::from);
            memory.step(&mut self.domain, write == 1, self.output_base + write_at, *word, self.read_at);
            [*word] = take(&mut read);
        }
    }

    /// What was written a clock ago goes to its memory, or to the register in front of it.
    fn loads(&mut self) {
        let idle = self.idle_bank();
        let write = self.write;
        self.key_write = None;
        self.table_write = None;
        self.input_data = [write.map_or(0, |write| write.data), self.input_data[0]];
        let Some(write) = write else { return };
        let at = usize::from(write.at);
        match write.target {
            Target::Context => {
                let context = &mut self.contexts[idle][at % self.shape.contexts];
                if let Some(word) = context.0.get_mut(usize::from(write.lane)) {
                    *word = write.data;
                }
                let apart = self.apart[idle].chunks_mut(self.fields.len()).nth(at % self.shape.contexts);
                for (number, field) in apart.into_iter().flatten().zip(&self.fields) {
                    *number = context.get(*field) as u16;
                }
            }
            Target::Constant => {
                let at = idle * self.shape.constants + at % self.shape.constants;
                self.key_write = Some((write.lane, at, self.domain.constant(write.data as u32)));
            }
            Target::Key => {
                let word = self.domain.constant(write.data as u32);
                self.key_write = Some((u8::MAX, at % self.shape.key_words, word));
            }
            Target::Table => {
                let data = [0, 1, 2, 3].map(|lane| match (write.rotate, lane % 2) {
                    (true, _) => (write.data as u32).rotate_left(8 * lane),
                    (false, 0) => write.data as u32,
                    (false, _) => (write.data >> 32) as u32,
                });
                let data = data.map(|word| self.domain.constant(word));
                self.table_write = Some((write.lane, at % 512, data));
            }
            Target::Input | Target::Settings => {}
        }
    }

    fn sequence(&mut self, key_base: usize) {
        let wrap = self.at == self.settings.last;
        let count = self.fields.len();
        self.registers.rotate_right(1);
        self.registers[0].copy_from_slice(&self.apart[self.settings.bank][self.at * count..][..count]);
        self.start_base = self.wraps[1].then_some(((self.block + 1) % self.shape.stages, key_base));
        if self.wraps[1] {
            self.late = self.settings;
            self.block = (self.block + 1) % self.shape.stages;
            self.memory_base = (self.memory_base + self.settings.memory_stride) % self.shape.memory_words;
            self.input_base = (self.input_base + self.settings.input_stride) % self.shape.stream_words;
            self.output_base = (self.output_base + self.settings.output_stride) % self.shape.stream_words;
        }
        self.wraps = [wrap, self.wraps[0]];
        if wrap && self.pending {
            self.settings = self.next;
        }
        self.at = if wrap { 0 } else { (self.at + 1) & (self.shape.contexts - 1) };
        let switch = self.write.filter(|write| write.target == Target::Settings);
        self.pending = switch.is_some() || (self.pending && !wrap);
        if let Some(write) = switch {
            self.next = self.settings_of(write.data);
        }
    }

    fn settings_of(&self, data: u64) -> Settings {
        let mut at = 0;
        let mut field = |words: usize| {
            let value = (data >> at) as usize & (words - 1);
            at += bits_for(words);
            value
        };
        Settings {
            last: field(self.shape.contexts),
            input_stride: field(self.shape.stream_words),
            output_stride: field(self.shape.stream_words),
            memory_stride: field(self.shape.memory_words),
            bank: field(2),
        }
    }
}

/// An element's own of what all have, in the layout's order.
fn take<T: Copy, const N: usize>(all: &mut &[T]) -> [T; N] {
    let (own, rest) = all.split_first_chunk().expect("the layout has every element's fields");
    *all = rest;
    *own
}

// SPDX-License-Identifier: Apache-2.0
//! A tile, clock by clock and register by register as `rtl/array/array_tile.sv`: what is written into it runs here.

use crate::element::{Alu, Key, Line, Memory, Multiplier, Quad, Rotator};
use crate::layout::{Context, Fields, Layout};
use crate::set::{Target, Write};
use crate::shape::{Kind, Shape, bits_for};

/// What a bank runs with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Settings {
    bank: usize,
    memory_stride: usize,
    output_stride: usize,
    input_stride: usize,
    last: usize,
}

/// One element with its ports' lines and its fields of a context.
struct Element {
    kind: Kind,
    fields: Fields,
    lines: Vec<Line>,
    work: Work,
}

enum Work {
    Alu(Alu, Key),
    Rotator(Rotator, Key),
    Quad(Box<Quad>),
    Multiplier(Multiplier),
    /// A memory element, an input or an output, with the word that waits to be written.
    Memory(Memory, u32),
}

/// What the network shows, and whether a block starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    pub sources: Vec<u32>,
    /// Words of the output memories.
    pub words: Vec<u32>,
    /// In the clock before a block's context 0.
    pub start: bool,
    /// The number of the block that starts, modulo the stages.
    pub block: usize,
}

pub struct Tile {
    /// What is read of the output memories.
    pub read_at: usize,
    shape: Shape,
    elements: Vec<Element>,
    contexts: [Vec<Context>; 2],
    /// The context's two registers behind the memory.
    raw: Context,
    now: Context,
    clock: usize,
    write: Option<Write>,
    key_write: Option<(usize, u32)>,
    table_write: Option<(u8, usize, [u32; 4])>,
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
        let layout = Layout::of(shape);
        let elements = layout
            .all()
            .iter()
            .map(|(unit, fields)| {
                let bits = |at: usize| match unit.kind {
                    Kind::Rotator if at == 1 => (5, 0),
                    Kind::Quad => (8, 8 * at as u32),
                    _ => (32, 0),
                };
                let line = |at: usize| Line::new(shape.line, bits(at).0, bits(at).1);
                let key = || Key::new(shape.key_words, shape.stages);
                Element {
                    kind: unit.kind,
                    fields: fields.clone(),
                    lines: (0..shape.ports(unit.kind)).map(line).collect(),
                    work: match unit.kind {
                        Kind::Alu => Work::Alu(Alu::new(shape.alu_operands), key()),
                        Kind::Rotator => Work::Rotator(Rotator::default(), key()),
                        Kind::Quad => Work::Quad(Box::new(Quad::new())),
                        Kind::Multiplier => Work::Multiplier(Multiplier::default()),
                        Kind::Memory => Work::Memory(Memory::new(shape.memory_words), 0),
                        Kind::Input | Kind::Output => Work::Memory(Memory::new(shape.stream_words), 0),
                    },
                }
            })
            .collect();
        let zero = Context::new(&layout);
        Tile {
            read_at: 0,
            shape: shape.clone(),
            elements,
            contexts: [vec![zero.clone(); shape.contexts], vec![zero.clone(); shape.contexts]],
            raw: zero.clone(),
            now: zero,
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

    /// What can be seen before the clock's edge.
    pub fn look(&self) -> Clock {
        let of = |output: bool| self.elements.iter().filter(move |of| (of.kind == Kind::Output) == output);
        Clock {
            sources: of(false).map(Element::result).collect(),
            words: of(true).map(Element::result).collect(),
            start: self.wraps[1],
            block: (self.block + 1) % self.shape.stages,
        }
    }

    /// The bank that a load goes to.
    pub fn idle_bank(&self) -> usize {
        1 - self.settings.bank
    }

    /// Where the words of the youngest block lie, in the input memories and in the output memories.
    pub fn bases(&self) -> (usize, usize) {
        (self.input_base, self.output_base)
    }

    /// A word of an output memory.
    pub fn output(&self, output: usize, at: usize) -> u32 {
        let of = self.elements.iter().filter(|element| element.kind == Kind::Output).nth(output);
        match of.map(|element| &element.work) {
            Some(Work::Memory(memory, _)) => memory.word(at),
            _ => 0,
        }
    }

    /// One clock: what is written, and the base of the key of a block that starts.
    pub fn step(&mut self, write: Option<Write>, key_base: usize) {
        let seen = self.look().sources;
        self.elements_step(&seen);
        self.loads();
        self.sequence(key_base);
        self.write = write;
        self.clock = (self.clock + 1) % self.shape.line;
    }

    fn elements_step(&mut self, seen: &[u32]) {
        let (now, bank) = (&self.now, self.late.bank);
        let input = self.write.filter(|write| write.target == Target::Input);
        let (mut inputs, mut outputs) = (0, 0);
        for element in &mut self.elements {
            let fields = &element.fields;
            let read: Vec<u32> = element.lines.iter().map(|line| line.read()).collect();
            let op = fields.op.map_or(0, |field| now.get(field));
            let key_fields = fields.key.map(|fields| fields.map(|field| now.get(field) as usize));
            let get = |field: Option<crate::layout::Field>| field.map_or(0, |field| now.get(field) as usize);
            match &mut element.work {
                Work::Alu(alu, key) => {
                    let word = key.used();
                    key.step(
                        key_fields,
                        self.block,
                        self.start_base,
                        bank * self.shape.constants,
                        self.key_write,
                    );
                    alu.step(op as u32, &read, word);
                }
                Work::Rotator(rotator, key) => {
                    let word = key.used();
                    key.step(
                        key_fields,
                        self.block,
                        self.start_base,
                        bank * self.shape.constants,
                        self.key_write,
                    );
                    rotator.step(op as u32, now.get(fields.delay[1]) as u32, read[0], read[1], word);
                }
                Work::Quad(quad) => quad.step(bank, op as u32, &read, self.table_write),
                Work::Multiplier(multiplier) => multiplier.step(op as u32, read[0], read[1]),
                Work::Memory(memory, word) => match element.kind {
                    Kind::Memory => {
                        let write = now.get(fields.write.unwrap_or(ZERO)) == 1;
                        let address = (self.memory_base + get(fields.write_address), *word);
                        memory.step(write, address.0, address.1, self.memory_base + get(fields.read_address));
                        *word = read[0];
                    }
                    Kind::Output => {
                        let write = now.get(fields.write.unwrap_or(ZERO)) == 1;
                        memory.step(write, self.output_base + get(fields.write_address), *word, self.read_at);
                        *word = read[0];
                        outputs += 1;
                    }
                    _ => {
                        let at = input.map_or(0, |write| usize::from(write.at));
                        let data = (self.input_data[1] >> (32 * inputs)) as u32;
                        memory.step(input.is_some(), at, data, self.input_base + get(fields.read_address));
                        inputs += 1;
                    }
                },
            }
            for (at, line) in element.lines.iter_mut().enumerate() {
                let (select, delay) = (now.get(fields.select[at]), now.get(fields.delay[at]));
                line.step(self.clock, select as usize, delay as usize, seen);
            }
        }
        debug_assert_eq!(outputs, self.shape.outputs);
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
            }
            Target::Constant => {
                let at = idle * self.shape.constants + at % self.shape.constants;
                self.key_write = Some((at, write.data as u32));
            }
            Target::Key => self.key_write = Some((at % self.shape.key_words, write.data as u32)),
            Target::Table => {
                let data = [0, 1, 2, 3].map(|lane| match (write.rotate, lane % 2) {
                    (true, _) => (write.data as u32).rotate_left(8 * lane),
                    (false, 0) => write.data as u32,
                    (false, _) => (write.data >> 32) as u32,
                });
                self.table_write = Some((write.lane, at % 512, data));
            }
            Target::Input | Target::Settings => {}
        }
    }

    fn sequence(&mut self, key_base: usize) {
        let wrap = self.at == self.settings.last;
        self.now = std::mem::replace(&mut self.raw, self.contexts[self.settings.bank][self.at].clone());
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
        self.at = if wrap { 0 } else { (self.at + 1) % self.shape.contexts };
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

const ZERO: crate::layout::Field = crate::layout::Field { offset: 0, width: 0 };

impl Element {
    fn result(&self) -> u32 {
        match &self.work {
            Work::Alu(alu, _) => alu.result,
            Work::Rotator(rotator, _) => rotator.result,
            Work::Quad(quad) => quad.result,
            Work::Multiplier(multiplier) => multiplier.result,
            Work::Memory(memory, _) => memory.result,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The elements of a tile, register by register as in `rtl/array`. Every `step` is one clock's edge: results are
//! those of before until it returns. What words are, a [`Domain`] says; what contexts say are numbers always.

use crate::ir::domain::{Domain, Half, Table};
use crate::ir::graph::Link;

/// A key memory.
#[derive(Clone)]
pub struct Key<W> {
    words: Vec<W>,
    bases: Vec<usize>,
    block: usize,
    word: usize,
    constant: bool,
    used: [bool; 4],
    at: usize,
    raw: W,
    out: W,
}

/// An element with its key memory.
pub type Keyed<E, W> = (E, Key<W>);

impl<W: Copy> Key<W> {
    pub fn new(words: usize, stages: usize, fill: W) -> Self {
        Key {
            words: vec![fill; words],
            bases: vec![0; stages],
            block: 0,
            word: 0,
            constant: false,
            used: [false; 4],
            at: 0,
            raw: fill,
            out: fill,
        }
    }

    /// Puts a word into the memory between two clocks.
    pub fn put(&mut self, at: usize, word: W) {
        self.words[at] = word;
    }

    /// The word that is there in this clock.
    pub fn word(&self) -> W {
        self.out
    }

    /// The same, if the element uses it.
    pub fn used(&self) -> Option<W> {
        self.used[3].then_some(self.out)
    }

    pub fn step(
        &mut self,
        fields: [u16; 4],
        block: usize,
        start: Option<(usize, usize)>,
        constants: usize,
        write: Option<(usize, W)>,
    ) {
        let [word, stage, constant, used] = fields.map(usize::from);
        // Both are powers of two.
        let (words, stages) = (self.words.len() - 1, self.bases.len() - 1);
        self.out = self.raw;
        self.raw = self.words[self.at];
        let base = if self.constant { constants } else { self.bases[self.block] };
        self.at = (base + self.word) & words;
        self.block = block.wrapping_sub(stage) & stages;
        self.word = word;
        self.constant = constant == 1;
        self.used = [used == 1, self.used[0], self.used[1], self.used[2]];
        if let Some((block, base)) = start {
            self.bases[block] = base & words;
        }
        if let Some((at, word)) = write {
            self.words[at] = word;
        }
    }
}

/// An ALU of two or three operands.
#[derive(Clone)]
pub struct Alu<W> {
    op: [u32; 2],
    /// The third one stays zero where there are two.
    operands: [W; 3],
    last: usize,
    pub result: W,
}

impl<W: Copy> Alu<W> {
    pub fn new(operands: usize, fill: W, zero: W) -> Self {
        let third = if operands > 2 { fill } else { zero };
        Alu { op: [0; 2], operands: [fill, fill, third], last: operands - 1, result: fill }
    }

    pub fn step<D: Domain<Word = W>>(&mut self, of: &mut D, op: u32, read: &[W], key: Option<W>) {
        let sum = |op: u32, flag: u32| op >> 8 & 1 == 1 && op & flag != 0;
        let last = self.last;
        let now = self.op[1];
        self.result = if now >> 8 & 1 == 0 {
            of.logic(now as u8, self.operands)
        } else {
            // What is subtracted is complemented already; each adds one more.
            let ones = u32::from(sum(now, 1)) + u32::from(sum(now, 2));
            let ones = if last == 1 { ones.min(1) } else { ones };
            of.sum(&self.operands, ones)
        };
        let flags = self.op[0];
        self.operands[..read.len()].copy_from_slice(read);
        if sum(flags, 1) {
            self.operands[last - 1] = of.not(self.operands[last - 1]);
        }
        let word = key.unwrap_or(read[last]);
        self.operands[last] = if sum(flags, 2) { of.not(word) } else { word };
        if sum(flags, 4) {
            self.operands[last] = of.constant(0);
        }
        if last > 1 && sum(flags, 8) {
            self.operands[0] = of.constant(0);
        }
        self.op = [op, self.op[0]];
    }
}

#[derive(Clone)]
pub struct Rotator<W> {
    op: u32,
    constant: u32,
    amount: W,
    fine: W,
    right: bool,
    value: W,
    coarse: W,
    mask: [u32; 2],
    pub result: W,
}

impl<W: Copy> Rotator<W> {
    pub fn new(fill: W) -> Self {
        Rotator {
            op: 0,
            constant: 0,
            amount: fill,
            fine: fill,
            right: false,
            value: fill,
            coarse: fill,
            mask: [0; 2],
            result: fill,
        }
    }

    pub fn step<D: Domain<Word = W>>(
        &mut self,
        of: &mut D,
        op: u32,
        constant: u32,
        value: W,
        amount: W,
        key: Option<W>,
    ) {
        let turned = of.rotate_by(self.coarse, self.fine, 7);
        self.result = of.mask(turned, self.mask[1]);
        let one = of.rotate(self.value, u32::from(self.right));
        self.coarse = of.rotate_by(one, self.amount, 24);
        self.fine = self.amount;
        let low = (1u32 << self.constant) - 1;
        let mask = match (self.op >> 2 & 1, self.op >> 1 & 1) {
            (0, _) => u32::MAX,
            (_, 1) => low,
            _ => !low,
        };
        self.mask = [mask, self.mask[0]];
        let right = self.op >> 1 & 1;
        self.amount = if self.op & 1 == 1 {
            of.constant(self.constant)
        } else {
            let turned = of.flip(key.unwrap_or(amount), if right == 1 { 31 } else { 0 });
            of.mask(turned, 31)
        };
        self.right = right == 1 && self.op & 1 == 0;
        self.value = value;
        self.op = op;
        self.constant = constant & 31;
    }
}

/// Four tables of two pages and two banks, and what joins them.
#[derive(Clone)]
pub struct Quad<W> {
    tables: [Vec<W>; 4],
    op: [u32; 3],
    raw: [W; 4],
    found: [W; 4],
    chain: u32,
    chain_end: u32,
    chained: bool,
    first: W,
    lane1: W,
    lane0: W,
    second: W,
    lane0_late: W,
    pub result: W,
}

/// Words of a lane's tables, both banks' together.
const TABLES: usize = 1024;

/// Joins what comes from the lanes above with what the lane below finds.
fn link<D: Domain>(of: &mut D, op: u32, above: D::Word, below: D::Word) -> D::Word {
    let link = match op & 3 {
        0 | 1 => Link::Xor,
        2 => Link::Plus,
        _ => Link::Minus,
    };
    link.apply(of, above, below)
}

impl<W: Copy> Quad<W> {
    pub fn new(fill: W) -> Self {
        Quad {
            tables: [(); 4].map(|()| vec![fill; TABLES]),
            op: [0; 3],
            raw: [fill; 4],
            found: [fill; 4],
            chain: 0,
            chain_end: 0,
            chained: false,
            first: fill,
            lane1: fill,
            lane0: fill,
            second: fill,
            lane0_late: fill,
            result: fill,
        }
    }

    /// Each lane looks up its own byte of the word at its port.
    pub fn step<D: Domain<Word = W>>(
        &mut self,
        of: &mut D,
        bank: usize,
        op: u32,
        index: [W; 4],
        write: Option<(u8, usize, [W; 4])>,
    ) {
        self.result = if self.chained {
            link(of, self.chain_end, self.second, self.lane0_late)
        } else {
            let zero = of.constant(0);
            let shown = |lane: usize| if self.op[2] >> lane & 1 == 1 { zero } else { self.found[lane] };
            let three = of.logic(0b1001_0110, [shown(0), shown(1), shown(2)]);
            of.logic(0b0110, [three, shown(3), zero])
        };
        self.lane0_late = self.lane0;
        self.second = link(of, self.chain >> 2, self.first, self.lane1);
        self.lane0 = self.found[0];
        self.lane1 = self.found[1];
        let links = self.op[2] >> 9;
        self.first = link(of, links >> 4, self.found[3], self.found[2]);
        self.chained = self.chain != 0;
        self.chain_end = self.chain & 3;
        self.chain = links & 63;
        self.found = self.raw;
        let six = self.op[0] >> 8 & 1 == 1;
        for (lane, word) in index.into_iter().enumerate() {
            let page = self.op[0] as usize >> (4 + lane) & 1;
            let table = &self.tables[lane][bank << 9 | page << 8..][..256];
            self.raw[lane] = of.look_up(Table::Memory(table), word, lane, six);
        }
        self.op = [op, self.op[0], self.op[1]];
        if let Some((lanes, at, data)) = write {
            for lane in (0..4).filter(|lane| lanes >> lane & 1 == 1) {
                self.tables[lane][(1 - bank) << 9 | at] = data[lane];
            }
        }
    }
}

#[derive(Clone)]
pub struct Multiplier<W> {
    op: [u32; 2],
    rotate: [bool; 2],
    half: [Option<Half>; 2],
    a: W,
    b: W,
    halves: (W, W),
    low: W,
    cross: W,
    carryless: W,
    pub result: W,
}

impl<W: Copy> Multiplier<W> {
    pub fn new(fill: W) -> Self {
        let (op, rotate) = ([0; 2], [false; 2]);
        Multiplier {
            op,
            rotate,
            half: [None; 2],
            a: fill,
            b: fill,
            halves: (fill, fill),
            low: fill,
            cross: fill,
            carryless: fill,
            result: fill,
        }
    }

    /// The last word is what the key memory has.
    pub fn step<D: Domain<Word = W>>(&mut self, of: &mut D, op: u32, [a, b]: [W; 2], key: W) {
        self.result = match self.half[1] {
            Some(_) => self.carryless,
            None => {
                let product = of.joined_product(self.low, self.cross);
                if self.rotate[1] { of.rotate(product, 5) } else { product }
            }
        };
        let (x, y) = self.halves;
        match self.half[0] {
            Some(half) => self.carryless = of.carryless(x, y, half),
            None => {
                self.low = of.low_product(x, y);
                self.cross = of.cross_product(x, y);
            }
        }
        self.half = [Half::of_bits(self.op[1] >> 2), self.half[0]];
        self.halves = (self.a, if self.op[1] & 1 == 1 { of.twice_and_one(self.a) } else { self.b });
        self.rotate = [self.op[1] & 2 != 0, self.rotate[0]];
        self.a = a;
        self.b = if self.op[0] & 16 == 16 { key } else { b };
        self.op = [op, self.op[0]];
    }
}

/// A memory with a register in front of its address and one behind its word.
#[derive(Clone)]
pub struct Memory<W> {
    words: Vec<W>,
    write: [(bool, usize); 2],
    read_at: usize,
    raw: W,
    pub result: W,
}

impl<W: Copy> Memory<W> {
    pub fn new(words: usize, fill: W) -> Self {
        Memory { words: vec![fill; words], write: [(false, 0); 2], read_at: 0, raw: fill, result: fill }
    }

    pub fn word(&self, at: usize) -> W {
        self.words[at % self.words.len()]
    }

    /// Puts a word into the memory between two clocks.
    pub fn put(&mut self, at: usize, word: W) {
        let words = self.words.len();
        self.words[at % words] = word;
    }

    pub fn step<D: Domain<Word = W>>(
        &mut self,
        of: &mut D,
        write: bool,
        write_at: usize,
        data: W,
        read_at: usize,
    ) {
        // A power of two.
        let last = self.words.len() - 1;
        self.result = self.raw;
        self.raw = self.words[self.read_at];
        if let (true, at) = self.write[1] {
            if at == self.read_at {
                self.raw = of.collided(self.raw);
            }
            self.words[at] = data;
        }
        self.write = [(write, write_at & last), self.write[0]];
        self.read_at = read_at & last;
    }
}

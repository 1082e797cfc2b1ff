// SPDX-License-Identifier: Apache-2.0
//! The elements of a tile, register by register as in `rtl/array`. Every `step` is one clock's edge: results are
//! those of before until it returns.

use crate::ir::graph::logic;

/// A key memory.
#[derive(Clone)]
pub struct Key {
    words: Vec<u32>,
    bases: Vec<usize>,
    block: usize,
    word: usize,
    constant: bool,
    used: [bool; 4],
    at: usize,
    raw: u32,
    out: u32,
}

impl Key {
    pub fn new(words: usize, stages: usize) -> Key {
        Key {
            words: vec![0; words],
            bases: vec![0; stages],
            block: 0,
            word: 0,
            constant: false,
            used: [false; 4],
            at: 0,
            raw: 0,
            out: 0,
        }
    }

    /// The word that the element uses in this clock, if it does.
    pub fn used(&self) -> Option<u32> {
        self.used[3].then_some(self.out)
    }

    pub fn step(
        &mut self,
        fields: [u16; 4],
        block: usize,
        start: Option<(usize, usize)>,
        constants: usize,
        write: Option<(usize, u32)>,
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
pub struct Alu {
    op: [u32; 2],
    /// The third one stays zero where there are two.
    operands: [u32; 3],
    last: usize,
    pub result: u32,
}

impl Alu {
    pub fn new(operands: usize) -> Alu {
        Alu { op: [0; 2], operands: [0; 3], last: operands - 1, result: 0 }
    }

    pub fn step(&mut self, op: u32, read: &[u32], key: Option<u32>) {
        let sum = |op: u32, flag: u32| op >> 8 & 1 == 1 && op & flag != 0;
        let last = self.last;
        let now = self.op[1];
        self.result = if now >> 8 & 1 == 0 {
            logic(now as u8, &self.operands)
        } else {
            // What is subtracted is complemented already; each adds one more.
            let ones = u32::from(sum(now, 1)) + u32::from(sum(now, 2));
            let ones = if last == 1 { ones.min(1) } else { ones };
            self.operands.iter().fold(ones, |all, word| all.wrapping_add(*word))
        };
        let flags = self.op[0];
        self.operands[..read.len()].copy_from_slice(read);
        if sum(flags, 1) {
            self.operands[last - 1] = !self.operands[last - 1];
        }
        let word = key.unwrap_or(read[last]);
        self.operands[last] = if sum(flags, 2) { !word } else { word };
        if sum(flags, 4) {
            self.operands[last] = 0;
        }
        if last > 1 && sum(flags, 8) {
            self.operands[0] = 0;
        }
        self.op = [op, self.op[0]];
    }
}

#[derive(Clone, Default)]
pub struct Rotator {
    op: u32,
    constant: u32,
    amount: u32,
    fine: u32,
    right: bool,
    value: u32,
    coarse: u32,
    mask: [u32; 2],
    pub result: u32,
}

impl Rotator {
    pub fn step(&mut self, op: u32, constant: u32, value: u32, amount: u32, key: Option<u32>) {
        self.result = self.coarse.rotate_left(self.fine) & self.mask[1];
        let one = self.value.rotate_left(u32::from(self.right));
        self.coarse = one.rotate_left(self.amount & 24);
        self.fine = self.amount & 7;
        let low = (1u32 << self.constant) - 1;
        let mask = match (self.op >> 2 & 1, self.op >> 1 & 1) {
            (0, _) => u32::MAX,
            (_, 1) => low,
            _ => !low,
        };
        self.mask = [mask, self.mask[0]];
        let right = self.op >> 1 & 1;
        self.amount = if self.op & 1 == 1 {
            self.constant
        } else {
            (key.unwrap_or(amount) ^ if right == 1 { 31 } else { 0 }) & 31
        };
        self.right = right == 1 && self.op & 1 == 0;
        self.value = value;
        self.op = op;
        self.constant = constant & 31;
    }
}

/// Four tables of two pages and two banks, and what joins them.
#[derive(Clone)]
pub struct Quad {
    tables: Box<[[u32; 1024]; 4]>,
    op: [u32; 3],
    raw: [u32; 4],
    found: [u32; 4],
    chain: u32,
    chain_end: u32,
    chained: bool,
    first: u32,
    lane1: u32,
    lane0: u32,
    second: u32,
    lane0_late: u32,
    pub result: u32,
}

impl Quad {
    pub fn new() -> Quad {
        Quad {
            tables: Box::new([[0; 1024]; 4]),
            op: [0; 3],
            raw: [0; 4],
            found: [0; 4],
            chain: 0,
            chain_end: 0,
            chained: false,
            first: 0,
            lane1: 0,
            lane0: 0,
            second: 0,
            lane0_late: 0,
            result: 0,
        }
    }

    /// Each lane looks up its own byte of the word at its port.
    pub fn step(&mut self, bank: usize, op: u32, index: [u32; 4], write: Option<(u8, usize, [u32; 4])>) {
        let link = |op: u32, above: u32, below: u32| match op & 3 {
            0 | 1 => above ^ below,
            2 => above.wrapping_add(below),
            _ => above.wrapping_sub(below),
        };
        let end = link(self.chain_end, self.second, self.lane0_late);
        let shown = |lane: usize| if self.op[2] >> lane & 1 == 1 { 0 } else { self.found[lane] };
        let all = shown(0) ^ shown(1) ^ shown(2) ^ shown(3);
        self.result = if self.chained { end } else { all };
        self.lane0_late = self.lane0;
        self.second = link(self.chain >> 2, self.first, self.lane1);
        self.lane0 = self.found[0];
        self.lane1 = self.found[1];
        let links = self.op[2] >> 9;
        self.first = link(links >> 4, self.found[3], self.found[2]);
        self.chained = self.chain != 0;
        self.chain_end = self.chain & 3;
        self.chain = links & 63;
        self.found = self.raw;
        let six = if self.op[0] >> 8 & 1 == 1 { 0xFC } else { 0xFF };
        for (lane, word) in index.into_iter().enumerate() {
            let page = self.op[0] as usize >> (4 + lane) & 1;
            let byte = (word >> (8 * lane)) as usize & six;
            self.raw[lane] = self.tables[lane][bank << 9 | page << 8 | byte];
        }
        self.op = [op, self.op[0], self.op[1]];
        if let Some((lanes, at, data)) = write {
            for lane in (0..4).filter(|lane| lanes >> lane & 1 == 1) {
                self.tables[lane][(1 - bank) << 9 | at] = data[lane];
            }
        }
    }
}

#[derive(Clone, Default)]
pub struct Multiplier {
    op: [u32; 2],
    rotate: [bool; 2],
    a: u32,
    b: u32,
    halves: (u32, u32),
    low: u32,
    cross: u32,
    pub result: u32,
}

impl Multiplier {
    pub fn step(&mut self, op: u32, a: u32, b: u32) {
        let product = self.low.wrapping_add(self.cross << 16);
        self.result = if self.rotate[1] { product.rotate_left(5) } else { product };
        let (x, y) = self.halves;
        self.low = (x & 0xFFFF) * (y & 0xFFFF);
        // Only its low half counts.
        self.cross = (x >> 16).wrapping_mul(y & 0xFFFF).wrapping_add((x & 0xFFFF).wrapping_mul(y >> 16));
        self.halves = (self.a, if self.op[1] & 1 == 1 { self.a << 1 | 1 } else { self.b });
        self.rotate = [self.op[1] & 2 != 0, self.rotate[0]];
        self.a = a;
        self.b = b;
        self.op = [op, self.op[0]];
    }
}

/// A memory with a register in front of its address and one behind its word.
#[derive(Clone)]
pub struct Memory {
    words: Vec<u32>,
    write: [(bool, usize); 2],
    read_at: usize,
    raw: u32,
    pub result: u32,
}

impl Memory {
    pub fn new(words: usize) -> Memory {
        Memory { words: vec![0; words], write: [(false, 0); 2], read_at: 0, raw: 0, result: 0 }
    }

    pub fn word(&self, at: usize) -> u32 {
        self.words[at % self.words.len()]
    }

    pub fn step(&mut self, write: bool, write_at: usize, data: u32, read_at: usize) {
        // A power of two.
        let last = self.words.len() - 1;
        self.result = self.raw;
        self.raw = self.words[self.read_at];
        if let (true, at) = self.write[1] {
            self.words[at] = data;
        }
        self.write = [(write, write_at & last), self.write[0]];
        self.read_at = read_at & last;
    }
}

// SPDX-License-Identifier: Apache-2.0
//! A context set: what a tile loads to compute an algorithm. Bytes to a set, with every length and number checked,
//! and a set to bytes. `docs/array-sets.md` has the format.

use crate::Error;
use crate::bounds;
use crate::frontend::Order;
use crate::ir::layout::{Context, Layout};
use crate::ir::shape::Shape;
use crate::schedule;

/// The first eight bytes of a set: the name of the format and its version, 2.
pub const MAGIC: [u8; 8] = *b"ACESET\x02\n";
/// Words of the header.
const HEADER: usize = 5;

/// Lanes of a quad, each of which looks up tables of its own.
pub const LANES: usize = 4;
/// Tables that each lane of a quad has room for.
pub const PAGES: usize = 2;

/// What a tile loads, with every length and number within what its shape has ([`Set::from_bytes`] checks that).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// The shape's version.
    pub version: u32,
    /// Byte 0 of the frames that ask for it.
    pub algorithm: u8,
    /// Frames that decrypt do.
    pub decrypt: bool,
    /// Its block is a raw key and its result what the cipher of this code and direction is sent as a key.
    pub keys: bool,
    /// Slots from a block's first context to the one in which its result can be read.
    pub latency: u16,
    /// How the bytes of a block are words.
    pub input: Order,
    /// How the words of a result are bytes.
    pub output: Order,
    /// Words of 32 bits of a block; of a hash with the state in front of the message.
    pub input_words: u8,
    /// Words of 32 bits of a result.
    pub output_words: u8,
    /// Words of 32 bits of an expanded key, at most [`Shape::key_room`].
    pub key_words: u16,
    /// Words that a block moves the memory elements' bases by.
    pub memory_stride: u16,
    /// The constants of the key memories, which operations take like words of a key: by [`Shape::constants_of`].
    pub constants: [Vec<u32>; 2],
    /// The contexts of a block, one a clock, in the layout of [`Layout`].
    pub contexts: Vec<Context>,
    /// By lane and page: 64 or 256 words, or none.
    pub tables: [[Vec<u32>; PAGES]; LANES],
    /// A hash's first state; none for ciphers.
    pub chain: Vec<u32>,
}

/// How a section's words go to where they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Contexts = 1,
    /// Two words of a beat to two lanes.
    Pair = 2,
    /// A word for all lanes, rotated by a byte for each; two entries a beat.
    Words = 3,
    /// The same of bytes; eight entries a beat.
    Bytes = 4,
    Constants = 5,
    Chain = 6,
}

/// What is written into a tile in one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// What is written.
    pub target: Target,
    /// Whether each lane takes the word rotated left by a byte more than the lane before.
    pub rotate: bool,
    /// A mask of lanes for tables, and of key memories for constants ([`Shape::constants_of`]); the number of the word in its
    /// context for contexts.
    pub lane: u8,
    /// The address in what is written.
    pub at: u16,
    /// The beat of 64 bits; what takes a word uses its low half.
    pub data: u64,
}

/// As `target_e` of `rtl/array/array_pkg.sv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A word of 64 bits of a context.
    Context = 1,
    /// An entry of the tables of lanes.
    Table = 2,
    /// A constant, in the key memories of ALUs or of rotators.
    Constant = 3,
    /// A word of a key, in every key memory.
    Key = 4,
    /// A word for each input element.
    Input = 5,
    /// What a tile has to know of a set besides: bank, strides and the number of contexts.
    Settings = 6,
}

fn code(order: Order) -> u8 {
    match order {
        Order::Little => 0,
        Order::Big => 1,
        Order::Des => 2,
    }
}

fn order(code: u8) -> Option<Order> {
    [Order::Little, Order::Big, Order::Des].get(usize::from(code)).copied()
}

impl Set {
    /// The initiation interval: slots from one block's start to the next one's, which is the number of contexts.
    pub fn ii(&self) -> usize {
        self.contexts.len()
    }

    /// Clocks from one block of a packet to its next one, if each waits for the one before and no other packet is there.
    pub fn dependent_interval(&self) -> usize {
        let (inputs, outputs) = (usize::from(self.input_words), usize::from(self.output_words));
        schedule::dependent_interval(self.ii(), usize::from(self.latency), inputs, outputs)
    }

    /// Words of each input element that a block takes.
    pub fn input_stride(&self, shape: &Shape) -> usize {
        usize::from(self.input_words).div_ceil(shape.inputs)
    }

    /// Words of each output element that a result takes.
    pub fn output_stride(&self, shape: &Shape) -> usize {
        usize::from(self.output_words).div_ceil(shape.outputs)
    }

    /// The sections with their heads: kind, mask of lanes, address, and beats.
    fn sections(&self) -> Vec<(Section, u8, u16, Vec<u64>)> {
        let mut out = Vec::new();
        let contexts = self.contexts.iter().flat_map(|context| context.0.iter().copied()).collect();
        out.push((Section::Contexts, 0, 0, contexts));
        for page in 0..PAGES {
            let tables: Vec<&Vec<u32>> = self.tables.iter().map(|lane| &lane[page]).collect();
            let at = (page * 256) as u16;
            let turned = |lane: usize| {
                tables[lane].len() == tables[0].len()
                    && tables[lane].iter().zip(tables[0]).all(|(a, b)| *a == b.rotate_left(8 * lane as u32))
            };
            if !tables[0].is_empty() && (1..LANES).all(turned) {
                let words = tables[0];
                if words.iter().all(|word| *word < 256) {
                    let bytes = words
                        .chunks(8)
                        .map(|eight| eight.iter().rev().fold(0, |beat, word| beat << 8 | u64::from(*word)));
                    out.push((Section::Bytes, 15, at, bytes.collect()));
                } else {
                    out.push((Section::Words, 15, at, packed(words)));
                }
                continue;
            }
            // Lanes 2 and 3 that have what lanes 0 and 1 have take it from the same beats.
            let twice = tables[..2] == tables[2..];
            for pair in if twice { &[0][..] } else { &[0, 2] } {
                let (even, odd) = (tables[*pair], tables[pair + 1]);
                let mask = (u8::from(!even.is_empty()) | u8::from(!odd.is_empty()) << 1) << pair;
                let mask = if twice { mask | mask << 2 } else { mask };
                // Tables of two lengths are sent one after the other.
                let masks =
                    if even.len() == odd.len() { vec![mask] } else { vec![mask & 0b0101, mask & 0b1010] };
                for mask in masks.into_iter().filter(|mask| *mask != 0) {
                    let word =
                        |table: &Vec<u32>, entry: usize| u64::from(table.get(entry).copied().unwrap_or(0));
                    let length = if mask & 0b0101 == 0 { odd.len() } else { even.len() };
                    let beats = (0..length).map(|entry| word(even, entry) | word(odd, entry) << 32);
                    out.push((Section::Pair, mask, at, beats.collect()));
                }
            }
        }
        for (of, words) in self.constants.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
            out.push((Section::Constants, 1 << of, words.len() as u16, packed(words)));
        }
        if !self.chain.is_empty() {
            out.push((Section::Chain, 0, self.chain.len() as u16, packed(&self.chain)));
        }
        out
    }

    /// Clocks of a load over a stream of 64 bits: its words, or what they are written as if that is more.
    pub fn load_clocks(&self) -> usize {
        self.writes().len().max(self.to_bytes().len() / 8)
    }

    /// The bytes of the set as docs/array-sets.md has them, its CRC at the end; [`Set::from_bytes`] gives the same set back.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![u64::from_le_bytes(MAGIC), 0];
        words.push(
            self.contexts.len() as u64
                | u64::from(self.latency) << 16
                | u64::from(code(self.input)) << 32
                | u64::from(code(self.output)) << 40,
        );
        words.push(
            u64::from(self.input_words)
                | u64::from(self.output_words) << 8
                | u64::from(self.key_words) << 16
                | u64::from(self.memory_stride) << 32,
        );
        let sections = self.sections();
        let flags = u64::from(self.decrypt) | u64::from(self.keys) << 1;
        words.push(sections.len() as u64 | u64::from(self.algorithm) << 16 | flags << 24);
        for (section, mask, at, beats) in sections {
            words.push(
                section as u64 | u64::from(mask) << 8 | u64::from(at) << 16 | (beats.len() as u64) << 32,
            );
            words.extend(beats);
        }
        words[1] = u64::from(self.version) | (words.len() as u64 + 1) << 32;
        let mut out: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let crc = u64::from(crc32fast::hash(&out));
        out.extend(crc.to_le_bytes());
        out
    }

    /// Reads a set for a tile of this shape. Whatever the bytes are, what comes out is whole and fits, and reaches for
    /// nothing but its own ([`bounds::check`]): whoever loads, signs or runs a set has it from here.
    pub fn from_bytes(bytes: &[u8], shape: &Shape) -> Result<Set, Error> {
        let wrong = |what: String| Error::Set(what);
        if !bytes.len().is_multiple_of(8) || bytes.len() < 8 * (HEADER + 1) {
            return Err(wrong(format!("{} bytes are no set's length", bytes.len())));
        }
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
            .collect();
        if words[0] != u64::from_le_bytes(MAGIC) {
            return Err(wrong("it does not begin as a context set".to_owned()));
        }
        if words[1] >> 32 != words.len() as u64 {
            return Err(wrong(format!("{} words came, it says {}", words.len(), words[1] >> 32)));
        }
        let end = words.len() - 1;
        if words[end] != u64::from(crc32fast::hash(&bytes[..8 * end])) {
            return Err(wrong("its CRC is another one".to_owned()));
        }
        let version = words[1] as u32;
        if version != shape.version() {
            return Err(wrong(format!("it is for array {version:08x}, this is {:08x}", shape.version())));
        }
        let header = (words[2], words[3]);
        let orders = order((header.0 >> 32) as u8).zip(order((header.0 >> 40) as u8));
        let (input, output) = orders.ok_or_else(|| wrong("an order of bytes is not known".to_owned()))?;
        let mut set = Set {
            version,
            algorithm: (words[4] >> 16) as u8,
            decrypt: words[4] >> 24 & 1 == 1,
            keys: words[4] >> 25 & 1 == 1,
            latency: (header.0 >> 16) as u16,
            input,
            output,
            input_words: header.1 as u8,
            output_words: (header.1 >> 8) as u8,
            key_words: (header.1 >> 16) as u16,
            memory_stride: (header.1 >> 32) as u16,
            constants: Default::default(),
            contexts: Vec::new(),
            tables: Default::default(),
            chain: Vec::new(),
        };
        let mut rest = &words[HEADER..end];
        for _ in 0..words[4] & 0xFFFF {
            let (head, data) = rest.split_first().ok_or_else(|| wrong("a section is missing".to_owned()))?;
            let beats = (head >> 32) as usize;
            if beats > data.len() {
                return Err(wrong(format!("a section has {beats} words, {} are left", data.len())));
            }
            set.section(*head, &data[..beats], shape)?;
            rest = &data[beats..];
        }
        if !rest.is_empty() {
            return Err(wrong("words follow the last section".to_owned()));
        }
        set.check(header.0 as u16, shape)?;
        bounds::check(&set, shape)?;
        Ok(set)
    }

    fn section(&mut self, head: u64, beats: &[u64], shape: &Shape) -> Result<(), Error> {
        let wrong = |what: &str| Error::Set(format!("{what}, in the section {head:016x}"));
        let (mask, at) = ((head >> 8) as u8, (head >> 16) as u16);
        let page = usize::from(at / 256);
        let kind = head as u8;
        let table = matches!(kind, 2..=4);
        if table && (at % 256 != 0 || page >= PAGES || mask == 0 || mask > 15) {
            return Err(wrong("a table lies nowhere"));
        }
        let halves = || beats.iter().flat_map(|beat| [*beat as u32, (*beat >> 32) as u32]);
        match kind {
            1 => {
                let words = Layout::of(shape).words();
                if beats.is_empty() || !beats.len().is_multiple_of(words) || !self.contexts.is_empty() {
                    return Err(wrong("these are no contexts"));
                }
                self.contexts = beats.chunks(words).map(|context| Context(context.to_vec())).collect();
            }
            2 => {
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    let words = beats.iter().map(|beat| (*beat >> (32 * (lane % 2))) as u32).collect();
                    self.table(lane, page, words).ok_or_else(|| wrong("a table is no table"))?;
                }
            }
            3 | 4 => {
                let words: Vec<u32> = if kind == 3 {
                    halves().collect()
                } else {
                    beats
                        .iter()
                        .flat_map(|beat| (0..8).map(move |at| (beat >> (8 * at)) as u32 & 255))
                        .collect()
                };
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    let words = words.iter().map(|word| word.rotate_left(8 * lane as u32)).collect();
                    self.table(lane, page, words).ok_or_else(|| wrong("a table is no table"))?;
                }
            }
            5 | 6 => {
                let count = usize::from(at);
                let words: Vec<u32> = halves().take(count).collect();
                let room = if kind == 5 { shape.constants } else { 64 };
                if words.len() != count || count == 0 || count > room || beats.len() != count.div_ceil(2) {
                    return Err(wrong("there is no room for so many words"));
                }
                let place = match (kind, mask) {
                    (5, 1 | 2) => &mut self.constants[usize::from(mask / 2)],
                    (6, 0) => &mut self.chain,
                    _ => return Err(wrong("its words go nowhere")),
                };
                if !std::mem::replace(place, words).is_empty() {
                    return Err(wrong("it comes twice"));
                }
            }
            _ => return Err(wrong("its kind is not known")),
        }
        Ok(())
    }

    fn table(&mut self, lane: usize, page: usize, words: Vec<u32>) -> Option<()> {
        let place = &mut self.tables[lane][page];
        (matches!(words.len(), 64 | 256) && place.is_empty()).then(|| *place = words)
    }

    fn check(&self, contexts: u16, shape: &Shape) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Set(what));
        if self.contexts.len() != usize::from(contexts)
            || !(1..=shape.contexts).contains(&self.contexts.len())
        {
            return wrong(format!("{} contexts are there, it says {contexts}", self.contexts.len()));
        }
        let room = shape.stream_words / 2;
        let strides = [self.input_stride(shape), self.output_stride(shape)];
        if strides.iter().any(|stride| !(1..=room).contains(stride)) {
            return wrong(format!("blocks of {} and {} words", self.input_words, self.output_words));
        }
        if usize::from(self.key_words) > shape.key_room()
            || usize::from(self.memory_stride) >= shape.memory_words
        {
            return wrong(format!("{} words of a key, {} stored", self.key_words, self.memory_stride));
        }
        if !self.chain.is_empty() && self.chain.len() != usize::from(self.output_words) {
            return wrong(format!("a chain of {} words", self.chain.len()));
        }
        if self.keys {
            let words = (usize::from(self.input_words), usize::from(self.output_words));
            if self.key_words > 0 || !self.chain.is_empty() {
                return wrong(format!("it sets keys up, and wants {} words of one itself", self.key_words));
            }
            if self.input == Order::Des || self.output != Order::Little {
                return wrong("it sets keys up in an order of bytes that no key has".to_owned());
            }
            schedule::sets_up(words, self.ii(), usize::from(self.latency))
                .or_else(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }

    /// What is written into the idle bank, a clock each: the time that a load takes.
    pub fn writes(&self) -> Vec<Write> {
        let mut out = Vec::new();
        let mut put = |target, rotate, lane, at: usize, data| {
            out.push(Write { target, rotate, lane, at: at as u16, data });
        };
        for (at, context) in self.contexts.iter().enumerate() {
            for (lane, word) in context.0.iter().enumerate() {
                put(Target::Context, false, lane as u8, at, *word);
            }
        }
        for (section, mask, base, beats) in self.sections() {
            // A table of 64 words lies at every fourth address.
            let entries = match section {
                Section::Pair => beats.len(),
                Section::Words => 2 * beats.len(),
                Section::Bytes => 8 * beats.len(),
                _ => 0,
            };
            let step = if entries == 64 { 4 } else { 1 };
            let mut entry = 0;
            for beat in beats {
                let each: Vec<(bool, u64)> = match section {
                    Section::Pair => vec![(false, beat)],
                    Section::Words => vec![(true, beat & 0xFFFF_FFFF), (true, beat >> 32)],
                    Section::Bytes => (0..8).map(|at| (true, beat >> (8 * at) & 255)).collect(),
                    _ => Vec::new(),
                };
                for (rotate, data) in each {
                    put(Target::Table, rotate, mask, usize::from(base) + step * entry, data);
                    entry += 1;
                }
            }
        }
        for (of, words) in self.constants.iter().enumerate() {
            for (at, constant) in words.iter().enumerate() {
                put(Target::Constant, false, 1 << of, at, u64::from(*constant));
            }
        }
        out
    }

    /// What makes a bank with this set run.
    pub fn settings(&self, shape: &Shape, bank: bool) -> Write {
        let mut data = 0;
        let mut at = 0;
        let mut field = |value: usize, words: usize| {
            data |= (value as u64) << at;
            at += crate::ir::shape::bits_for(words);
        };
        field(self.ii() - 1, shape.contexts);
        field(self.input_stride(shape), shape.stream_words);
        field(self.output_stride(shape), shape.stream_words);
        field(usize::from(self.memory_stride), shape.memory_words);
        field(usize::from(bank), 2);
        Write { target: Target::Settings, rotate: false, lane: 0, at: 0, data }
    }
}

fn packed(words: &[u32]) -> Vec<u64> {
    words
        .chunks(2)
        .map(|two| u64::from(two[0]) | two.get(1).map_or(0, |high| u64::from(*high) << 32))
        .collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Any bit of a memory turned: what a reading makes of it, without reading all of it again.
//!
//! A reading sees the bits only through its questions ([`super::query_cache`]). A bit at which none of them looks changes
//! nothing that is read, and so nothing that is written again; but the bit is not as it was written, and that is refused.
//! Of a bit at which some look, these are asked anew; where an answer is another one, the memory is read as a whole, with
//! the answers to all other questions as they were. What is read without a refusal is compared ([`super::compare`]).

use std::collections::{HashMap, HashSet};

use super::cells::{Kind, Net};
use super::compare::{Comparison, Outcome};
use super::database::Tile;
use super::error::NetlistError;
use super::extract::whole;
use super::extractor::Extractor;
use super::fabric::Fabric;
use super::query_cache::{Answer, Known, QueryCache, Question};
use super::reading::{Reading, sorted};
use super::slice::SLICES;

/// What becomes of a memory with other bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing that is read looks at the bits: what is written again is as it was, and they are not.
    Unread,
    /// What looks at the bits, asked anew, refuses them or does not explain them.
    Refused,
    /// It is read, and a pin of a register or block or an output has another value under some values of registers and
    /// inputs, or a register or block is told something else.
    Different,
    /// The same, and the solver found the values.
    Solved,
    /// It is read as the very same circuit.
    Same,
    /// It is read as another circuit, and the solver has shown that it computes the same.
    Equal,
}

/// Tries flips of a memory.
pub struct BitFlipSensitivity<'r> {
    reading: &'r Reading<'r>,
    questions: Vec<&'r Question>,
    /// For each bit where its questions begin in `readers`.
    first: Vec<u32>,
    readers: Vec<u32>,
    /// How many answers explain a bit; one more where it was written without an answer.
    explained: Vec<u16>,
    /// For each bit the number of its tile, if it has one.
    tile_at: Vec<u32>,
    /// At which bits one looks who looks into a logic tile.
    looks: HashMap<Tile, Option<HashSet<u32>>>,
    end: Extractor<'r>,
    comparison: Comparison<'r>,
}

impl<'r> BitFlipSensitivity<'r> {
    /// # Errors
    /// The circuit goes in a circle.
    pub fn new(reading: &'r Reading<'r>) -> Result<Self, NetlistError> {
        let device = reading.memory.device();
        let bits = device.frames * device.frame_bits;
        let questions: Vec<&Question> = reading.answers.keys().collect();
        let (mut first, mut explained) = (vec![0u32; bits + 1], vec![0u16; bits]);
        let known = || questions.iter().filter_map(|question| reading.answers.get(*question));
        for known in known() {
            known.reads.iter().for_each(|bit| first[*bit as usize + 1] += 1);
            known.writes.iter().for_each(|bit| explained[*bit as usize] += 1);
        }
        for bit in 0..bits {
            first[bit + 1] += first[bit];
            let written = reading.written.bit(bit / device.frame_bits, bit % device.frame_bits);
            explained[bit] += u16::from(written == Some(true) && explained[bit] == 0);
        }
        let mut next = first.clone();
        let mut readers = vec![0; first[bits] as usize];
        for (number, known) in known().enumerate() {
            for bit in &known.reads {
                let at = &mut next[*bit as usize];
                readers[*at as usize] = number as u32;
                *at += 1;
            }
        }
        let mut tile_at = vec![u32::MAX; bits];
        // As in `Database::tile_of` the first counts.
        for (number, tile) in reading.database.tiles.iter().enumerate().rev() {
            for frame in tile.frame..tile.frame + tile.size.0 {
                let first = frame * device.frame_bits + tile.bit;
                tile_at[first..first + tile.size.1].fill(number as u32);
            }
        }
        let mut fabric = Fabric::new(reading.database, reading.memory);
        fabric.cache = Some(QueryCache::default());
        let mut end = Extractor::new(fabric);
        (end.nets, end.constants) = (reading.nets.clone(), reading.constants);
        let comparison = Comparison::new(&reading.netlist)?;
        let looks = HashMap::new();
        Ok(Self { reading, questions, first, readers, explained, tile_at, looks, end, comparison })
    }

    /// How many bits the memory has, block memories aside.
    pub fn bits(&self) -> u32 {
        self.explained.len() as u32
    }

    /// One bit turned, by its number: frames one after the other.
    ///
    /// # Errors
    /// The solver gives up.
    pub fn flip(&mut self, bit: u32) -> Result<Verdict, NetlistError> {
        let asked = self.first[bit as usize] as usize..self.first[bit as usize + 1] as usize;
        let tile = self.reading.database.tiles.get(self.tile_at[bit as usize] as usize).copied();
        let residual = tile.is_some_and(|tile| self.reading.residual.contains(&tile));
        if asked.is_empty() {
            return self.unexplained(bit, tile.filter(|_| !residual));
        }
        if residual {
            return self.again(&[bit]);
        }
        self.end.fabric.flipped.set(Some(bit));
        let questions: Vec<&Question> = asked.map(|at| self.questions[self.readers[at] as usize]).collect();
        let fresh: Vec<Known> = questions.iter().map(|question| self.end.fabric.fresh(question)).collect();
        self.end.fabric.flipped.set(None);
        let before: Vec<&Known> =
            questions.iter().filter_map(|question| self.reading.answers.get(*question)).collect();
        let changed: Vec<usize> =
            (0..fresh.len()).filter(|at| fresh[*at].answer != before[*at].answer).collect();
        let wrong = |at: &usize| matches!(fresh[*at].answer, Answer::Driver(Err(_)));
        if !changed.iter().all(wrong) {
            return match &changed[..] {
                [one] => self.table(bit, questions[*one], (before[*one], &fresh[*one])),
                _ => self.again(&[bit]),
            };
        }
        // The reading comes to one of these questions as it did before, and ends there.
        if !changed.is_empty() {
            return Ok(Verdict::Refused);
        }
        // All answers are the same. What else do they explain now, or not any more?
        let pairs = || before.iter().zip(&fresh);
        let touched: HashSet<u32> = pairs()
            .flat_map(|(old, new)| old.writes.iter().chain(&new.writes))
            .copied()
            .chain([bit])
            .collect();
        let wrong: Vec<u32> = touched
            .into_iter()
            .filter(|at| {
                let count = |known: &Known| usize::from(known.writes.binary_search(at).is_ok());
                let (old, new) = pairs().fold((0, 0), |(a, b), (old, new)| (a + count(old), b + count(new)));
                let explained = usize::from(self.explained[*at as usize]) - old + new > 0;
                explained != (self.held(*at) ^ (*at == bit))
            })
            .collect();
        match &wrong[..] {
            [one] if *one == bit => self.unexplained(bit, tile),
            _ => self.again(&[bit]),
        }
    }

    fn held(&self, bit: u32) -> bool {
        let (memory, bit) = (self.reading.memory, bit as usize);
        let bits = memory.device().frame_bits;
        memory.bit(bit / bits, bit % bits) == Some(true)
    }

    /// Nothing that was asked explains the bit as it is now. In a logic tile one looks for what nothing reads.
    fn unexplained(&mut self, bit: u32, tile: Option<Tile>) -> Result<Verdict, NetlistError> {
        let Some(tile) = tile.filter(|tile| self.end.fabric.type_name(tile) == "PLC2") else {
            return Ok(if self.first[bit as usize] == self.first[bit as usize + 1] {
                Verdict::Unread
            } else {
                Verdict::Refused
            });
        };
        if !self.looks.contains_key(&tile) {
            let looked = self.look(&tile);
            self.looks.insert(tile, looked.map(|(reads, _)| reads.into_iter().collect()));
        }
        let Some(Some(looks)) = self.looks.get(&tile) else { return self.again(&[bit]) };
        if !looks.contains(&bit) {
            return Ok(Verdict::Unread);
        }
        self.end.fabric.flipped.set(Some(bit));
        let looked = self.look(&tile);
        self.end.fabric.flipped.set(None);
        match looked {
            Some((_, writes)) if writes.binary_search(&bit).is_err() => Ok(Verdict::Refused),
            _ => self.again(&[bit]),
        }
    }

    /// Looks into a tile as [`Extractor::residual_logic`] does: what is read and explained (nothing, if it is refused). None
    /// if there is more to a circuit then.
    fn look(&mut self, tile: &Tile) -> Option<(Vec<u32>, Vec<u32>)> {
        let before = (self.end.netlist.cells.len(), self.end.nets.len(), self.end.constants);
        let begin = |end: &Extractor| end.fabric.cache.iter().for_each(QueryCache::begin);
        begin(&self.end);
        let refused = (0..SLICES.len()).try_for_each(|slice| self.end.residual_slice(tile, slice)).is_err();
        let noted = self.end.fabric.cache.as_ref().map(QueryCache::end);
        let (reads, writes) = noted.unwrap_or_default();
        let after = (self.end.netlist.cells.len(), self.end.nets.len(), self.end.constants);
        if before != after {
            self.end.forget();
            (self.end.nets, self.end.constants) = (self.reading.nets.clone(), self.reading.constants);
            return None;
        }
        Some((reads, if refused { Vec::new() } else { writes }))
    }

    /// One answer is another one. The table of a LUT makes another LUT; of all else the circuit is read again.
    fn table(
        &mut self,
        bit: u32,
        question: &Question,
        (old, new): (&Known, &Known),
    ) -> Result<Verdict, NetlistError> {
        let lut = match question {
            Question::Word(tile, name) => lut_of(tile, name),
            _ => None,
        };
        let Some((at, lut)) = lut else { return self.again(&[bit]) };
        let name = format!("R{}C{}_K{lut}", at.0, at.1);
        let cells = &self.reading.netlist.cells;
        let Ok(cell) = cells.binary_search_by(|cell| cell.name.cmp(&name)) else { return self.again(&[bit]) };
        let Kind::Lut { output, .. } = cells[cell].kind else { return self.again(&[bit]) };
        // The bit is explained by its table, and by nothing else.
        let own = |known: &Known| known.writes.contains(&bit);
        let others = self.explained[bit as usize] - u16::from(own(old)) > 0;
        let rest = |known: &Known| known.writes.iter().filter(|at| **at != bit).copied().collect::<Vec<_>>();
        if others || own(new) == self.held(bit) || rest(old) != rest(new) {
            return self.again(&[bit]);
        }
        self.end.fabric.flipped.set(Some(bit));
        let function = self.end.function(at, lut);
        self.end.fabric.flipped.set(None);
        let Ok((init, inputs)) = function else { return Ok(Verdict::Refused) };
        let kind = Kind::Lut { init, inputs, output };
        verdict(self.comparison.lut(cell, &kind))
    }

    /// Some bits turned, and the memory read again, but for answers that do not look at them.
    ///
    /// # Errors
    /// The solver gives up.
    pub fn again(&mut self, bits: &[u32]) -> Result<Verdict, NetlistError> {
        let mut memory = self.reading.memory.clone();
        let width = memory.device().frame_bits;
        let mut stale = HashSet::new();
        for bit in bits {
            let (frame, at) = (*bit as usize / width, *bit as usize % width);
            memory.set_bit(frame, at, !self.held(*bit));
            let asked = self.first[*bit as usize] as usize..self.first[*bit as usize + 1] as usize;
            stale.extend(asked.map(|at| self.questions[self.readers[at] as usize].clone()));
        }
        let mut fabric = Fabric::new(self.reading.database, &memory);
        fabric.cache = Some(QueryCache::over(&self.reading.answers, stale));
        let Ok(end) = whole(fabric, self.reading.pins, true) else { return Ok(Verdict::Refused) };
        // Nets get their numbers as they are met: those of before, at the same places.
        let mut numbers: HashMap<Net, Net> = HashMap::from([(Net::ZERO, Net::ZERO), (Net::ONE, Net::ONE)]);
        let mut free = self.reading.netlist.nets;
        for (wire, net) in &end.nets {
            if let Some(known) = self.reading.nets.get(wire) {
                numbers.insert(*net, *known);
            }
        }
        let mut netlist = sorted(end.netlist);
        netlist.each_net(|net| {
            *net = *numbers.entry(*net).or_insert_with(|| {
                free += 1;
                Net(free - 1)
            });
        });
        netlist.nets = free;
        verdict(self.comparison.with(&netlist))
    }
}

/// Place and number of the LUT whose table a word is.
fn lut_of(tile: &Tile, name: &str) -> Option<((i16, i16), usize)> {
    let (slice, rest) = name.strip_prefix("SLICE")?.split_at_checked(1)?;
    let slice = SLICES.iter().position(|letter| slice.starts_with(*letter))?;
    let half = rest.strip_prefix(".K")?.strip_suffix(".INIT")?.parse::<usize>().ok()?;
    Some(((tile.row, tile.col), 2 * slice + half))
}

fn verdict(outcome: Result<Outcome, NetlistError>) -> Result<Verdict, NetlistError> {
    Ok(match outcome {
        Ok(Outcome::Same) => Verdict::Same,
        Ok(Outcome::Different) => Verdict::Different,
        Ok(Outcome::Solved) => Verdict::Solved,
        Ok(Outcome::Equal) => Verdict::Equal,
        Err(NetlistError::Circle(_)) => Verdict::Refused,
        Err(error) => return Err(error),
    })
}

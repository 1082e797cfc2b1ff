// SPDX-License-Identifier: Apache-2.0
//! Phase II: phrases are decomposed where the dictionary loses more than the index gains.
//!
//! The paper names the idea and the conditions, not the procedure (that is in a thesis to come); this is one
//! that keeps to them. The beginning of a phrase, as long as its nodes are referenced by one other node only, is
//! deducted if the same string is a phrase of its own: every codeword of the phrase, and of those that end
//! the string earlier, becomes two. A string that occurs often enough is first made a phrase. Since the width
//! of a pointer depends on how many nodes are left, passes that allow more and more new codewords for a node
//! follow one another, and the best state counts.

use std::collections::HashMap;

use super::compressed::{Compressed, Node};

/// The longest string that is deducted at a time.
const LONGEST: usize = 24;
/// The longest string that is made a phrase.
const LONGEST_NEW: usize = 6;
/// New codewords for four nodes that a pass allows.
const PASSES: [u64; 7] = [2, 4, 5, 6, 7, 8, 10];

/// What stands for a phrase that is no more.
#[derive(Clone, Copy)]
struct Split {
    first: u32,
    then: u32,
}

#[derive(Clone)]
struct State {
    nodes: Vec<Node>,
    /// Codewords that point to a node, those that come from splits included.
    used: Vec<u64>,
    /// Nodes that point to a node.
    longer: Vec<u32>,
    /// What a node that was taken out became.
    split: Vec<Option<Split>>,
    alive: usize,
    codewords: u64,
}

/// A string at the beginning of a phrase: its nodes, the first symbol first.
struct Chain {
    nodes: Vec<u32>,
    symbols: Vec<u8>,
}

pub(super) fn decompose(phase1: &Compressed) -> Compressed {
    let mut heads: HashMap<(Option<u32>, u8), u32> = HashMap::new();
    let mut state = State {
        nodes: phase1.nodes.clone(),
        used: vec![0; phase1.nodes.len()],
        longer: vec![0; phase1.nodes.len()],
        split: vec![None; phase1.nodes.len()],
        alive: phase1.nodes.len(),
        codewords: phase1.index.len() as u64,
    };
    for codeword in &phase1.index {
        state.used[*codeword as usize] += 1;
    }
    for (number, node) in phase1.nodes.iter().enumerate() {
        heads.insert((node.next, node.symbol), number as u32);
        if let Some(next) = node.next {
            state.longer[next as usize] += 1;
        }
    }
    let mut best = state.clone();
    for allowed in PASSES {
        state.add_frequent(&mut heads);
        state.pass(&heads, allowed);
        if state.bits() < best.bits() {
            best = state.clone();
        }
    }
    best.finish(&phase1.index)
}

impl State {
    fn width(&self) -> u64 {
        u64::from((self.alive as u64).next_power_of_two().trailing_zeros())
    }

    fn bits(&self) -> u64 {
        self.codewords * self.width() + self.alive as u64 * (8 + self.width())
    }

    /// The strings at the beginning of the phrase at `head`, the longest one: what follows it stays.
    fn chain(&self, head: u32, longest: usize) -> Option<Chain> {
        let gone = self.split[head as usize].is_some() || self.longer[head as usize] > 0;
        if gone {
            return None;
        }
        let mut chain = Chain { nodes: vec![], symbols: vec![] };
        let mut at = head;
        while chain.nodes.len() < longest {
            let node = self.nodes[at as usize];
            let Some(next) = node.next else { break };
            chain.nodes.push(at);
            chain.symbols.push(node.symbol);
            if self.longer[next as usize] > 1 {
                break;
            }
            at = next;
        }
        (!chain.nodes.is_empty()).then_some(chain)
    }

    /// The phrases whose lists are the last 1, 2, … symbols of `symbols`.
    fn suffixes(&self, heads: &HashMap<(Option<u32>, u8), u32>, symbols: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = None;
        for symbol in symbols.iter().rev() {
            match heads.get(&(next, *symbol)) {
                Some(node) if self.split[*node as usize].is_none() => found.push(*node),
                _ => break,
            }
            next = found.last().copied();
        }
        found
    }

    /// Makes phrases of strings that begin enough phrases to pay for it.
    fn add_frequent(&mut self, heads: &mut HashMap<(Option<u32>, u8), u32>) {
        let width = self.width() as i64;
        let mut gains: HashMap<Vec<u8>, i64> = HashMap::new();
        for head in 0..self.nodes.len() as u32 {
            let Some(chain) = self.chain(head, LONGEST_NEW) else { continue };
            let mut refs = 0;
            for len in 1..=chain.nodes.len() {
                refs += self.used[chain.nodes[len - 1] as usize] as i64;
                let gain = len as i64 * (8 + width) - refs * width;
                if len > 1 && gain > 0 && self.suffixes(heads, &chain.symbols[..len]).len() < len {
                    *gains.entry(chain.symbols[..len].to_vec()).or_default() += gain;
                }
            }
        }
        let mut order: Vec<(Vec<u8>, i64)> = gains.into_iter().collect();
        order.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        for (symbols, gain) in order {
            let known = self.suffixes(heads, &symbols);
            let missing = symbols.len() - known.len();
            // What another new phrase has gained already does not count twice.
            if gain <= 2 * missing as i64 * (8 + width) {
                continue;
            }
            let mut next = known.last().copied();
            for symbol in symbols[..missing].iter().rev() {
                let number = self.nodes.len() as u32;
                self.nodes.push(Node { symbol: *symbol, next });
                self.used.push(0);
                self.longer.push(0);
                self.split.push(None);
                self.alive += 1;
                if let Some(next) = next {
                    self.longer[next as usize] += 1;
                }
                heads.insert((next, *symbol), number);
                next = Some(number);
            }
        }
    }

    /// Deducts strings until there are none whose codewords are few enough.
    fn pass(&mut self, heads: &HashMap<(Option<u32>, u8), u32>, allowed: u64) {
        let mut waiting: Vec<u32> = (0..self.nodes.len() as u32).rev().collect();
        while let Some(head) = waiting.pop() {
            let Some(chain) = self.chain(head, LONGEST) else { continue };
            let Some((len, phrases)) = self.best(heads, &chain, allowed) else { continue };
            let Some(rest) = self.nodes[chain.nodes[len - 1] as usize].next else { continue };
            for (at, node) in chain.nodes[..len].iter().enumerate() {
                let (node, first) = (*node as usize, phrases[len - 1 - at]);
                let count = std::mem::take(&mut self.used[node]);
                self.used[first as usize] += count;
                self.used[rest as usize] += count;
                self.codewords += count;
                self.split[node] = Some(Split { first, then: rest });
            }
            self.alive -= len;
            self.longer[rest as usize] -= 1;
            waiting.push(rest);
        }
    }

    /// How long a string is best deducted, and the phrases of all its endings.
    fn best(
        &self,
        heads: &HashMap<(Option<u32>, u8), u32>,
        chain: &Chain,
        allowed: u64,
    ) -> Option<(usize, Vec<u32>)> {
        let width = self.width() as i64;
        let mut best: Option<(i64, usize, Vec<u32>)> = None;
        let mut refs = 0;
        for len in 1..=chain.nodes.len() {
            refs += self.used[chain.nodes[len - 1] as usize];
            if refs * 4 > len as u64 * allowed {
                continue;
            }
            let gain = len as i64 * (8 + width) - refs as i64 * width;
            if best.as_ref().is_some_and(|(most, ..)| *most >= gain) {
                continue;
            }
            let phrases = self.suffixes(heads, &chain.symbols[..len]);
            // The string must not be needed to spell itself.
            if phrases.len() == len && !phrases.iter().any(|p| chain.nodes[..len].contains(p)) {
                best = Some((gain, len, phrases));
            }
        }
        best.map(|(_, len, phrases)| (len, phrases))
    }

    fn finish(self, index: &[u32]) -> Compressed {
        let mut number = vec![0; self.nodes.len()];
        let alive = |node: &usize| self.split[*node].is_none();
        for (new, node) in (0..self.nodes.len()).filter(alive).enumerate() {
            number[node] = new as u32;
        }
        let nodes = (0..self.nodes.len()).filter(alive).map(|node| {
            let Node { symbol, next } = self.nodes[node];
            Node { symbol, next: next.map(|next| number[next as usize]) }
        });
        let nodes = nodes.collect();
        let mut expanded = Vec::new();
        for codeword in index {
            // The index runs from the end of the data.
            let mut open = vec![*codeword];
            while let Some(node) = open.pop() {
                match self.split[node as usize] {
                    Some(Split { first, then }) => open.extend([first, then]),
                    None => expanded.push(number[node as usize]),
                }
            }
        }
        Compressed { nodes, index: expanded }
    }
}

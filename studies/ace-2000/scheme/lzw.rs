// SPDX-License-Identifier: Apache-2.0
//! LZW with a dictionary that never forgets, and phase I.

use std::collections::HashMap;

use super::compressed::{Compressed, Node};

/// The preloaded symbols.
const ALPHABET: usize = 256;

/// What LZW makes of data.
pub(super) struct Lzw {
    nodes: Vec<Node>,
    index: Vec<u32>,
}

impl Lzw {
    /// Parses from the end: a phrase is the phrase behind it and one more symbol before that.
    pub(super) fn parse(data: &[u8]) -> Self {
        let preloaded = (0..ALPHABET).map(|symbol| Node { symbol: symbol as u8, next: None });
        let mut nodes: Vec<Node> = preloaded.collect();
        let mut longer: HashMap<(u32, u8), u32> = HashMap::new();
        let mut index = Vec::new();
        let mut phrase: Option<u32> = None;
        for symbol in data.iter().rev() {
            phrase = Some(match phrase {
                None => u32::from(*symbol),
                Some(shorter) => match longer.get(&(shorter, *symbol)) {
                    Some(known) => *known,
                    None => {
                        index.push(shorter);
                        longer.insert((shorter, *symbol), nodes.len() as u32);
                        nodes.push(Node { symbol: *symbol, next: Some(shorter) });
                        u32::from(*symbol)
                    }
                },
            });
        }
        index.extend(phrase);
        Self { nodes, index }
    }

    /// Phase I: phrases that no codeword references are left out. What a phrase continues with was a codeword
    /// when LZW made the phrase, so nothing that is left points to anything left out.
    pub(super) fn referenced(&self) -> Compressed {
        let mut number = vec![None; self.nodes.len()];
        for codeword in &self.index {
            let mut at = Some(*codeword);
            while let Some(node) = at {
                number[node as usize] = Some(0);
                at = self.nodes[node as usize].next;
            }
        }
        for (new, number) in number.iter_mut().flatten().enumerate() {
            *number = new as u32;
        }
        let new = |node: u32| number[node as usize].unwrap_or_default();
        let retained = self.nodes.iter().zip(&number).filter(|(_, number)| number.is_some());
        Compressed {
            nodes: retained.map(|(node, _)| Node { symbol: node.symbol, next: node.next.map(new) }).collect(),
            index: self.index.iter().map(|codeword| new(*codeword)).collect(),
        }
    }

    /// All phrases.
    pub(super) fn all(self) -> Compressed {
        Compressed { nodes: self.nodes, index: self.index }
    }
}

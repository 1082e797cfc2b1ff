// SPDX-License-Identifier: Apache-2.0
//! Index and dictionary: what all three ways make of data.

/// Nodes of the dictionary: what a codeword points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) symbol: u8,
    /// The node of what follows the symbol.
    pub(super) next: Option<u32>,
}

/// Index and dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    pub(super) nodes: Vec<Node>,
    /// The last phrase of the data comes first.
    pub(super) index: Vec<u32>,
}

impl Compressed {
    /// Bits of a codeword.
    pub fn codeword_bits(&self) -> u32 {
        (self.nodes.len() as u64).next_power_of_two().trailing_zeros()
    }

    /// Codewords.
    pub fn codewords(&self) -> usize {
        self.index.len()
    }

    /// Nodes of the dictionary.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Bits of the index.
    pub fn index_bits(&self) -> u64 {
        self.index.len() as u64 * u64::from(self.codeword_bits())
    }

    /// Bits of the dictionary.
    pub fn dictionary_bits(&self) -> u64 {
        self.nodes.len() as u64 * u64::from(8 + self.codeword_bits())
    }

    /// The data again: memory reads alone, codeword by codeword, node by node.
    pub fn decompress(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for codeword in self.index.iter().rev() {
            let mut at = Some(*codeword);
            while let Some(node) = at.and_then(|at| self.nodes.get(at as usize)) {
                out.push(node.symbol);
                at = node.next;
            }
        }
        out
    }
}

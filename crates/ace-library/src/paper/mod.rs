// SPDX-License-Identifier: Apache-2.0
//! The compression of A. Dandalis, V. K. Prasanna, J. D. P. Rolim (FCCM 2000), section 5.
//!
//! Index and dictionary both count. The sizes in the paper's Table 4 tell how they were counted, and they
//! are counted so here: a codeword points to a node of the dictionary, a node is a symbol of 8 bits and a
//! pointer to the next one, and a pointer has as many bits as the number of nodes needs (147,005 phrases are
//! 147,005 × (8 + 18) = 3,822,130 bits for MARS).
//!
//! The data are taken from the end, so that a list of nodes gives a phrase in the order of the data, and
//! phrases share the ends of their lists: the common suffixes of the paper.

mod decompose;
mod lzw;

use lzw::Lzw;

/// Nodes of the dictionary: what a codeword points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) symbol: u8,
    /// The node of what follows the symbol.
    pub(crate) next: Option<u32>,
}

/// Index and dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    nodes: Vec<Node>,
    /// The last phrase of the data comes first.
    index: Vec<u32>,
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

/// The three ways of Table 4.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// All phrases that LZW makes.
    pub lzw: Compressed,
    /// Only those that a codeword references.
    pub phase1: Compressed,
    /// Phrases decomposed where that saves more than it adds to the index.
    pub phase2: Compressed,
}

/// Compresses `data` in the paper's three ways.
pub fn compress(data: &[u8]) -> Scheme {
    let lzw = Lzw::parse(data);
    let phase1 = lzw.referenced();
    let phase2 = decompose::decompose(&phase1);
    Scheme { lzw: lzw.all(), phase1, phase2 }
}

#[cfg(test)]
mod tests;

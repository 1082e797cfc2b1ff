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

mod compressed;
mod decompose;
mod lzw;

pub use compressed::Compressed;
use lzw::Lzw;

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

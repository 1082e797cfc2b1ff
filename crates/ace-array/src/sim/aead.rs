// SPDX-License-Identifier: Apache-2.0
//! What a front end gives a set of AES-GCM (SP 800-38D), block by block: the counter, the text, the sum and the mask of each
//! block of a packet, and what becomes of its answer. In hardware this is the slot's front end; here it drives the simulator.

use super::host::{to_bytes, to_words};
use crate::frontend::Order;

/// Bytes of a block.
const BLOCK: usize = 16;
/// How the words of these sets are bytes.
const ORDER: Order = Order::Big;
/// Words of a block in: counter, text, sum and mask.
pub const IN: usize = 16;
/// Words of a block out: the sum, the text's other side, and what the tag would be.
pub const OUT: usize = 12;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Of a nonce that is hashed; so many bytes of it.
    Nonce(usize),
    /// The nonce's length, behind which the sum is J0.
    NonceEnd,
    /// Of what is only authenticated; so many bytes.
    Aad(usize),
    /// Of the text; so many bytes.
    Text(usize),
    /// Both lengths.
    Lengths,
}

/// AES-GCM has no packet without a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("AES-GCM wants a nonce of a byte at least (SP 800-38D, 5.2.1.1)")]
pub struct EmptyNonce;

/// One packet on its way.
#[derive(Clone, Debug)]
pub struct Packet {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    parts: Vec<(Part, usize)>,
    next: usize,
    /// J0, as soon as it is known.
    first: [u32; 4],
    counter: u32,
    sum: Vec<u32>,
    out: Vec<u8>,
    tag: Option<Vec<u8>>,
}

impl Packet {
    /// A packet with its nonce, what is authenticated beside its text, and its text or ciphertext. A nonce has at least
    /// a byte (SP 800-38D, 5.2.1.1): with none, every packet of a key would have the same counters.
    pub fn new(nonce: &[u8], aad: &[u8], text: &[u8]) -> Result<Packet, EmptyNonce> {
        if nonce.is_empty() {
            return Err(EmptyNonce);
        }
        let blocks = |all: &[u8], part: fn(usize) -> Part| -> Vec<(Part, usize)> {
            all.chunks(BLOCK).zip(0..).map(|(block, at)| (part(block.len()), BLOCK * at)).collect()
        };
        let mut parts = Vec::new();
        let mut first = [0, 0, 0, 1];
        if nonce.len() == 12 {
            first[..3].copy_from_slice(&to_words(ORDER, nonce));
        } else {
            parts.extend(blocks(nonce, Part::Nonce));
            parts.push((Part::NonceEnd, 0));
        }
        parts.extend(blocks(aad, Part::Aad));
        parts.extend(blocks(text, Part::Text));
        parts.push((Part::Lengths, 0));
        Ok(Packet {
            nonce: nonce.to_vec(),
            aad: aad.to_vec(),
            text: text.to_vec(),
            parts,
            next: 0,
            first,
            counter: first[3],
            sum: vec![0; 4],
            out: Vec::new(),
            tag: None,
        })
    }

    /// The words of the next block, if there is one more.
    pub fn block(&self) -> Option<Vec<u32>> {
        let (part, at) = *self.parts.get(self.next)?;
        let padded = |all: &[u8], bytes: usize| {
            let mut block = all[at..at + bytes].to_vec();
            block.resize(BLOCK, 0);
            to_words(ORDER, &block)
        };
        let lengths = |high: usize, low: usize| {
            let bits = [high, low].map(|bytes| (8 * bytes as u64).to_be_bytes());
            to_words(ORDER, &bits.concat())
        };
        let mut counter = self.first;
        let (text, mask) = match part {
            Part::Nonce(bytes) => (padded(&self.nonce, bytes), 0),
            Part::NonceEnd => (lengths(0, self.nonce.len()), 0),
            Part::Aad(bytes) => (padded(&self.aad, bytes), 0),
            Part::Text(bytes) => {
                counter[3] = self.counter.wrapping_add(1);
                (padded(&self.text, bytes), bytes)
            }
            Part::Lengths => (lengths(self.aad.len(), self.text.len()), 0),
        };
        let mut ones = vec![0xFF; mask];
        ones.resize(BLOCK, 0);
        Some([counter.to_vec(), text, self.sum.clone(), to_words(ORDER, &ones)].concat())
    }

    /// Takes the answer to the block.
    pub fn take(&mut self, answer: &[u32]) {
        let [sum, text, tag] = [0, 4, 8].map(|at| &answer[at..at + 4]);
        self.sum.copy_from_slice(sum);
        match self.parts[self.next].0 {
            Part::Nonce(_) | Part::Aad(_) => {}
            Part::NonceEnd => {
                self.first.copy_from_slice(sum);
                self.counter = sum[3];
                self.sum = vec![0; 4];
            }
            Part::Text(bytes) => {
                self.counter = self.counter.wrapping_add(1);
                self.out.extend(&to_bytes(ORDER, text)[..bytes]);
            }
            Part::Lengths => self.tag = Some(to_bytes(ORDER, tag)),
        }
        self.next += 1;
    }

    /// The text's other side and the whole tag, when all blocks are answered.
    pub fn done(&self) -> Option<(&[u8], &[u8])> {
        self.tag.as_ref().map(|tag| (self.out.as_slice(), tag.as_slice()))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What the streams of a library share, and which of the two kinds they are.

use ace_ecp5::Device;

use super::contexts::{self, Contexts};
use super::decode::{Decoded, StreamError, decompress};
use super::dictionary::Dictionary;
use super::encode::compress;

/// Streams are of rows, with the dictionary's codes, or small, with the probabilities of contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The rows that occur most.
    pub dictionary: Dictionary,
    /// Streams are small.
    pub contexts: Option<Box<Contexts>>,
}

impl From<Dictionary> for Tables {
    fn from(dictionary: Dictionary) -> Self {
        Self { dictionary, contexts: None }
    }
}

impl Tables {
    /// Compresses frames of `device` and their places in the order of transmission, which go upwards.
    pub fn compress<'a>(
        &self,
        device: &Device,
        frames: impl IntoIterator<Item = (usize, &'a [u8])>,
    ) -> Vec<u8> {
        match &self.contexts {
            Some(contexts) => contexts::compress(contexts, device, frames),
            None => compress(&self.dictionary, device, frames.into_iter().map(|(_, frame)| frame)),
        }
    }

    /// Fills `out`, the frames of `device` at these places in the order of transmission, from a stream.
    ///
    /// # Errors
    /// When the stream is not one of so many frames.
    pub fn decompress(
        &self,
        device: &Device,
        stream: &[u8],
        positions: impl IntoIterator<Item = usize>,
        out: &mut [u8],
    ) -> Result<Decoded, StreamError> {
        match &self.contexts {
            Some(contexts) => contexts::decompress(contexts, device, stream, positions, out),
            None => decompress(&self.dictionary, device, stream, out),
        }
    }

    /// How the loader in hardware has its streams: rows.
    pub(crate) fn loads(&self) -> bool {
        self.contexts.is_none()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Sets that expand keys in the slot itself: the raw key goes to it, and its words never come back to the host.

use ace_array::Named;
use ace_array::set::Set;
use ace_array::shape::Shape;
use zeroize::{Zeroize, Zeroizing};

use super::ArrayError;
use super::slot::KEY;
use crate::frame::{self, BEAT, HEADER, Header};
use crate::model::SetsUp;

/// Byte 1 of a frame whose result is a key's frame, as `rtl/array/array_front_pkg.sv`.
const EXPAND: u8 = 0x53;

/// A set that makes the words of a cipher's key of a raw one.
#[derive(Clone)]
pub struct KeySet {
    /// Its name, for messages.
    pub name: String,
    /// The set as a tile takes it.
    pub bytes: Vec<u8>,
    /// Bytes of the raw key that it takes.
    raw: usize,
    /// Keys of that length alone: another set is there for shorter ones. Else zeros are put behind them.
    exact: bool,
}

impl KeySet {
    /// The set of this name.
    ///
    /// # Errors
    /// When a slot takes it not, or it expands no keys.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, ArrayError> {
        let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
        let set = Set::from_bytes(&bytes, &Shape::standard()).map_err(|e| ArrayError::set(name, e))?;
        let (code, decrypt, keys) = (set.algorithm, set.decrypt, set.keys);
        let Some(setup) =
            named.setup.filter(|_| keys && (code, decrypt) == (named.served.code, named.decrypt))
        else {
            return Err(ArrayError::Other { name: name.to_owned(), code, decrypt, keys });
        };
        let raw = 4 * usize::from(set.input_words);
        Ok(Self { name: name.to_owned(), bytes, raw, exact: !setup.bits.is_empty() })
    }

    /// Whether it expands keys of so many bytes of its cipher.
    pub fn takes(&self, key: usize) -> bool {
        if self.exact { key == self.raw } else { (1..=self.raw).contains(&key) }
    }

    /// The frame that makes `secret` the key of the sets for such frames as `header` asks for, of so many words.
    pub fn frame(&self, header: Header, decrypt: bool, words: u8, secret: &[u8]) -> Zeroizing<Vec<u8>> {
        let flags = if decrypt { frame::flag::DECRYPT } else { 0 };
        let (algorithm, tag) = (header.algorithm, header.tag);
        let own = Header { algorithm, flags, tag, result_len: words, ..Header::default() };
        let key = Header { op: KEY, payload_len: 4 * u32::from(words), ..own }.to_bytes();
        let mut raw = Zeroizing::new(vec![0; self.raw]);
        raw.iter_mut().zip(secret).for_each(|(to, from)| *to = *from);
        let mut payload = Zeroizing::new([&key[..], &raw].concat());
        let head = Header { op: EXPAND, payload_len: (HEADER + self.raw) as u32, ..own };
        let frame = frame::assemble(head, &[&payload]);
        payload.zeroize();
        frame
    }

    /// What it takes of the link, the answers' trailers included.
    pub fn costs(&self) -> SetsUp {
        let load = 2 * HEADER + self.bytes.len() + 2 * BEAT;
        let frame = 2 * HEADER + self.raw + 2 * BEAT;
        let shortest = if self.exact { self.raw } else { 1 };
        SetsUp { keys: shortest..=self.raw, load: load as u64, frame: frame as u64 }
    }
}

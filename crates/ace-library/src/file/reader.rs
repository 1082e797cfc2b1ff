// SPDX-License-Identifier: Apache-2.0
//! Takes numbers and names from the front of bytes.

use super::name::{NAME_BYTES, is_name};

/// What in a file does not make sense.
#[derive(Debug)]
pub(super) struct Malformed(pub(super) String);

impl From<&str> for Malformed {
    fn from(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl From<String> for Malformed {
    fn from(what: String) -> Self {
        Self(what)
    }
}

/// Takes bytes from the front.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// How many bytes there still are.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// A name with zeros behind it.
    pub(super) fn name(&mut self) -> Option<String> {
        let name = self.take(NAME_BYTES)?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        let (name, fill) = name.split_at(end);
        let name = String::from_utf8(name.to_vec()).ok().filter(|name| is_name(name))?;
        fill.iter().all(|byte| *byte == 0).then_some(name)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().map(|b| u32::from_le_bytes(*b))
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    pub(super) fn zeros(&mut self, len: usize) -> Option<()> {
        self.take(len)?.iter().all(|byte| *byte == 0).then_some(())
    }
}

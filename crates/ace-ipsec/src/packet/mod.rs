// SPDX-License-Identifier: Apache-2.0
//! Packets: views of their headers, and ESP and AH sealed and opened in place. Every function takes any bytes and never panics.

pub(crate) mod ah;
pub mod ecn;
pub(crate) mod envelope;
pub(crate) mod esp;
pub mod ip;
mod mutable;
pub mod trailer;
pub(crate) mod transform;

pub use crate::model::protocol;

/// Big-endian 16 bits at `at`.
pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// Big-endian 32 bits at `at`.
pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Overwrites bytes at `at`; out of range nothing happens.
#[inline]
pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at.saturating_add(value.len())) {
        place.copy_from_slice(value);
    }
}

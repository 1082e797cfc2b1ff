// SPDX-License-Identifier: Apache-2.0
//! Limits of an SA's life (RFC 4301, 4.4.2.1).

use std::time::Duration;

/// The caller's clock: time since whatever moment the caller likes. It may stand still; when it goes back it is
/// taken to stand.
pub type Time = Duration;

/// Limits; `None`: unlimited. Bytes are those that the algorithm works on, as RFC 4301 has it: for ESP payload,
/// padding and trailer, for AH the whole packet. Both ends count the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// With so many bytes [`Event::SoftLifetime`](crate::Event::SoftLifetime) is reported.
    pub soft_bytes: Option<u64>,
    /// The packet that would go beyond so many bytes is dropped, and every packet after it.
    pub hard_bytes: Option<u64>,
    /// With so many packets [`Event::SoftLifetime`](crate::Event::SoftLifetime) is reported.
    pub soft_packets: Option<u64>,
    /// The packet that would be one more is dropped, and every packet after it.
    pub hard_packets: Option<u64>,
    /// Since the SA was installed.
    pub soft_seconds: Option<u64>,
    /// Since the SA was installed; then it carries nothing.
    pub hard_seconds: Option<u64>,
    /// Since its first packet.
    pub soft_use_seconds: Option<u64>,
    /// Since its first packet; then it carries nothing.
    pub hard_use_seconds: Option<u64>,
}

impl Lifetime {
    /// Whether no limit is set at all.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! One AH packet, sealed and opened in place (RFC 4302). The ICV covers the whole packet: what routers may change is
//! zero while it is computed, and put back afterwards.

use ace_engine::{Action, Buffer, Suffix, Tag};

use super::ip::Version;
use super::transform::{Keys, Transform};
use super::{be32, mutable, put};
use crate::counters::Cause;

/// Bytes before the ICV.
const FIXED_LEN: usize = 12;
/// AH's length is counted in words of four bytes, without the first two (RFC 4302, 2.2).
const UNCOUNTED: usize = 2;

/// Next header, length, SPI, sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AhHeader {
    pub next_header: u8,
    /// Bytes of the whole header with its ICV.
    pub len: usize,
    pub spi: u32,
    pub sequence: u32,
}

impl AhHeader {
    /// From the first twelve bytes; `None` when there are fewer.
    pub fn parse(ah: &[u8]) -> Option<Self> {
        Some(Self {
            next_header: *ah.first()?,
            len: (usize::from(*ah.get(1)?) + UNCOUNTED) * 4,
            spi: be32(ah, 4)?,
            sequence: be32(ah, 8)?,
        })
    }
}

/// Bytes of the header: a multiple of 4 in IPv4 and of 8 in IPv6 (RFC 4302, 3.3.3.2.1).
pub fn header_len(icv_len: usize, version: Version) -> usize {
    let unit = match version {
        Version::V4 => 4,
        Version::V6 => 8,
    };
    (FIXED_LEN + icv_len).next_multiple_of(unit)
}

/// What the caller decides about a packet to be sealed.
#[derive(Clone, Copy, Debug)]
pub struct SealInput {
    pub spi: u32,
    /// All 64 bits; the low half is sent.
    pub sequence: u64,
    pub esn: bool,
    pub next_header: u8,
    pub version: Version,
}

/// Seals a packet with a gap of [`header_len`] bytes at `at`. `kept` takes the IP headers as they are to leave.
///
/// # Errors
/// [`Cause::SourceRoute`] if the destination is not the last one.
pub fn seal(
    transform: &Transform,
    buffer: &mut Buffer,
    at: usize,
    input: SealInput,
    saved: &mut Vec<u8>,
) -> Result<Action, Cause> {
    let len = header_len(transform.icv_len, input.version);
    let place = buffer.get_mut(at..at + len).ok_or(Cause::TooBig)?;
    place.fill(0);
    // The longest ICV has 32 bytes.
    let words = (len / 4 - UNCOUNTED) as u8;
    put(place, 0, &[input.next_header, words]);
    put(place, 4, &input.spi.to_be_bytes());
    put(place, 8, &(input.sequence as u32).to_be_bytes());
    keep(buffer, at, saved);
    mutable::clear(buffer.get_mut(..at).unwrap_or_default(), input.version)?;
    action(transform, buffer, input.sequence, input.esn, Tag::Write)
}

/// Puts the ICV and the IP headers into their places.
pub fn sealed(transform: &Transform, buffer: &mut Buffer, at: usize, saved: &[u8]) {
    let tail = buffer.len().saturating_sub(transform.icv_len);
    if at + FIXED_LEN + transform.icv_len <= tail {
        buffer.copy_within(tail.., at + FIXED_LEN);
    }
    buffer.truncate(tail);
    put(buffer, 0, saved);
}

/// Begins to open a packet whose AH starts at `at`. `kept` takes the IP headers as they came.
///
/// # Errors
/// [`Cause::BadAh`] if the lengths cannot be right.
pub fn open(
    transform: &Transform,
    buffer: &mut Buffer,
    at: usize,
    version: Version,
    (sequence, esn): (u64, bool),
    saved: &mut Vec<u8>,
) -> Result<Action, Cause> {
    let header = buffer.get(at..).and_then(AhHeader::parse).ok_or(Cause::BadAh)?;
    let shortest = header_len(transform.icv_len, version);
    // Some senders fill up to 8 bytes in IPv4 too.
    if header.len != shortest && header.len != header_len(transform.icv_len, Version::V6)
        || at + header.len > buffer.len()
    {
        return Err(Cause::BadAh);
    }
    keep(buffer, at, saved);
    mutable::clear(buffer.get_mut(..at).unwrap_or_default(), version).map_err(|_| Cause::BadAh)?;
    let icv = at + FIXED_LEN..at + FIXED_LEN + transform.icv_len;
    let end = buffer.len();
    buffer.push_back(transform.icv_len);
    buffer.copy_within(icv.clone(), end);
    buffer.get_mut(icv).unwrap_or_default().fill(0);
    action_over(transform, end, sequence, esn, Tag::Check)
}

/// Puts the IP headers back and takes the ICV away. Returns where the payload starts and what it is.
///
/// # Errors
/// [`Cause::BadAh`]; [`open`] looked before.
pub fn opened(
    transform: &Transform,
    buffer: &mut Buffer,
    at: usize,
    saved: &[u8],
) -> Result<(usize, u8), Cause> {
    buffer.truncate(buffer.len().saturating_sub(transform.icv_len));
    put(buffer, 0, saved);
    let header = buffer.get(at..).and_then(AhHeader::parse).ok_or(Cause::BadAh)?;
    Ok((at + header.len, header.next_header))
}

fn keep(buffer: &Buffer, at: usize, saved: &mut Vec<u8>) {
    saved.clear();
    saved.extend_from_slice(buffer.get(..at).unwrap_or_default());
}

fn action(
    transform: &Transform,
    buffer: &mut Buffer,
    sequence: u64,
    esn: bool,
    tag: fn(ace_engine::Span) -> Tag,
) -> Result<Action, Cause> {
    let end = buffer.len();
    buffer.push_back(transform.icv_len);
    action_over(transform, end, sequence, esn, tag)
}

/// A MAC over the first `end` bytes and its tag behind them: it must not lie in what it covers.
fn action_over(
    transform: &Transform,
    end: usize,
    sequence: u64,
    esn: bool,
    tag: fn(ace_engine::Span) -> Tag,
) -> Result<Action, Cause> {
    let Keys::Mac(key) = &transform.keys else { return Err(Cause::EngineFailed) };
    let high = ((sequence >> 32) as u32).to_be_bytes();
    Ok(Action::Mac {
        key: key.clone(),
        over: (0..end).into(),
        suffix: if esn { Suffix::from(high) } else { Suffix::EMPTY },
        tag: tag((end..end + transform.icv_len).into()),
    })
}

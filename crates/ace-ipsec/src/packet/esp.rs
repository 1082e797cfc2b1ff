// SPDX-License-Identifier: Apache-2.0
//! One ESP packet, sealed and opened in place (RFC 4303). No policy and no state of an SA: SPI, sequence number and
//! IV come from the caller, and any value goes.

use ace_engine::{Action, Buffer, Direction, Inline, Source, Suffix, Tag};
use thiserror::Error;

use super::put;
use super::trailer::{self, EspHeader, HEADER_LEN, TRAILER_LEN};
use super::transform::{Keys, Transform};
use crate::counters::Cause;

/// A packet that cannot be sealed or opened.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PacketError {
    #[error("key, nonce or IV has the wrong length")]
    Material,
    #[error("shorter than header, IV, trailer and ICV")]
    TooShort,
    #[error("the encrypted part is not whole blocks")]
    BadLength,
    #[error("the padding is not 1, 2, 3, … or longer than the packet")]
    BadPadding,
}

impl From<PacketError> for Cause {
    fn from(error: PacketError) -> Cause {
        match error {
            PacketError::TooShort => Cause::EspTooShort,
            PacketError::BadLength => Cause::BadLength,
            PacketError::BadPadding => Cause::BadPadding,
            PacketError::Material => Cause::EngineFailed,
        }
    }
}

/// What the caller decides about a packet to be sealed.
#[derive(Clone, Copy, Debug)]
pub struct SealInput<'a> {
    pub spi: u32,
    /// All 64 bits; the low half is sent.
    pub sequence: u64,
    pub esn: bool,
    /// As long as the suite says.
    pub iv: &'a [u8],
    pub next_header: u8,
    /// Bytes of padding; `None`: the least.
    pub pad_len: Option<u8>,
}

/// Where things are in a packet whose ESP starts at `at`.
struct Places {
    at: usize,
    text: usize,
    icv: usize,
    end: usize,
}

/// Seals what reaches from the gap of [`Transform::esp_header_len`] bytes at `at` to the end of the buffer. `emit`
/// gets the operation to be executed, none if there is nothing to compute; it is made where it goes, and not moved.
///
/// # Errors
/// [`PacketError`] if IV or padding do not fit the suite.
#[inline(always)]
pub fn seal(
    transform: &Transform,
    buffer: &mut Buffer,
    at: usize,
    input: SealInput<'_>,
    emit: impl FnOnce(&mut Buffer, Option<Action>),
) -> Result<(), PacketError> {
    let text = at + transform.esp_header_len();
    let payload_len = buffer.len().checked_sub(text).ok_or(PacketError::TooShort)?;
    let pad_len = input.pad_len.map_or_else(|| transform.least_padding(payload_len), usize::from);
    if input.iv.len() != transform.cipher.iv_len {
        return Err(PacketError::Material);
    }
    if !transform.is_aligned(payload_len + pad_len + TRAILER_LEN) {
        return Err(PacketError::BadLength);
    }
    trailer::write_trailer(buffer.push_back(pad_len + TRAILER_LEN), input.next_header);
    let icv = buffer.len();
    buffer.push_back(transform.icv_len);
    let header = EspHeader { spi: input.spi, sequence: input.sequence as u32 };
    put(buffer, at, &header.to_bytes());
    match input.iv.as_array::<8>() {
        Some(iv) => put(buffer, at + HEADER_LEN, iv),
        None => put(buffer, at + HEADER_LEN, input.iv),
    }
    let places = Places { at, text, icv, end: buffer.len() };
    action(transform, buffer, &places, Direction::Encrypt, input.sequence, input.esn, emit)
}

/// Begins to open what reaches from SPI to ICV: from `at` to the end of the buffer. `emit` as for [`seal`].
///
/// # Errors
/// [`PacketError`] if the length cannot be right.
#[inline(always)]
pub fn open(
    transform: &Transform,
    buffer: &mut Buffer,
    at: usize,
    sequence: u64,
    esn: bool,
    emit: impl FnOnce(&mut Buffer, Option<Action>),
) -> Result<(), PacketError> {
    let places = places(transform, buffer, at)?;
    if !transform.is_aligned(places.icv - places.text) {
        return Err(PacketError::BadLength);
    }
    action(transform, buffer, &places, Direction::Decrypt, sequence, esn, emit)
}

#[inline]
fn places(transform: &Transform, buffer: &Buffer, at: usize) -> Result<Places, PacketError> {
    let text = at + transform.esp_header_len();
    let icv = buffer.len().checked_sub(transform.icv_len).ok_or(PacketError::TooShort)?;
    if icv < text + TRAILER_LEN {
        return Err(PacketError::TooShort);
    }
    Ok(Places { at, text, icv, end: buffer.len() })
}

/// Bytes of payload, padding and trailer.
///
/// # Errors
/// [`PacketError::TooShort`].
#[inline]
pub fn enciphered_len(transform: &Transform, buffer: &Buffer, at: usize) -> Result<usize, PacketError> {
    places(transform, buffer, at).map(|places| places.icv - places.text)
}

#[inline(always)]
fn action(
    transform: &Transform,
    buffer: &mut Buffer,
    places: &Places,
    direction: Direction,
    sequence: u64,
    esn: bool,
    emit: impl FnOnce(&mut Buffer, Option<Action>),
) -> Result<(), PacketError> {
    let &Places { at, text, icv, end } = places;
    let iv = buffer.get(at + HEADER_LEN..text).unwrap_or_default();
    let iv = transform.full_iv(iv, sequence).ok_or(PacketError::Material)?;
    let high = ((sequence >> 32) as u32).to_be_bytes();
    // RFC 4303, 2.2.1: behind the text, not sent.
    let suffix = if esn { Suffix::from(high) } else { Suffix::EMPTY };
    let tag = |span: std::ops::Range<usize>| match direction {
        Direction::Encrypt => Tag::Write(span.into()),
        Direction::Decrypt => Tag::Check(span.into()),
    };
    let (span, over, icv_span) = ((text..icv).into(), (at..icv).into(), icv..end);
    match &transform.keys {
        Keys::Nothing => emit(buffer, None),
        Keys::Cipher(key) => {
            emit(buffer, Some(Action::Cipher { key: key.clone(), direction, iv, text: span }));
        }
        Keys::Mac(key) => {
            emit(buffer, Some(Action::Mac { key: key.clone(), over, suffix, tag: tag(icv_span) }));
        }
        Keys::Both { cipher, mac } => {
            let (cipher, mac) = (cipher.clone(), mac.clone());
            let (text, tag) = (span, tag(icv_span));
            emit(buffer, Some(Action::CipherMac { cipher, iv, direction, text, mac, over, suffix, tag }));
        }
        Keys::Aead(key) => {
            // RFC 4106, 5: SPI and sequence number, all of it.
            let header = buffer.get(at..).and_then(<[u8]>::first_chunk).ok_or(PacketError::TooShort)?;
            let header = u64::from_le_bytes(*header);
            let (aad, len) = match esn {
                true => {
                    let (spi, low) = (u128::from(header as u32), u128::from(header >> 32));
                    (spi | u128::from(u32::from_le_bytes(high)) << 32 | low << 64, 12)
                }
                false => (u128::from(header), HEADER_LEN),
            };
            let aad = Source::Inline(Inline::first(aad.to_le_bytes(), len).ok_or(PacketError::Material)?);
            let (key, nonce, tag) = (key.clone(), Source::Inline(iv), icv_span.into());
            emit(buffer, Some(Action::Aead { key, direction, nonce, aad, text: span, tag }));
        }
        Keys::Gmac(key) => {
            let from = if esn { shift(buffer, at, high).ok_or(PacketError::TooShort)? } else { at };
            let (nonce, aad) = (Source::Inline(iv), Source::Range((from..icv).into()));
            let (key, text, tag) = (key.clone(), (icv..icv).into(), icv_span.into());
            emit(buffer, Some(Action::Aead { key, direction, nonce, aad, text, tag }));
        }
    }
    Ok(())
}

/// Whether [`seal`] and [`open`] write over the four bytes in front of ESP, which the caller has to keep.
#[inline]
pub fn shifts(transform: &Transform, esn: bool) -> bool {
    esn && matches!(transform.keys, Keys::Gmac(_))
}

/// RFC 4543, 3.3: GMAC wants the high half between SPI and low half, all in one piece. The SPI moves four bytes to
/// the front, over the end of the IP header. Returns where it is then.
fn shift(buffer: &mut Buffer, at: usize, high: [u8; 4]) -> Option<usize> {
    let from = at.checked_sub(4)?;
    buffer.get(at..at + 4)?;
    buffer.copy_within(at..at + 4, from);
    put(buffer, at, &high);
    Some(from)
}

/// Undoes what [`shifts`] tells of; `kept` is what was in front of ESP.
pub fn unshift(buffer: &mut Buffer, at: usize, saved: [u8; 4]) {
    let Some(from) = at.checked_sub(4) else { return };
    if buffer.len() >= at + 4 {
        buffer.copy_within(from..at, at);
        put(buffer, from, &saved);
    }
}

/// What was inside a packet that is open: where the payload ends (it starts behind the header), and what it is.
///
/// # Errors
/// [`PacketError::BadPadding`].
#[inline]
pub fn finish(transform: &Transform, buffer: &Buffer, at: usize) -> Result<(usize, u8), PacketError> {
    let places = places(transform, buffer, at)?;
    let plaintext = buffer.get(places.text..places.icv).unwrap_or_default();
    let (len, next_header) = trailer::split_trailer(plaintext).ok_or(PacketError::BadPadding)?;
    Ok((places.text + len, next_header))
}

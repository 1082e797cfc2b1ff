// SPDX-License-Identifier: Apache-2.0
//! The software engine: the same operations from well-kept crates, so that every result of the board can be
//! compared with an independent implementation.
//!
//! A key is expanded by its first operation and kept with the key. There is no key policy here: weak keys and bad
//! parity are the business of whoever makes the SA.

mod aead;
pub mod block;
mod cpu;
pub mod mac;
pub mod mars;
pub mod own;
pub mod table;
#[cfg(test)]
mod tests;
mod twofish;
mod wiping;
mod words;

use subtle::ConstantTimeEq;

use crate::buffer::Span;
use crate::error::EngineError;
use crate::key::{Keeper, Key, Purpose};
use crate::need::{Aead, Direction, Mac, Mode, Need};
use crate::operation::{Action, Source, Tag};
use aead::AeadCipher;
use block::BlockCipher;
use mac::{Authenticator, LONGEST};

pub use cpu::CpuEngine;

/// What comes of a key.
enum Expanded {
    Cipher(Mode, Box<dyn BlockCipher>),
    Mac(Box<dyn Authenticator>),
    Aead(Box<dyn AeadCipher>),
    Nothing,
}

impl Expanded {
    fn of(key: &Key) -> Self {
        let bytes = key.secret().as_bytes();
        let mac = |mac: Option<_>| mac.map(Expanded::Mac);
        let aead = |aead: Option<_>| aead.map(Expanded::Aead);
        let expanded = match key.purpose() {
            Purpose::Cipher { algorithm, mode } => table::cipher(algorithm, bytes.len())
                .and_then(|cipher| (cipher.expand)(bytes))
                .map(|cipher| Expanded::Cipher(mode, cipher)),
            Purpose::Mac(Mac::Hmac(hash)) => mac(table::hash_of(hash).and_then(|hash| (hash.hmac)(bytes))),
            Purpose::Mac(Mac::Xcbc) => mac(mac::xcbc::<aes::Aes128>(bytes)),
            Purpose::Mac(Mac::Cmac) => mac(match bytes.len() {
                16 => mac::cmac::<aes::Aes128>(bytes),
                24 => mac::cmac::<aes::Aes192>(bytes),
                _ => mac::cmac::<aes::Aes256>(bytes),
            }),
            Purpose::Hash(hash) => mac(table::hash_of(hash).map(|hash| (hash.digest)())),
            Purpose::Aead(Aead::Gcm) => aead(match bytes.len() {
                16 => aead::gcm::<aes::Aes128>(bytes),
                24 => aead::gcm::<aes::Aes192>(bytes),
                _ => aead::gcm::<aes::Aes256>(bytes),
            }),
            Purpose::Aead(Aead::Ccm) => aead(match bytes.len() {
                16 => aead::ccm::<aes::Aes128>(bytes),
                24 => aead::ccm::<aes::Aes192>(bytes),
                _ => aead::ccm::<aes::Aes256>(bytes),
            }),
            Purpose::Aead(Aead::ChaCha20Poly1305) => aead(aead::chacha20_poly1305(bytes)),
        };
        expanded.unwrap_or(Expanded::Nothing)
    }
}

/// Whether there is software for it.
pub fn can(need: &Need) -> bool {
    match need {
        Need::Cipher { algorithm, key_len, .. } => table::cipher(algorithm, *key_len).is_some(),
        Need::Hash { algorithm } | Need::Hmac { algorithm } => table::hash_of(algorithm).is_some(),
        Need::Aead { .. } | Need::Gmac { .. } | Need::Xcbc | Need::Cmac { .. } => true,
    }
}

/// What there is to say about an error of an engine that is software.
pub fn explain(error: &EngineError) -> String {
    match error {
        EngineError::NoConfiguration { need } => format!(
            "this processor has no software for {need}; a board has, where a configuration of it is loaded (--engine board), \
             and `cpu` in its algorithm.toml names software (docs/adding-an-algorithm.md)"
        ),
        other => other.to_string(),
    }
}

/// Executes an action in its packet, without allocating once the keys are expanded.
///
/// # Errors
/// [`EngineError::Illegal`] when the parameters do not fit, [`EngineError::Mismatch`] for a wrong tag; the packet then
/// holds no plaintext that it did not hold before.
pub fn execute(action: &Action, packet: &mut [u8]) -> Result<(), EngineError> {
    action.check(packet.len())?;
    match action {
        Action::Cipher { key, direction, iv, text } => cipher(key, *direction, iv, &mut packet[text.range()]),
        Action::Mac { key, over, suffix, tag } => authenticate(key, packet, over.range(), suffix, *tag),
        Action::Aead { key, direction, nonce, aad, text, tag } => {
            encrypt_and_authenticate(key, *direction, [nonce, aad], [*text, *tag], packet)
        }
        Action::CipherMac { cipher: key, iv, direction, text, mac, over, suffix, tag } => match direction {
            Direction::Encrypt => {
                cipher(key, *direction, iv, &mut packet[text.range()])?;
                authenticate(mac, packet, over.range(), suffix, *tag)
            }
            Direction::Decrypt => {
                authenticate(mac, packet, over.range(), suffix, *tag)?;
                cipher(key, *direction, iv, &mut packet[text.range()])
            }
        },
    }
}

fn expanded(key: &Key) -> &Expanded {
    key.cached(Keeper::Software, Expanded::of).unwrap_or(&Expanded::Nothing)
}

fn nothing_for(key: &Key, direction: Direction) -> EngineError {
    EngineError::NoConfiguration { need: key.need(direction) }
}

fn cipher(key: &Key, direction: Direction, iv: &[u8], text: &mut [u8]) -> Result<(), EngineError> {
    match expanded(key) {
        Expanded::Cipher(mode, cipher) => Ok(cipher.run(*mode, direction, iv, text)?),
        _ => Err(nothing_for(key, direction)),
    }
}

fn authenticate(
    key: &Key,
    packet: &mut [u8],
    over: std::ops::Range<usize>,
    suffix: &[u8],
    tag: Tag,
) -> Result<(), EngineError> {
    let Expanded::Mac(mac) = expanded(key) else { return Err(nothing_for(key, Direction::Encrypt)) };
    let mut computed = [0; LONGEST];
    mac.authenticate([&packet[over], suffix], &mut computed);
    let place = &mut packet[tag.span().range()];
    let computed = &computed[..place.len()];
    match tag {
        Tag::Write(_) => place.copy_from_slice(computed),
        Tag::Check(_) if bool::from(computed.ct_eq(place)) => {}
        Tag::Check(_) => return Err(EngineError::Mismatch),
    }
    Ok(())
}

/// `aad` and `nonce` are before or behind the text: what overlaps it has been refused.
fn encrypt_and_authenticate(
    key: &Key,
    direction: Direction,
    [nonce, aad]: [&Source; 2],
    [text, tag]: [Span; 2],
    packet: &mut [u8],
) -> Result<(), EngineError> {
    let Expanded::Aead(aead) = expanded(key) else { return Err(nothing_for(key, direction)) };
    let mut stated = [0; aead::LONGEST];
    let stated = &mut stated[..tag.len()];
    stated.copy_from_slice(&packet[tag.range()]);
    // No text (GMAC) is at the end, wherever it is said to be: it cuts nothing in two.
    let text = if text.is_empty() { Span::from(packet.len()..packet.len()) } else { text };
    let (before, rest) = packet.split_at_mut(text.range().start);
    let (inside, behind) = rest.split_at_mut(text.len());
    let (nonce, aad) = (around(nonce, text, before, behind), around(aad, text, before, behind));
    match direction {
        Direction::Encrypt => {
            let computed = aead.seal(nonce, aad, inside, tag.len());
            packet[tag.range()].copy_from_slice(&computed[..tag.len()]);
            Ok(())
        }
        Direction::Decrypt if aead.open(nonce, aad, inside, stated) => Ok(()),
        Direction::Decrypt => Err(EngineError::Mismatch),
    }
}

/// The bytes of a source that is before or behind the text, or in itself.
fn around<'a>(source: &'a Source, text: Span, before: &'a [u8], behind: &'a [u8]) -> &'a [u8] {
    match source {
        Source::Inline(bytes) => bytes,
        Source::Range(span) if span.is_empty() => &[],
        Source::Range(span) if span.end <= text.start => &before[span.range()],
        Source::Range(span) => {
            let start = (span.start - text.end) as usize;
            &behind[start..start + span.len()]
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! One operation over one packet: a cipher pass, a MAC, both, or an AEAD, in place.

use crate::algorithm::Kind;
use crate::buffer::{Buffer, Inline, Span};
use crate::error::{EngineError, Illegal};
use crate::key::{Key, Purpose};
use crate::need::{Direction, Need};

/// An IV: a block of the cipher, nothing for ECB.
pub type Iv = Inline<16>;

/// Bytes that are authenticated behind the text and not in the buffer: the high half of an extended sequence number.
pub type Suffix = Inline<4>;

/// Bytes that are part of the operation, or a place in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The bytes themselves.
    Inline(Inline<16>),
    /// A place in the operation's buffer, which the engine reads and does not change.
    Range(Span),
}

impl Source {
    /// No bytes at all: associated data that there is none of.
    pub const EMPTY: Self = Source::Inline(Inline::EMPTY);

    /// Length in bytes; of a range also if the packet does not hold it.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Source::Inline(bytes) => bytes.len(),
            Source::Range(span) => span.len(),
        }
    }

    /// Whether no byte is meant.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes; nothing for a range that is not in the packet.
    #[inline]
    pub fn bytes<'a>(&'a self, packet: &'a [u8]) -> &'a [u8] {
        match self {
            Source::Inline(bytes) => bytes,
            Source::Range(span) => packet.get(span.range()).unwrap_or_default(),
        }
    }
}

/// What becomes of a tag: its leftmost bytes, as many as the place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It is written there.
    Write(Span),
    /// It has to be there already ([`EngineError::Mismatch`]); compared in constant time.
    Check(Span),
}

impl Tag {
    /// Where the tag is, or will be. A shorter span than the whole tag holds its leftmost bytes.
    #[inline]
    pub fn span(self) -> Span {
        match self {
            Tag::Write(span) | Tag::Check(span) => span,
        }
    }
}

/// What is to be computed, and where in the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// In place. For CTR the IV is the first counter block.
    Cipher {
        /// Of [`Purpose::Cipher`].
        key: Key,
        /// Which way; no difference for CTR and OFB.
        direction: Direction,
        /// As long as a block; empty for ECB.
        iv: Iv,
        /// The bytes that change; whole blocks for ECB and CBC.
        text: Span,
    },
    /// Over bytes and then over `suffix`. With a hash's key a plain digest.
    Mac {
        /// Of [`Purpose::Mac`] or [`Purpose::Hash`].
        key: Key,
        /// The authenticated bytes.
        over: Span,
        /// Authenticated behind `over`; in ESP the high half of an extended sequence number (RFC 4303, 2.2.1).
        suffix: Suffix,
        /// Where the tag is, and whether to write or to check it.
        tag: Tag,
    },
    /// In place. Encryption writes the tag, decryption checks it first or, where both take one pass, wipes the text if
    /// it does not match.
    Aead {
        /// Of [`Purpose::Aead`].
        key: Key,
        /// Which way.
        direction: Direction,
        /// Never the same twice under one key.
        nonce: Source,
        /// Bytes that are authenticated and not encrypted.
        aad: Source,
        /// The bytes that change; any number.
        text: Span,
        /// The tag's place; overlaps neither text nor, when decrypting, what is read.
        tag: Span,
    },
    /// Encryption: the cipher, then the MAC over `over`. Decryption: the MAC, and only if it matches the cipher.
    CipherMac {
        /// Of [`Purpose::Cipher`].
        cipher: Key,
        /// As long as a block; empty for ECB.
        iv: Iv,
        /// Encryption has to write the tag, decryption has to check it.
        direction: Direction,
        /// The bytes that the cipher changes.
        text: Span,
        /// Of [`Purpose::Mac`] or [`Purpose::Hash`].
        mac: Key,
        /// The authenticated bytes; the MAC reads them encrypted.
        over: Span,
        /// Authenticated behind `over`, as in [`Action::Mac`].
        suffix: Suffix,
        /// Where the tag is; outside `text`.
        tag: Tag,
    },
}

/// What is to be computed, and the packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What the engine does with the buffer.
    pub action: Action,
    /// The packet; the engine gives it back in its [`Completion`](crate::Completion).
    pub buffer: Buffer,
}

impl Operation {
    /// A cipher pass over a message of its own.
    ///
    /// # Errors
    /// [`Illegal::IvLength`] if no cipher has such an IV.
    pub fn cipher(key: Key, direction: Direction, iv: &[u8], text: &[u8]) -> Result<Self, EngineError> {
        let wrong = Illegal::IvLength { wanted: key.iv_len(), found: iv.len() };
        let iv = Iv::new(iv).ok_or(wrong)?;
        let action = Action::Cipher { key, direction, iv, text: (0..text.len()).into() };
        Ok(Self { action, buffer: Buffer::from_packet(text, 0, 0) })
    }

    /// The leftmost `len` bytes of a MAC or digest over a message of its own; they come behind it.
    pub fn mac(key: Key, message: &[u8], len: usize) -> Self {
        let mut buffer = Buffer::from_packet(message, 0, len);
        buffer.push_back(len);
        let tag = Tag::Write((message.len()..message.len() + len).into());
        let over = (0..message.len()).into();
        Self { action: Action::Mac { key, over, suffix: Suffix::EMPTY, tag }, buffer }
    }

    /// The same, to be compared with `tag`.
    pub fn check_mac(key: Key, message: &[u8], tag: &[u8]) -> Self {
        let Self { mut action, mut buffer } = Self::mac(key, message, tag.len());
        buffer[message.len()..].copy_from_slice(tag);
        if let Action::Mac { tag, .. } = &mut action {
            *tag = Tag::Check(tag.span());
        }
        Self { action, buffer }
    }

    /// Encrypts a message of its own: the text is followed by the tag, of which there is room, and then by nonce and
    /// associated data; [`Operation::check_aead`] is the way back.
    pub fn aead(key: Key, nonce: &[u8], aad: &[u8], text: &[u8], tag_len: usize) -> Self {
        let mut buffer = Buffer::from_packet(text, 0, tag_len + nonce.len() + aad.len());
        let mut place = |bytes: &[u8]| {
            let start = buffer.len();
            buffer.extend_from_slice(bytes);
            Span::from(start..buffer.len())
        };
        let text = Span::from(0..text.len());
        let tag = place(&vec![0; tag_len]);
        let (nonce, aad) = (Source::Range(place(nonce)), Source::Range(place(aad)));
        let direction = Direction::Encrypt;
        Self { action: Action::Aead { key, direction, nonce, aad, text, tag }, buffer }
    }

    /// Decrypts a message of its own, if the tag is its tag.
    pub fn check_aead(key: Key, nonce: &[u8], aad: &[u8], text: &[u8], tag: &[u8]) -> Self {
        let Self { mut action, mut buffer } = Self::aead(key, nonce, aad, text, tag.len());
        buffer[text.len()..text.len() + tag.len()].copy_from_slice(tag);
        if let Action::Aead { direction, .. } = &mut action {
            *direction = Direction::Decrypt;
        }
        Self { action, buffer }
    }

    /// As [`Action::check`], for its own buffer.
    ///
    /// # Errors
    /// As [`Action::check`].
    #[inline]
    pub fn check(&self) -> Result<(), EngineError> {
        self.action.check(self.buffer.len())
    }
}

impl Action {
    /// What has to be computed, in the order in which it is.
    pub fn needs(&self) -> (Need, Option<Need>) {
        match self {
            Action::Cipher { key, direction, .. } | Action::Aead { key, direction, .. } => {
                (key.need(*direction), None)
            }
            Action::Mac { key, .. } => (key.need(Direction::Encrypt), None),
            Action::CipherMac { cipher, direction, mac, .. } => {
                let (cipher, mac) = (cipher.need(*direction), mac.need(*direction));
                match direction {
                    Direction::Encrypt => (cipher, Some(mac)),
                    Direction::Decrypt => (mac, Some(cipher)),
                }
            }
        }
    }

    /// Whether keys, lengths and places fit each other and a packet of so many bytes; every engine refuses what this
    /// refuses.
    ///
    /// # Errors
    /// [`Illegal`], for the first thing that does not fit.
    #[inline]
    pub fn check(&self, len: usize) -> Result<(), EngineError> {
        match self {
            Action::Cipher { key, iv, text, .. } => check_cipher(key, iv, *text, len)?,
            Action::Mac { key, over, tag, .. } => check_mac(key, *over, *tag, len)?,
            Action::Aead { key, direction, nonce, aad, text, tag } => {
                check_aead(key, *direction, [nonce, aad], [*text, *tag], len)?
            }
            Action::CipherMac { cipher, iv, direction, text, mac, over, tag, .. } => {
                check_cipher(cipher, iv, *text, len)?;
                check_mac(mac, *over, *tag, len)?;
                if text.overlaps(tag.span()) {
                    return Err(Illegal::Overlap.into());
                }
                if matches!(tag, Tag::Write(_)) != (*direction == Direction::Encrypt) {
                    return Err(Illegal::TagDirection.into());
                }
            }
        }
        Ok(())
    }
}

fn check_cipher(key: &Key, iv: &[u8], text: Span, len: usize) -> Result<(), Illegal> {
    let Purpose::Cipher { algorithm, mode } = key.purpose() else { return Err(Illegal::KeyPurpose) };
    let Kind::Cipher { block, .. } = algorithm.kind else { return Err(Illegal::NotACipher) };
    if !text.is_within(len) {
        return Err(Illegal::Range);
    }
    let wanted = key.iv_len();
    if iv.len() != wanted {
        return Err(Illegal::IvLength { wanted, found: iv.len() });
    }
    match mode.whole_blocks() && !text.len().is_multiple_of(block) {
        true => Err(Illegal::NotWholeBlocks(text.len())),
        false => Ok(()),
    }
}

fn check_mac(key: &Key, over: Span, tag: Tag, len: usize) -> Result<(), Illegal> {
    if !matches!(key.purpose(), Purpose::Mac(_) | Purpose::Hash(_)) {
        return Err(Illegal::KeyPurpose);
    }
    let place = tag.span();
    if !over.is_within(len) || !place.is_within(len) {
        return Err(Illegal::Range);
    }
    // AH's tag is written where zeros were authenticated; a tag to be checked is not part of what it vouches for.
    if matches!(tag, Tag::Check(_)) && over.overlaps(place) {
        return Err(Illegal::Overlap);
    }
    match (1..=key.tag_len()).contains(&place.len()) {
        true => Ok(()),
        false => Err(Illegal::TagLength(place.len())),
    }
}

#[inline]
fn check_aead(
    key: &Key,
    direction: Direction,
    [nonce, aad]: [&Source; 2],
    [text, tag]: [Span; 2],
    len: usize,
) -> Result<(), Illegal> {
    let Purpose::Aead(aead) = key.purpose() else { return Err(Illegal::KeyPurpose) };
    let read = [nonce, aad].map(|source| match source {
        Source::Inline(_) => Span::default(),
        Source::Range(span) => *span,
    });
    if read.iter().chain([&text, &tag]).any(|span| !span.is_within(len)) {
        return Err(Illegal::Range);
    }
    // As with a MAC, a tag may be written where something was authenticated.
    let tag_in_the_way = direction == Direction::Decrypt && read.iter().any(|span| span.overlaps(tag));
    if text.overlaps(tag) || tag_in_the_way || read.iter().any(|span| span.overlaps(text)) {
        return Err(Illegal::Overlap);
    }
    if !aead.has_nonce(nonce.len()) {
        return Err(Illegal::NonceLength(nonce.len()));
    }
    if !aead.has_tag(tag.len()) {
        return Err(Illegal::TagLength(tag.len()));
    }
    match text.len() as u64 > aead.longest_text(nonce.len()) {
        true => Err(Illegal::TooLong(text.len())),
        false => Ok(()),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! AES-GCM and ChaCha20-Poly1305 over a message that comes in pieces, and records of TLS 1.2 (RFC 5288, RFC 7905) as
//! libssl hands them over.

use std::sync::Arc;

use ace_ipsec_mb::stream::{AeadKey, Stream};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::abi::Reason;
use crate::native;

/// The tag of both.
pub const TAG: usize = 16;
/// The longest IV that OpenSSL has a place for.
const LONGEST_IV: usize = 128;
/// The last bytes of an IV, which are counted.
const COUNT: usize = 8;
/// Of a record of TLS 1.2: sequence number, type, version, length.
const TLS_AAD: usize = 13;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Gcm,
    ChaCha,
}

impl Scheme {
    /// The longest text under one IV: SP 800-38D 5.2.1.1, RFC 8439 2.8.
    fn longest(self) -> u64 {
        match self {
            Scheme::Gcm => (1 << 36) - 32,
            Scheme::ChaCha => (1 << 38) - 64,
        }
    }

    /// Bytes of IV that stand in a TLS 1.2 record.
    fn explicit(self) -> usize {
        match self {
            Scheme::Gcm => 8,
            Scheme::ChaCha => 0,
        }
    }
}

struct Schedule {
    secret: Zeroizing<Vec<u8>>,
    key: AeadKey,
}

/// Where a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    NoIv,
    /// An IV, and associated data perhaps.
    Ready,
    Text,
    /// The IV was used; another one has to come.
    Over,
}

#[derive(Clone)]
pub struct Context {
    pub scheme: Scheme,
    pub key_len: usize,
    pub encrypt: bool,
    schedule: Option<Arc<Schedule>>,
    iv: [u8; LONGEST_IV],
    pub iv_len: usize,
    phase: Phase,
    aad: Vec<u8>,
    stream: Stream,
    text_len: u64,
    /// What is to be found, or was computed.
    tag: [u8; TAG],
    tag_len: Option<usize>,
    tls_aad: Option<[u8; TLS_AAD]>,
    /// By how much a record is longer than its text, once there was a header of one.
    pub tls_pad: usize,
    /// Whether there ever was an IV.
    has_iv: bool,
    /// IVs come one after the other from one that was fixed.
    iv_is_fixed: bool,
    /// Whether the IV is a message's already, so that the next one has the next IV.
    iv_is_taken: bool,
    records: u64,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.iv.zeroize();
        self.tag.zeroize();
        self.aad.zeroize();
    }
}

impl Context {
    pub fn new(scheme: Scheme, key_len: usize) -> Self {
        Self {
            scheme,
            key_len,
            encrypt: false,
            schedule: None,
            iv: [0; LONGEST_IV],
            iv_len: 12,
            phase: Phase::NoIv,
            aad: Vec::new(),
            stream: Stream::default(),
            text_len: 0,
            tag: [0; TAG],
            tag_len: None,
            tls_aad: None,
            tls_pad: 0,
            has_iv: false,
            iv_is_fixed: false,
            iv_is_taken: false,
            records: 0,
        }
    }

    /// Begins a message. What is not given stays: key, or IV.
    pub fn begin(&mut self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Reason> {
        self.encrypt = encrypt;
        if let Some(iv) = iv {
            if !self.has_iv_len(iv.len()) {
                return Err(Reason::IvLength);
            }
            self.iv_is_fixed &= self.iv_len == iv.len();
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_len = iv.len();
            (self.has_iv, self.iv_is_taken) = (true, false);
            self.next(Phase::Ready);
        }
        if let Some(key) = key {
            if key.len() != self.key_len {
                return Err(Reason::KeyLength);
            }
            let same = self.schedule.as_ref().is_some_and(|old| bool::from(old.secret.ct_eq(key)));
            if !same {
                let made = match (self.scheme, key.try_into()) {
                    (Scheme::Gcm, _) => native::with(|manager| AeadKey::Gcm(manager.gcm_key(key))),
                    (Scheme::ChaCha, Ok(key)) => Some(AeadKey::ChaCha(Zeroizing::new(key))),
                    (Scheme::ChaCha, Err(_)) => return Err(Reason::KeyLength),
                };
                let key = Schedule { secret: Zeroizing::new(key.to_vec()), key: made.ok_or(Reason::Engine)? };
                self.schedule = Some(Arc::new(key));
                if self.phase == Phase::Text {
                    self.next(Phase::Over);
                }
            }
        }
        Ok(())
    }

    fn next(&mut self, phase: Phase) {
        self.phase = phase;
        self.aad.clear();
        self.text_len = 0;
    }

    fn has_iv_len(&self, len: usize) -> bool {
        match self.scheme {
            Scheme::Gcm => (1..=LONGEST_IV).contains(&len),
            Scheme::ChaCha => len == 12,
        }
    }

    pub fn set_iv_len(&mut self, len: usize) -> Result<(), Reason> {
        if !self.has_iv_len(len) {
            return Err(Reason::IvLength);
        }
        if len != self.iv_len {
            self.iv_len = len;
            self.iv_is_fixed = false;
            self.next(Phase::NoIv);
        }
        Ok(())
    }

    /// The IV; where IVs are counted, the next one. `None` before there was any.
    pub fn iv(&mut self) -> Option<&[u8]> {
        if self.phase != Phase::Ready {
            self.advance();
        }
        self.has_iv.then_some(&self.iv[..self.iv_len])
    }

    /// The length of the tag, and what it has to be when something is decrypted.
    pub fn set_tag(&mut self, len: usize, tag: Option<&[u8]>) -> Result<(), Reason> {
        if !(1..=TAG).contains(&len) || (self.encrypt && tag.is_some()) {
            return Err(Reason::TagLength);
        }
        if let Some(tag) = tag {
            self.tag[..len].copy_from_slice(tag);
        }
        self.tag_len = Some(len);
        Ok(())
    }

    pub fn tag_len(&self) -> usize {
        self.tag_len.unwrap_or(TAG)
    }

    /// The tag of what was encrypted, as far as there is place.
    pub fn get_tag(&self, place: &mut [u8]) -> Result<(), Reason> {
        if !self.encrypt || self.phase != Phase::Over {
            return Err(Reason::NoTag);
        }
        let tag = self.tag.get(..place.len()).filter(|tag| !tag.is_empty()).ok_or(Reason::TagLength)?;
        place.copy_from_slice(tag);
        Ok(())
    }

    pub fn associate(&mut self, aad: &[u8]) -> Result<(), Reason> {
        match self.phase {
            Phase::Ready => {
                self.aad.extend_from_slice(aad);
                Ok(())
            }
            Phase::Text => Err(Reason::Order),
            Phase::NoIv | Phase::Over => Err(Reason::NoIv),
        }
    }

    /// The next piece of the text.
    ///
    /// # Safety
    /// `len` bytes can be read at `from` and written at `to`; where both overlap, they are the same.
    pub unsafe fn update(&mut self, from: *const u8, len: usize, to: *mut u8) -> Result<(), Reason> {
        let Some(schedule) = &self.schedule else { return Err(Reason::NoKey) };
        if matches!(self.phase, Phase::NoIv | Phase::Over) {
            return Err(Reason::NoIv);
        }
        let whole = self.text_len + len as u64;
        if whole > self.scheme.longest() {
            return Err(Reason::TooLong);
        }
        let (iv, aad, stream) = (&self.iv[..self.iv_len], &self.aad, &mut self.stream);
        let begins = self.phase == Phase::Ready;
        self.iv_is_taken |= begins;
        let done = native::with(|manager| {
            if begins && !stream.begin(manager, &schedule.key, iv, aad) {
                return false;
            }
            // SAFETY: as the caller says.
            unsafe { stream.piece(manager, &schedule.key, self.encrypt, from, to, len) };
            true
        });
        if done != Some(true) {
            return Err(Reason::Engine);
        }
        self.phase = Phase::Text;
        self.text_len = whole;
        Ok(())
    }

    /// The end: the tag is computed, and compared when something was decrypted. `Ok(false)`: it is another one.
    pub fn finish(&mut self) -> Result<bool, Reason> {
        let Some(schedule) = &self.schedule else { return Err(Reason::NoKey) };
        if matches!(self.phase, Phase::NoIv | Phase::Over) {
            return Err(Reason::NoIv);
        }
        if !self.encrypt && self.tag_len.is_none() {
            return Err(Reason::NoTag);
        }
        let (iv, aad, stream) = (&self.iv[..self.iv_len], &self.aad, &mut self.stream);
        let begins = self.phase == Phase::Ready;
        self.iv_is_taken |= begins;
        let computed = native::with(|manager| {
            let begun = !begins || stream.begin(manager, &schedule.key, iv, aad);
            begun.then(|| stream.end(manager, &schedule.key, self.encrypt))
        });
        let computed = Zeroizing::new(computed.flatten().ok_or(Reason::Engine)?);
        self.next(Phase::Over);
        if self.encrypt {
            self.tag = *computed;
            return Ok(true);
        }
        // A tag vouches for one message.
        let len = self.tag_len.take().unwrap_or(TAG);
        Ok(computed[..len].ct_eq(&self.tag[..len]).into())
    }

    /// The header of the next record. Returns by how much the record is longer than its text.
    pub fn set_tls_aad(&mut self, header: &[u8]) -> Result<(), Reason> {
        let mut header: [u8; TLS_AAD] = header.try_into().map_err(|_| Reason::Parameter)?;
        // The length that is authenticated is that of the plaintext.
        let mut len = usize::from(u16::from_be_bytes([header[11], header[12]]));
        if self.scheme == Scheme::Gcm || !self.encrypt {
            let without = self.scheme.explicit() + if self.encrypt { 0 } else { TAG };
            len = len.checked_sub(without).ok_or(Reason::Parameter)?;
        }
        header[11..].copy_from_slice(&(len as u16).to_be_bytes());
        self.tls_aad = Some(header);
        self.tls_pad = TAG;
        Ok(())
    }

    /// The part of the IV that both ends know. With GCM the rest is counted from a random number, or it is all of the IV,
    /// as OpenSSH has it.
    pub fn set_fixed_iv(&mut self, fixed: &[u8]) -> Result<(), Reason> {
        let legal = match self.scheme {
            Scheme::Gcm if fixed.len() == self.iv_len => self.iv_len >= COUNT,
            Scheme::Gcm => {
                fixed.len() >= 4 && self.iv_len.checked_sub(fixed.len()).is_some_and(|rest| rest >= COUNT)
            }
            Scheme::ChaCha => fixed.len() == 12,
        };
        if !legal {
            return Err(Reason::IvLength);
        }
        self.iv[..fixed.len()].copy_from_slice(fixed);
        if self.encrypt && self.scheme == Scheme::Gcm {
            getrandom::fill(&mut self.iv[fixed.len()..self.iv_len]).map_err(|_| Reason::Engine)?;
        }
        (self.has_iv, self.iv_is_fixed, self.iv_is_taken) = (true, true, false);
        self.records = 0;
        self.next(Phase::Ready);
        Ok(())
    }

    /// Counts on where the IV was a message's.
    fn advance(&mut self) {
        if self.scheme == Scheme::Gcm && self.iv_is_fixed && std::mem::take(&mut self.iv_is_taken) {
            let count = &mut self.iv[self.iv_len - COUNT..self.iv_len];
            let next = count.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)).wrapping_add(1);
            count.copy_from_slice(&next.to_be_bytes());
        }
    }

    /// The next IV is that of the next message; its last bytes are told.
    pub fn take_next_iv(&mut self, last: &mut [u8]) -> Result<(), Reason> {
        if self.scheme != Scheme::Gcm {
            return Err(Reason::NotHere);
        }
        if self.schedule.is_none() {
            return Err(Reason::NoKey);
        }
        let from = self.iv_len.checked_sub(last.len()).filter(|_| self.iv_is_fixed).ok_or(Reason::NoIv)?;
        self.advance();
        last.copy_from_slice(&self.iv[from..self.iv_len]);
        self.iv_is_taken = true;
        self.next(Phase::Ready);
        Ok(())
    }

    /// The last bytes of the IV of the message that is decrypted next.
    pub fn set_last_of_iv(&mut self, last: &[u8]) -> Result<(), Reason> {
        if self.scheme != Scheme::Gcm {
            return Err(Reason::NotHere);
        }
        if self.encrypt {
            return Err(Reason::Order);
        }
        if self.schedule.is_none() {
            return Err(Reason::NoKey);
        }
        let from = self.iv_len.checked_sub(last.len()).filter(|_| self.iv_is_fixed).ok_or(Reason::NoIv)?;
        self.iv[from..self.iv_len].copy_from_slice(last);
        self.iv_is_taken = false;
        self.next(Phase::Ready);
        Ok(())
    }

    pub fn is_tls(&self) -> bool {
        self.tls_aad.is_some()
    }

    /// A whole record of TLS 1.2 in place. Returns the length of what OpenSSL takes for the result.
    pub fn tls_record(&mut self, record: &mut [u8]) -> Result<usize, Reason> {
        let Some(header) = self.tls_aad.take() else { return Err(Reason::Order) };
        let explicit = self.scheme.explicit();
        let text_len = record.len().checked_sub(explicit + TAG).ok_or(Reason::Parameter)?;
        // ChaCha20's base may have come as an IV.
        let has_iv = self.iv_is_fixed || (self.scheme == Scheme::ChaCha && self.phase != Phase::NoIv);
        if !has_iv {
            return Err(Reason::NoIv);
        }
        if self.encrypt {
            self.advance();
        }
        let fixed = self.iv;
        let (before, rest) = record.split_at_mut(explicit);
        let (text, tag) = rest.split_at_mut(text_len);
        match self.scheme {
            Scheme::Gcm => {
                // So many records have no key.
                self.records = self.records.checked_add(1).ok_or(Reason::TooLong)?;
                let place = &mut self.iv[self.iv_len - COUNT..self.iv_len];
                match self.encrypt {
                    true => before.copy_from_slice(place),
                    false => place.copy_from_slice(before),
                }
            }
            Scheme::ChaCha => {
                for (byte, number) in self.iv[4..12].iter_mut().zip(&header) {
                    *byte ^= number;
                }
            }
        }
        self.next(Phase::Ready);
        self.aad.extend_from_slice(&header);
        self.set_tag(TAG, (!self.encrypt).then_some(&*tag))?;
        let (len, place) = (text.len(), text.as_mut_ptr());
        // SAFETY: both are the text.
        let done = unsafe { self.update(place, len, place) }.and_then(|()| self.finish());
        self.iv = fixed;
        if done != Ok(true) {
            text.zeroize();
            return Err(done.err().unwrap_or(Reason::NoTag));
        }
        if self.encrypt {
            tag.copy_from_slice(&self.tag);
            return Ok(record.len());
        }
        Ok(text_len)
    }
}

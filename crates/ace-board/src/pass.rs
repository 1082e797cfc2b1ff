// SPDX-License-Identifier: Apache-2.0
//! What one frame asks of a slot: a pass of a cipher or a hash over data of its own. An operation over a packet falls
//! into one or two of them.

use ace_engine::{
    Action, Aead, Algorithm, Buffer, Direction, EngineError, Illegal, Key, Kind, Mac, Mode, Need, Operation,
    Purpose, Secret, Span, Tag,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::ccm::Ccm;
use crate::pending::Pending;
use crate::{cbc_mac, frame};

/// What the first pass of an action leaves for the second.
pub type Carried = Option<Zeroizing<Vec<u8>>>;

/// What slots have to compute for an action, in the order in which they do.
pub fn needs(action: &Action) -> (Need, Option<Need>) {
    match Ccm::of(action) {
        Some(ccm) => {
            let (first, second) = ccm.needs();
            (first, Some(second))
        }
        None => action.needs(),
    }
}

/// What is to be computed, without the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// One direction of a cipher in a mode, under a key.
    Cipher {
        /// The cipher.
        algorithm: &'static Algorithm,
        /// How blocks are chained.
        mode: Mode,
        /// Whether it encrypts or decrypts.
        direction: Direction,
        /// The key, of a length that the cipher takes.
        key: Secret,
        /// Nothing for ECB, else one block; for CTR the first counter block.
        iv: Vec<u8>,
    },
    /// One direction of an AEAD. The tag is behind the text: of the result when it encrypts, of the data when it decrypts.
    Aead {
        /// The AEAD.
        aead: Aead,
        /// The cipher that it is made of.
        algorithm: &'static Algorithm,
        /// Whether it encrypts or decrypts.
        direction: Direction,
        /// The key, of a length that the AEAD takes.
        key: Secret,
        /// Never the same twice under one key.
        nonce: Vec<u8>,
        /// What is authenticated and not encrypted.
        aad: Vec<u8>,
        /// Bytes of the tag.
        tag_len: usize,
    },
    /// The whole digest.
    Hash {
        /// The hash.
        algorithm: &'static Algorithm,
    },
    /// HMAC (RFC 2104) with any key length; the leftmost bytes of it.
    Hmac {
        /// The hash that HMAC uses.
        algorithm: &'static Algorithm,
        /// The key, of any length.
        key: Secret,
        /// Bytes of the result, from the left: 1 to the digest.
        output_len: usize,
    },
}

impl Pass {
    /// What a configuration has to be able to do to serve the pass.
    pub fn need(&self) -> Need {
        match self {
            Pass::Cipher { algorithm, mode, direction, key, .. } => {
                Need::Cipher { algorithm, mode: *mode, direction: *direction, key_len: key.len() }
            }
            Pass::Aead { aead, direction, key, .. } => {
                Need::Aead { aead: *aead, direction: *direction, key_len: key.len() }
            }
            Pass::Hash { algorithm } => Need::Hash { algorithm },
            Pass::Hmac { algorithm, .. } => Need::Hmac { algorithm },
        }
    }

    /// The cipher or hash of the pass.
    pub fn algorithm(&self) -> &'static Algorithm {
        match self {
            Pass::Cipher { algorithm, .. }
            | Pass::Aead { algorithm, .. }
            | Pass::Hash { algorithm }
            | Pass::Hmac { algorithm, .. } => algorithm,
        }
    }

    /// Nothing for a hash.
    pub fn key(&self) -> Option<&Secret> {
        match self {
            Pass::Cipher { key, .. } | Pass::Aead { key, .. } | Pass::Hmac { key, .. } => Some(key),
            Pass::Hash { .. } => None,
        }
    }

    /// Bytes of result for so many bytes of data.
    pub fn result_len(&self, data: usize) -> usize {
        match self {
            Pass::Cipher { .. } => data,
            Pass::Aead { direction: Direction::Encrypt, tag_len, .. } => data + tag_len,
            Pass::Aead { tag_len, .. } => data.saturating_sub(*tag_len),
            Pass::Hash { algorithm } => match algorithm.kind {
                Kind::Hash { digest, .. } => digest,
                Kind::Cipher { .. } => 0,
            },
            Pass::Hmac { output_len, .. } => *output_len,
        }
    }
}

/// A pass over data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What is computed.
    pub pass: Pass,
    /// What it is computed over.
    pub data: Vec<u8>,
}

impl Task {
    /// The same as an operation for any engine; [`Task::result`] takes the result out of its buffer.
    ///
    /// # Errors
    /// [`Illegal`] for lengths that do not fit the algorithm.
    pub fn operation(&self) -> Result<Operation, EngineError> {
        let operation = match &self.pass {
            Pass::Cipher { algorithm, mode, direction, key, iv } => {
                let key = Key::cipher(algorithm, *mode, key.as_bytes())?;
                Operation::cipher(key, *direction, iv, &self.data)?
            }
            Pass::Aead { aead, direction, key, nonce, aad, tag_len, .. } => {
                let key = Key::aead(*aead, key.as_bytes())?;
                match direction {
                    Direction::Encrypt => Operation::aead(key, nonce, aad, &self.data, *tag_len),
                    Direction::Decrypt => {
                        let text = self.data.len().checked_sub(*tag_len).ok_or(Illegal::Range)?;
                        let (text, tag) = self.data.split_at(text);
                        Operation::check_aead(key, nonce, aad, text, tag)
                    }
                }
            }
            Pass::Hash { algorithm } => {
                let key = Key::hash(algorithm)?;
                let len = key.tag_len();
                Operation::mac(key, &self.data, len)
            }
            Pass::Hmac { algorithm, key, output_len } => {
                let key = Key::mac(Mac::Hmac(algorithm), key.as_bytes())?;
                Operation::mac(key, &self.data, *output_len)
            }
        };
        operation.check()?;
        Ok(operation)
    }

    /// What an engine has left in the buffer of [`Task::operation`].
    pub fn result(&self, buffer: &Buffer) -> Vec<u8> {
        let len = self.pass.result_len(self.data.len());
        if let Pass::Aead { .. } = self.pass {
            return buffer[..len].to_vec();
        }
        buffer[buffer.len().saturating_sub(len)..].to_vec()
    }

    /// The first or second pass of an action over a packet, if a slot can be asked for it; the second one with what the
    /// first has left.
    pub fn of(action: &Action, second: bool, packet: &[u8], first: &Carried) -> Option<Self> {
        if let Some(ccm) = Ccm::of(action) {
            return ccm.task(second, packet, first);
        }
        let encrypts = action_encrypts(action);
        match action {
            Action::Cipher { key, direction, iv, text } => cipher(key, *direction, iv, &packet[text.range()]),
            Action::CipherMac { cipher: key, direction, iv, text, .. } if second != encrypts => {
                cipher(key, *direction, iv, &packet[text.range()])
            }
            Action::Mac { key, over, suffix, tag }
            | Action::CipherMac { mac: key, over, suffix, tag, .. } => {
                let data = [&packet[over.range()], suffix].concat();
                let pass = match key.purpose() {
                    _ if cbc_mac::is_one(key) => return cbc_mac::task(key, data),
                    Purpose::Hash(algorithm) => Pass::Hash { algorithm },
                    Purpose::Mac(Mac::Hmac(algorithm)) => {
                        Pass::Hmac { algorithm, key: key.secret().clone(), output_len: tag.span().len() }
                    }
                    _ => return None,
                };
                Some(Self { pass, data })
            }
            Action::Aead { .. } => aead(action, packet),
        }
    }
}

/// The pass of a job that waits or runs, if a slot can be asked for it.
pub(crate) fn task(pending: &Pending) -> Option<Task> {
    let operation = &pending.job.operation;
    Task::of(&operation.action, pending.second, &operation.buffer, &pending.carried)
}

fn action_encrypts(action: &Action) -> bool {
    matches!(action, Action::CipherMac { direction: Direction::Encrypt, .. })
}

fn cipher(key: &Key, direction: Direction, iv: &[u8], data: &[u8]) -> Option<Task> {
    let Purpose::Cipher { algorithm, mode } = key.purpose() else { return None };
    let pass = Pass::Cipher { algorithm, mode, direction, key: key.secret().clone(), iv: iv.to_vec() };
    Some(Task { pass, data: data.to_vec() })
}

/// An AEAD whose frame a slot can hold.
fn aead(action: &Action, packet: &[u8]) -> Option<Task> {
    let Action::Aead { key, direction, nonce, aad, text, tag } = action else { return None };
    let Purpose::Aead(aead) = key.purpose() else { return None };
    let algorithm = aead.cipher().filter(|_| fits(action))?;
    let mut data = packet[text.range()].to_vec();
    if *direction == Direction::Decrypt {
        data.extend_from_slice(&packet[tag.range()]);
    }
    let (nonce, aad_bytes) = (nonce.bytes(packet).to_vec(), aad.bytes(packet).to_vec());
    let (direction, tag_len, key) = (*direction, tag.len(), key.secret().clone());
    let pass = Pass::Aead { aead, algorithm, direction, key, nonce, aad: aad_bytes, tag_len };
    Some(Task { pass, data })
}

/// The second pass of an action that encrypts and then authenticates, and what it covers in front of the ciphertext, where the
/// slot that enciphers can pass the result on to it ([docs/array.md], "Results that are frames").
pub(crate) fn follows(action: &Action, packet: &[u8]) -> Option<(Pass, Vec<u8>)> {
    let Action::CipherMac { cipher, direction: Direction::Encrypt, iv, text, mac, over, suffix, tag } =
        action
    else {
        return None;
    };
    let Purpose::Cipher { mode, .. } = cipher.purpose() else { return None };
    let Purpose::Mac(Mac::Hmac(algorithm)) = mac.purpose() else { return None };
    let front = packet.get(over.start as usize..text.start as usize)?;
    // CBC has its IV from the end of what is passed on.
    let place = match mode {
        Mode::Ecb | Mode::Ctr => true,
        Mode::Cbc => front.ends_with(iv),
        Mode::Cfb | Mode::Cfb8 | Mode::Ofb => false,
    };
    let whole = frame::HEADER + front.len();
    let fits = place
        && suffix.is_empty()
        && over.end == text.end
        && !text.is_empty()
        && whole.is_multiple_of(frame::BEAT)
        && whole / frame::BEAT <= frame::PASSED_ON_MAX
        && whole + text.len() <= frame::JOINT_MAX
        && mac.secret().len() <= frame::HMAC_KEY_MAX;
    let pass = Pass::Hmac { algorithm, key: mac.secret().clone(), output_len: tag.span().len() };
    fits.then(|| (pass, front.to_vec()))
}

/// Puts the results of both passes where the action wants them.
pub(crate) fn apply_both(action: &Action, result: &[u8], packet: &mut [u8]) -> Result<(), EngineError> {
    let (text, tag) = result.split_at_checked(data_len(action, false)).ok_or(Illegal::Range)?;
    apply(action, false, text, packet, &None)?;
    apply(action, true, tag, packet, &None).map(drop)
}

/// Whether a slot that computes what an action needs has frames for its lengths: of an AEAD alone it may have none, as a slot
/// holds the whole text until it knows the tag.
pub fn fits(action: &Action) -> bool {
    let Action::Aead { nonce, aad, text, tag, .. } = action else { return true };
    if Ccm::of(action).is_some() {
        return true;
    }
    nonce.len() == frame::AEAD_NONCE
        && frame::AEAD_TAGS.contains(&tag.len())
        && aad.len() <= frame::AEAD_AAD_MAX
        && aad.len().next_multiple_of(frame::AEAD_BLOCK).saturating_add(text.len()) <= frame::AEAD_ROOM
}

/// Bytes of data that the first or second pass of an action is given.
pub fn data_len(action: &Action, second: bool) -> usize {
    if let Some(ccm) = Ccm::of(action) {
        return ccm.data_len(second);
    }
    match action {
        Action::Cipher { text, .. } | Action::Aead { text, .. } => text.len(),
        Action::CipherMac { text, .. } if second != action_encrypts(action) => text.len(),
        Action::Mac { key, over, suffix, .. } | Action::CipherMac { mac: key, over, suffix, .. } => {
            let len = over.len() + suffix.len();
            if cbc_mac::is_one(key) { cbc_mac::data_len(len) } else { len }
        }
    }
}

/// Puts the result of the first or second pass where the action wants it, or leaves it for the second.
///
/// # Errors
/// [`EngineError::Mismatch`] if a tag was to be checked and is another one.
pub fn apply(
    action: &Action,
    second: bool,
    result: &[u8],
    packet: &mut [u8],
    first: &Carried,
) -> Result<Carried, EngineError> {
    if let Some(ccm) = Ccm::of(action) {
        return ccm.apply(second, result, packet, first);
    }
    let encrypts = action_encrypts(action);
    if let Action::Aead { direction: Direction::Encrypt, text, tag, .. } = action {
        let (sealed, written) = result.split_at_checked(text.len()).ok_or(Illegal::Range)?;
        put(packet, *text, sealed)?;
        return put(packet, *tag, written).map(|()| None);
    }
    let (place, result) = match action {
        Action::Cipher { text, .. } | Action::Aead { text, .. } => (*text, result),
        Action::CipherMac { text, .. } if second != encrypts => (*text, result),
        Action::Mac { key, tag, .. } | Action::CipherMac { mac: key, tag, .. } => {
            let result = if cbc_mac::is_one(key) { cbc_mac::tag(result) } else { result };
            let found = packet.get(tag.span().range()).unwrap_or_default();
            // A digest comes whole.
            let computed = result.get(..found.len()).ok_or(Illegal::TagLength(found.len()))?;
            if let Tag::Check(_) = tag {
                return match bool::from(computed.ct_eq(found)) {
                    true => Ok(None),
                    false => Err(EngineError::Mismatch),
                };
            }
            (tag.span(), result)
        }
    };
    put(packet, place, result).map(|()| None)
}

/// As much of a result as its place has.
fn put(packet: &mut [u8], place: Span, result: &[u8]) -> Result<(), EngineError> {
    let place = packet.get_mut(place.range()).ok_or(Illegal::Range)?;
    let len = place.len();
    place.copy_from_slice(result.get(..len).ok_or(Illegal::Range)?);
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! Keys: checked and expanded once, shared by every operation that uses them, wiped with the last of these.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::algorithm::{Algorithm, Kind};
use crate::error::{EngineError, Illegal};
use crate::need::{Aead, Direction, Mac, Mode, Need};

/// Key material. Wiped when the last copy is dropped; never printed; compared in a time that depends on lengths alone.
#[derive(Clone, Default, Eq)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl Secret {
    /// Takes the bytes over; they are wiped in their place. Copies that the caller made before are the caller's to
    /// wipe.
    pub fn new(bytes: Vec<u8>) -> Self {
        Zeroizing::new(bytes).into()
    }

    /// The key's bytes, for what expands or compares them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no bytes, as the key of a plain digest.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Zeroizing<Vec<u8>>> for Secret {
    fn from(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Encryption or decryption without authentication.
    Cipher {
        /// A block cipher.
        algorithm: &'static Algorithm,
        /// The mode of operation.
        mode: Mode,
    },
    /// Authentication of a message.
    Mac(Mac),
    /// Encryption and authentication in one.
    Aead(Aead),
    /// No key at all: a plain digest.
    Hash(&'static Algorithm),
}

/// Which engine keeps something with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The software engine of this crate.
    Software,
    /// An engine that binds a library of the machine.
    Native,
}

/// A key for one purpose. Copies are handles of the same key: what an engine expanded for one serves all.
#[derive(Clone)]
pub struct Key(Arc<Inner>);

struct Inner {
    id: u64,
    purpose: Purpose,
    secret: Secret,
    /// What engines made of it, by [`Keeper`]. Boxed, so that what wipes itself when dropped never moves.
    cached: [OnceLock<Box<dyn Any + Send + Sync>>; 2],
}

impl Key {
    /// # Errors
    /// [`Illegal`] if the algorithm is no cipher or has no such keys.
    pub fn cipher(algorithm: &'static Algorithm, mode: Mode, key: &[u8]) -> Result<Key, EngineError> {
        let Kind::Cipher { keys, .. } = algorithm.kind else { return Err(Illegal::NotACipher.into()) };
        Self::of_lengths(Purpose::Cipher { algorithm, mode }, keys, key)
    }

    /// # Errors
    /// [`Illegal`] if HMAC is to be of something that is no hash, or AES has no such keys.
    pub fn mac(mac: Mac, key: &[u8]) -> Result<Key, EngineError> {
        let keys: &[usize] = match mac {
            Mac::Hmac(Algorithm { kind: Kind::Cipher { .. }, .. }) => return Err(Illegal::NotAHash.into()),
            Mac::Hmac(_) => return Ok(Self::new(Purpose::Mac(mac), key)),
            Mac::Xcbc => &[16],
            Mac::Cmac => &[16, 24, 32],
        };
        Self::of_lengths(Purpose::Mac(mac), keys, key)
    }

    /// # Errors
    /// [`Illegal`] if there are no such keys.
    pub fn aead(aead: Aead, key: &[u8]) -> Result<Key, EngineError> {
        Self::of_lengths(Purpose::Aead(aead), aead.keys(), key)
    }

    /// A plain hash: the key that is none.
    ///
    /// # Errors
    /// [`Illegal`] if the algorithm is no hash.
    pub fn hash(algorithm: &'static Algorithm) -> Result<Key, EngineError> {
        match algorithm.kind {
            Kind::Hash { .. } => Ok(Self::new(Purpose::Hash(algorithm), &[])),
            Kind::Cipher { .. } => Err(Illegal::NotAHash.into()),
        }
    }

    fn of_lengths(purpose: Purpose, keys: &[usize], key: &[u8]) -> Result<Key, EngineError> {
        match keys.contains(&key.len()) {
            true => Ok(Self::new(purpose, key)),
            false => Err(Illegal::KeyLength(key.len()).into()),
        }
    }

    fn new(purpose: Purpose, key: &[u8]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let secret = Secret::new(key.to_vec());
        Self(Arc::new(Inner { id, purpose, secret, cached: Default::default() }))
    }

    /// Unique in the process and never given again.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// What the key was checked for when it was made.
    #[inline]
    pub fn purpose(&self) -> Purpose {
        self.0.purpose
    }

    /// The key itself: for what expands it, be it software or a slot.
    #[inline]
    pub fn secret(&self) -> &Secret {
        &self.0.secret
    }

    /// What computes with this key; the direction matters to ciphers and AEAD only.
    pub fn need(&self, direction: Direction) -> Need {
        let key_len = self.0.secret.len();
        match self.0.purpose {
            Purpose::Cipher { algorithm, mode } => Need::Cipher { algorithm, mode, direction, key_len },
            Purpose::Mac(Mac::Hmac(algorithm)) => Need::Hmac { algorithm },
            Purpose::Mac(Mac::Xcbc) => Need::Xcbc,
            Purpose::Mac(Mac::Cmac) => Need::Cmac { key_len },
            Purpose::Aead(aead) => Need::Aead { aead, direction, key_len },
            Purpose::Hash(algorithm) => Need::Hash { algorithm },
        }
    }

    /// Bytes of IV that a cipher key wants with each text (for CTR the first counter block); 0 for other keys.
    #[inline]
    pub fn iv_len(&self) -> usize {
        match self.0.purpose {
            Purpose::Cipher { mode: Mode::Ecb, .. } => 0,
            Purpose::Cipher { algorithm, .. } => match algorithm.kind {
                Kind::Cipher { block, .. } => block,
                Kind::Hash { .. } => 0,
            },
            _ => 0,
        }
    }

    /// The longest tag of a key that authenticates; 0 for a cipher.
    #[inline]
    pub fn tag_len(&self) -> usize {
        match self.0.purpose {
            Purpose::Mac(Mac::Hmac(algorithm)) | Purpose::Hash(algorithm) => match algorithm.kind {
                Kind::Hash { digest, .. } => digest,
                Kind::Cipher { .. } => 0,
            },
            Purpose::Mac(Mac::Xcbc | Mac::Cmac) | Purpose::Aead(_) => 16,
            Purpose::Cipher { .. } => 0,
        }
    }

    /// What an engine keeps with this key: made by the first call, the same for all later ones; it goes with the last
    /// handle. It has to wipe itself. `None` only if one keeper keeps things of two types.
    #[inline]
    pub fn cached<T: Any + Send + Sync>(&self, keeper: Keeper, make: impl FnOnce(&Self) -> T) -> Option<&T> {
        let place = match keeper {
            Keeper::Software => &self.0.cached[0],
            Keeper::Native => &self.0.cached[1],
        };
        if let Some(cached) = place.get() {
            return cached.downcast_ref();
        }
        let cached = place.get_or_init(|| {
            let made = expand(self, make);
            scrub_stack();
            made
        });
        cached.downcast_ref()
    }
}

/// A frame of its own, so that all of it is below that of the caller when this returns.
#[inline(never)]
fn expand<T: Any + Send + Sync>(key: &Key, make: impl FnOnce(&Key) -> T) -> Box<dyn Any + Send + Sync> {
    Box::new(make(key))
}

/// What computed with the key has left it where the stack was.
impl Drop for Inner {
    fn drop(&mut self) {
        scrub_stack();
    }
}

/// Key expansion leaves copies of what it made below the frame of its caller: overwrites as much of the stack as
/// the largest schedule takes, several times over.
#[inline(never)]
pub fn scrub_stack() {
    let mut below = [0u8; 32 << 10];
    // Somebody might look: the compiler has to store them.
    std::hint::black_box(&mut below);
}

/// Two keys are equal if they are handles of the same one.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {} bytes, {:?})", self.0.id, self.0.secret.len(), self.0.purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_equal_byte_by_byte() {
        let secret = |bytes: &[u8]| Secret::new(bytes.to_vec());
        assert_eq!(secret(b"key"), secret(b"key"));
        assert!(
            ["", "ke", "keys", "kez", "Key"].iter().all(|other| secret(b"key") != secret(other.as_bytes()))
        );
    }
}

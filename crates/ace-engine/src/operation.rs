// SPDX-License-Identifier: Apache-2.0
//! One cipher or hash pass over one packet.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::algorithm::{Algorithm, Kind};
use crate::engine::EngineError;

/// Key material. Wiped when the last copy is dropped; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

impl Secret {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// The modes of SP 800-38A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Ecb,
    Cbc,
    /// The counter is the whole block as one big-endian number.
    Ctr,
    /// Segments are blocks; the last one may be short.
    Cfb,
    /// Segments are bytes: a pass of the cipher for each.
    Cfb8,
    Ofb,
}

impl Mode {
    /// In the order of listings.
    pub const ALL: [Mode; 6] = [Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Cfb, Mode::Cfb8, Mode::Ofb];

    /// As manifests and people write it; known answers have capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Cfb => "cfb",
            Mode::Cfb8 => "cfb8",
            Mode::Ofb => "ofb",
        }
    }

    /// Whether data have to be whole blocks.
    pub const fn whole_blocks(self) -> bool {
        matches!(self, Mode::Ecb | Mode::Cbc)
    }

    /// Whether decryption is anything else than encryption.
    pub const fn has_direction(self) -> bool {
        !matches!(self, Mode::Ctr | Mode::Ofb)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Encrypt,
    Decrypt,
}

/// What is to be computed, without the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// `iv`: empty for ECB, else one block (for CTR the first counter block).
    Cipher { algorithm: &'static Algorithm, mode: Mode, direction: Direction, key: Secret, iv: Vec<u8> },
    /// The whole digest.
    Hash { algorithm: &'static Algorithm },
    /// HMAC (RFC 2104) with any key length; the leftmost `output_len` bytes (1 to the digest).
    Hmac { algorithm: &'static Algorithm, key: Secret, output_len: usize },
}

/// One pass over `data`. The result of a cipher pass is as long as `data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub pass: Pass,
    pub data: Vec<u8>,
}

/// What a slot has to be able to do to execute an operation: the key under which a scheduler looks for a
/// configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    Cipher { algorithm: &'static Algorithm, mode: Mode, direction: Direction, key_len: usize },
    Hash { algorithm: &'static Algorithm },
    Hmac { algorithm: &'static Algorithm },
}

impl Need {
    pub fn algorithm(&self) -> &'static Algorithm {
        match self {
            Need::Cipher { algorithm, .. } | Need::Hash { algorithm } | Need::Hmac { algorithm } => algorithm,
        }
    }
}

impl Pass {
    pub fn need(&self) -> Need {
        match self {
            Pass::Cipher { algorithm, mode, direction, key, .. } => {
                Need::Cipher { algorithm, mode: *mode, direction: *direction, key_len: key.len() }
            }
            Pass::Hash { algorithm } => Need::Hash { algorithm },
            Pass::Hmac { algorithm, .. } => Need::Hmac { algorithm },
        }
    }

    /// Whether key, IV, result and data lengths fit the algorithm; both engines refuse what this refuses.
    ///
    /// # Errors
    /// [`EngineError::Illegal`] names the first length that does not fit.
    pub fn check(&self, data_len: usize) -> Result<(), EngineError> {
        let illegal = |text: String| Err(EngineError::Illegal(text));
        let is_hash = |a: &Algorithm| matches!(a.kind, Kind::Hash { .. });
        match self {
            Pass::Cipher { algorithm, mode, key, iv, .. } => {
                let Kind::Cipher { block, keys } = algorithm.kind else {
                    return illegal(format!("{algorithm} is not a cipher"));
                };
                if !keys.contains(&key.len()) {
                    return illegal(format!("{algorithm} has no key of {} bytes", key.len()));
                }
                let iv_len = if *mode == Mode::Ecb { 0 } else { block };
                if iv.len() != iv_len {
                    return illegal(format!(
                        "{algorithm} {mode:?} needs an IV of {iv_len} bytes, not {}",
                        iv.len()
                    ));
                }
                if mode.whole_blocks() && !data_len.is_multiple_of(block) {
                    return illegal(format!("{data_len} bytes are not whole blocks of {algorithm}"));
                }
            }
            Pass::Hash { algorithm } if !is_hash(algorithm) => {
                return illegal(format!("{algorithm} is not a hash"));
            }
            Pass::Hash { .. } => {}
            Pass::Hmac { algorithm, output_len, .. } => {
                let Kind::Hash { digest, .. } = algorithm.kind else {
                    return illegal(format!("{algorithm} is not a hash"));
                };
                if *output_len == 0 || *output_len > digest {
                    return illegal(format!("hmac-{algorithm} has no output of {output_len} bytes"));
                }
            }
        }
        Ok(())
    }
}

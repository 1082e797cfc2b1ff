// SPDX-License-Identifier: Apache-2.0
//! Ed25519 keys (RFC 8032) and their files.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::error::KeyError;

const SECRET: &str = "ace-library-secret-key-1 ";
const PUBLIC: &str = "ace-library-public-key-1 ";

/// Signs libraries.
pub struct SecretKey(SigningKey);

/// Tells who signed a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SecretKey {
    /// A new key from the system's random numbers.
    ///
    /// # Errors
    /// When the system has none.
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| KeyError::Random(error.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// From a key file's text.
    ///
    /// # Errors
    /// When the text is something else.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let mut seed = parse(text, SECRET).ok_or(KeyError::NoKey { wanted: "secret" })?;
        let key = SigningKey::from_bytes(&seed);
        seed.zeroize();
        Ok(Self(key))
    }

    /// A key file's text.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{SECRET}{}\n", hex::encode(self.0.as_bytes())))
    }

    /// The key that goes with it.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl PublicKey {
    /// From a key file's text.
    ///
    /// # Errors
    /// When the text is something else.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bytes = parse(text, PUBLIC);
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).ok_or(KeyError::NoKey { wanted: "public" })
    }

    /// A key file's text.
    pub fn to_text(&self) -> String {
        format!("{PUBLIC}{}\n", hex::encode(self.to_bytes()))
    }

    /// The first half of its SHA-256 in hexadecimal: what people compare.
    pub fn fingerprint(&self) -> String {
        hex::encode(&Sha256::digest(self.to_bytes())[..16])
    }

    /// The encoded point.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

fn parse(text: &str, kind: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.strip_prefix(kind)?.trim_end(), &mut bytes).ok()?;
    Some(bytes)
}

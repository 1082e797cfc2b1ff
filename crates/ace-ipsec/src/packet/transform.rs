// SPDX-License-Identifier: Apache-2.0
//! Suites with prepared keys: expanded once, used for every packet of an SA.

use ace_engine::{Aead, Inline, Iv, Key, Mode};
use zeroize::Zeroizing;

use super::trailer::{HEADER_LEN, TRAILER_LEN};
use crate::model::{AuthSuite, CipherKind, CipherSuite, IvKind, SpecError};

/// What computes a packet. No packet changes it.
#[derive(Debug)]
pub struct Transform {
    pub cipher: &'static CipherSuite,
    pub keys: Keys,
    nonce: Zeroizing<[u8; 4]>,
    pub icv_len: usize,
}

/// Prepared keys, by what a packet needs.
#[derive(Debug)]
pub enum Keys {
    Nothing,
    Cipher(Key),
    Mac(Key),
    Both { cipher: Key, mac: Key },
    Aead(Key),
    Gmac(Key),
}

impl Transform {
    /// `keymat` is the cipher key and behind it the nonce of suites that have one. Its length must fit the suite;
    /// HMAC takes a key of any length.
    ///
    /// # Errors
    /// [`SpecError`] if a length does not fit.
    pub fn new(
        cipher: &'static CipherSuite,
        keymat: &[u8],
        auth: &'static AuthSuite,
        auth_key: &[u8],
    ) -> Result<Self, SpecError> {
        let wrong = SpecError::KeyLength { wanted: cipher.keymat_len(), found: keymat.len() };
        let (key, salt) = keymat.split_at_checked(cipher.key_len).ok_or(wrong)?;
        let mut nonce = Zeroizing::new([0; 4]);
        if salt.len() != cipher.nonce_len {
            return Err(wrong);
        }
        nonce.get_mut(..salt.len()).ok_or(wrong)?.copy_from_slice(salt);
        let engine = |_| SpecError::Engine;
        let mac = auth.mac.map(|mac| Key::mac(mac, auth_key)).transpose().map_err(engine)?;
        let keys = match (cipher.kind, mac) {
            (CipherKind::Aead(_) | CipherKind::Gmac, Some(_)) => return Err(SpecError::TwiceAuthenticated),
            (CipherKind::Null, None) => Keys::Nothing,
            (CipherKind::Null, Some(mac)) => Keys::Mac(mac),
            (CipherKind::Block(algorithm, mode), mac) => {
                let cipher = Key::cipher(algorithm, mode, key).map_err(engine)?;
                match mac {
                    Some(mac) => Keys::Both { cipher, mac },
                    None => Keys::Cipher(cipher),
                }
            }
            (CipherKind::Aead(aead), None) => Keys::Aead(Key::aead(aead, key).map_err(engine)?),
            (CipherKind::Gmac, None) => Keys::Gmac(Key::aead(Aead::Gcm, key).map_err(engine)?),
        };
        let icv_len = cipher.icv_len + auth.icv_len;
        Ok(Self { cipher, keys, nonce, icv_len })
    }

    /// Bytes between the IP header and the payload.
    pub fn esp_header_len(&self) -> usize {
        HEADER_LEN + self.cipher.iv_len
    }

    /// Bytes of padding up to the next boundary.
    pub fn least_padding(&self, payload_len: usize) -> usize {
        // A power of two.
        (payload_len + TRAILER_LEN).wrapping_neg() & (self.cipher.alignment() - 1)
    }

    /// Whether so many bytes may be enciphered.
    pub fn is_aligned(&self, len: usize) -> bool {
        len & (self.cipher.alignment() - 1) == 0
    }

    /// Bytes from SPI to ICV that a payload becomes with the least padding.
    pub fn sealed_len(&self, payload_len: usize) -> usize {
        self.esp_header_len() + self.enciphered_len(payload_len) + self.icv_len
    }

    /// Payload, padding and trailer: what the algorithms work on, and lifetimes count.
    pub fn enciphered_len(&self, payload_len: usize) -> usize {
        payload_len + self.least_padding(payload_len) + TRAILER_LEN
    }

    /// Whether packets carry an ICV.
    pub fn authenticates(&self) -> bool {
        !matches!(self.keys, Keys::Nothing | Keys::Cipher(_))
    }

    /// What the cipher starts with, from the IV in the packet or, where it is implicit, the sequence number.
    #[inline]
    pub fn full_iv(&self, iv: &[u8], sequence: u64) -> Option<Iv> {
        let salt = self.nonce.get(..self.cipher.nonce_len)?;
        let mut full = [0; 16];
        let counts = matches!(self.cipher.kind, CipherKind::Block(_, Mode::Ctr));
        let implicit = sequence.to_be_bytes();
        let iv = if self.cipher.iv == IvKind::Implicit { implicit.as_slice() } else { iv };
        if let (Some(salt), Some(iv), false) = (salt.as_array::<4>(), iv.as_array::<8>(), counts) {
            // By far the most packets: GCM and ChaCha20-Poly1305.
            let salt = u128::from(u32::from_le_bytes(*salt));
            let full = salt | u128::from(u64::from_le_bytes(*iv)) << 32;
            return Inline::first(full.to_le_bytes(), 12);
        }
        // RFC 3686, 4: nonce, IV, and a block counter that starts at 1.
        let counter: &[u8] = if counts { &[0, 0, 0, 1] } else { &[] };
        let mut len = 0;
        for part in [salt, iv, counter] {
            full.get_mut(len..len + part.len())?.copy_from_slice(part);
            len += part.len();
        }
        Inline::first(full, len)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What the library makes of a key; it is kept with the key.

use ace_engine::algorithm::{AES, DES, TDES};
use ace_engine::{Aead, Algorithm, Keeper, Key, Kind, Mac, Mode, Purpose, compute};
use zeroize::Zeroizing;

use crate::ffi::{AesKey, Cipher, DesKey, GcmKey, Hash, HmacKey, Manager};

pub enum Prepared {
    Cbc(AesKey),
    Ctr(AesKey),
    Des(DesKey),
    Hmac(HmacKey),
    Gcm(GcmKey),
    ChaCha(Zeroizing<[u8; 32]>),
    /// The library is not used for it.
    Nothing,
}

impl Prepared {
    pub fn of<'k>(key: &'k Key, manager: &Manager) -> &'k Self {
        key.cached(Keeper::Native, |key| Self::make(key, manager)).unwrap_or(&Prepared::Nothing)
    }

    /// As it was prepared before.
    pub fn of_prepared(key: &Key) -> &Self {
        key.cached(Keeper::Native, |_| Prepared::Nothing).unwrap_or(&Prepared::Nothing)
    }

    pub fn hmac(&self) -> Option<&HmacKey> {
        match self {
            Prepared::Hmac(key) => Some(key),
            _ => None,
        }
    }

    fn make(key: &Key, manager: &Manager) -> Self {
        let bytes = key.secret().as_bytes();
        match key.purpose() {
            Purpose::Cipher { algorithm, mode: Mode::Cbc } if *algorithm == AES => {
                Prepared::Cbc(manager.aes_key(bytes))
            }
            Purpose::Cipher { algorithm, mode: Mode::Ctr } if *algorithm == AES => {
                Prepared::Ctr(manager.aes_key(bytes))
            }
            Purpose::Cipher { algorithm, mode: Mode::Cbc } if *algorithm == DES && manager.has_des() => {
                Prepared::Des(manager.des_key(bytes))
            }
            Purpose::Cipher { algorithm, mode: Mode::Cbc } if *algorithm == TDES && manager.has_des() => {
                // A key of 16 bytes is K1, K2 with K3 := K1.
                let mut three = Zeroizing::new([0; 24]);
                three[..bytes.len()].copy_from_slice(bytes);
                if bytes.len() == 16 {
                    three.copy_within(..8, 16);
                }
                Prepared::Des(manager.des_key(&three[..]))
            }
            Purpose::Mac(Mac::Hmac(algorithm)) => hmac(algorithm, bytes, manager),
            Purpose::Aead(Aead::Gcm) => Prepared::Gcm(manager.gcm_key(bytes)),
            Purpose::Aead(Aead::ChaCha20Poly1305) => match bytes.try_into() {
                Ok(bytes) => Prepared::ChaCha(Zeroizing::new(bytes)),
                Err(_) => Prepared::Nothing,
            },
            _ => Prepared::Nothing,
        }
    }

    /// As the cipher of a chained job that is encrypted by it alone or with HMAC.
    pub fn cipher(&self) -> Option<Cipher<'_>> {
        match self {
            Prepared::Cbc(key) => Some(Cipher::AesCbc(key)),
            Prepared::Ctr(key) => Some(Cipher::AesCtr(key)),
            Prepared::Des(key) => Some(Cipher::Des(key)),
            _ => None,
        }
    }
}

fn hmac(algorithm: &'static Algorithm, key: &[u8], manager: &Manager) -> Prepared {
    let hash = match algorithm.name {
        "md5" => Hash::Md5,
        "sha1" => Hash::Sha1,
        "sha224" => Hash::Sha224,
        "sha256" => Hash::Sha256,
        "sha384" => Hash::Sha384,
        "sha512" => Hash::Sha512,
        _ => return Prepared::Nothing,
    };
    let Kind::Hash { block, .. } = algorithm.kind else { return Prepared::Nothing };
    let mut padded = Zeroizing::new(vec![0; block]);
    match key.len() > block {
        true => match compute::digest(algorithm, key).map(Zeroizing::new) {
            Ok(digest) => padded[..digest.len()].copy_from_slice(&digest),
            Err(_) => return Prepared::Nothing,
        },
        false => padded[..key.len()].copy_from_slice(key),
    }
    Prepared::Hmac(manager.hmac_key(hash, &mut padded))
}

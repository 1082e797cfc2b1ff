// SPDX-License-Identifier: Apache-2.0
//! What ipsec-mb does without an engine around it: the measure of what the engine costs.

use std::time::Duration;

use super::engine::Protection;

#[cfg(not(feature = "ipsec-mb"))]
pub fn nanoseconds(_: Protection, _: bool, _: usize, _: Duration) -> Option<f64> {
    None
}

/// Nanoseconds of one packet; `None` if the library has no code for the suite or the machine.
#[cfg(feature = "ipsec-mb")]
pub fn nanoseconds(protection: Protection, encrypt: bool, bytes: usize, time: Duration) -> Option<f64> {
    use ace_engine::Aead;
    use ace_engine::algorithm::{AES, SHA1, SHA256, TDES};
    use ace_ipsec_mb::ffi::{Chained, Cipher, Hash, Manager};

    use super::engine::BATCH;

    enum Kind {
        Gcm(ace_ipsec_mb::ffi::GcmKey),
        ChaCha,
        Aes(ace_ipsec_mb::ffi::AesKey),
        Des(ace_ipsec_mb::ffi::DesKey),
    }

    let mut manager = Manager::open()?;
    let (kind, mac) = match protection {
        Protection::Aead(Aead::Gcm, len) => (Kind::Gcm(manager.gcm_key(&vec![1; len])), None),
        Protection::Aead(Aead::ChaCha20Poly1305, _) => (Kind::ChaCha, None),
        Protection::Chained { cipher, key_len, hash, .. } => {
            let mac = match hash {
                hash if *hash == SHA1 => Hash::Sha1,
                hash if *hash == SHA256 => Hash::Sha256,
                _ => return None,
            };
            let mac = manager.hmac_key(mac, &mut [5; 64]);
            match cipher {
                cipher if *cipher == AES => (Kind::Aes(manager.aes_key(&vec![1; key_len])), Some(mac)),
                cipher if *cipher == TDES && manager.has_des() => {
                    (Kind::Des(manager.des_key(&[1; 24])), Some(mac))
                }
                _ => return None,
            }
        }
        Protection::Aead(Aead::Ccm, _) => return None,
    };
    let mut packets = vec![vec![0u8; 24 + bytes]; BATCH];
    let mut tags = vec![[0u8; 64]; BATCH];
    let (mut spent, mut best) = (Duration::ZERO, Duration::MAX);
    while spent < time {
        let start = super::cpu_time();
        if let Kind::Gcm(key) = &kind {
            for packet in &mut packets {
                std::hint::black_box(manager.gcm(
                    key,
                    encrypt,
                    &[1; 12],
                    &[2; 8],
                    &mut packet[16..16 + bytes],
                ));
            }
        } else {
            let jobs = packets.iter_mut().zip(&mut tags).enumerate().map(|(index, (packet, tag))| {
                let (cipher, iv): (_, &[u8]) = match &kind {
                    Kind::Gcm(_) => (Cipher::None, &[]),
                    Kind::ChaCha => (Cipher::ChaCha { key: &[1; 32], aad: &[2; 8] }, &[1; 12]),
                    Kind::Aes(key) => (Cipher::AesCbc(key), &[3; 16]),
                    Kind::Des(key) => (Cipher::Des(key), &[3; 8]),
                };
                let text = 24..24 + bytes;
                let over = if mac.is_some() { 0..24 + bytes } else { text.clone() };
                let index = index as u32;
                Chained { index, encrypt, packet, cipher, text, iv, mac: mac.as_ref(), over, tag }
            });
            manager.run(jobs, |_| {});
        }
        let took = super::cpu_time() - start;
        (spent, best) = (spent + took, best.min(took));
    }
    Some(best.as_nanos() as f64 / BATCH as f64)
}

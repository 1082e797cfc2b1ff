// SPDX-License-Identifier: Apache-2.0
//! What ipsec-mb does without an engine around it: the measure of what engine and data plane cost. A batch at a time,
//! so that it can take turns with what it is compared with.

#[cfg(feature = "ipsec-mb")]
pub use linked::Bare;
#[cfg(not(feature = "ipsec-mb"))]
pub use missing::Bare;

#[cfg(not(feature = "ipsec-mb"))]
mod missing {
    use std::time::Duration;

    use crate::engine::Protection;

    /// There is none.
    pub enum Bare {}

    impl Bare {
        pub fn new(_: Protection, _: usize) -> Option<Self> {
            None
        }

        pub fn batch(&mut self, _: bool) -> Duration {
            match *self {}
        }
    }
}

#[cfg(feature = "ipsec-mb")]
mod linked {
    use std::hint::black_box;
    use std::time::Duration;

    use ace_engine::Aead;
    use ace_engine::algorithm::{AES, SHA1, SHA256, TDES};
    use ace_ipsec_mb::ffi::{AesKey, Chained, Cipher, DesKey, GcmKey, Hash, HmacKey, Manager};

    use crate::engine::Protection;
    use crate::measure::{BATCH, cpu_time};

    enum Kind {
        Gcm(GcmKey),
        ChaCha,
        Aes(AesKey),
        Des(DesKey),
    }

    /// A batch of packets.
    pub struct Bare {
        manager: Manager,
        kind: Kind,
        mac: Option<HmacKey>,
        bytes: usize,
        packets: Vec<Vec<u8>>,
        tags: Vec<[u8; 64]>,
    }

    impl Bare {
        /// For texts of so many bytes; `None` if the library has no code for the suite or the machine.
        pub fn new(protection: Protection, bytes: usize) -> Option<Self> {
            let manager = Manager::open()?;
            let (kind, mac) = match protection {
                Protection::Aead(Aead::Gcm, len) => (Kind::Gcm(manager.gcm_key(&vec![1; len])), None),
                Protection::Aead(Aead::ChaCha20Poly1305, _) => (Kind::ChaCha, None),
                Protection::Aead(Aead::Ccm, _) => return None,
                Protection::Chained { cipher, key_len, hash, .. } => {
                    let mac = match hash {
                        hash if *hash == SHA1 => Hash::Sha1,
                        hash if *hash == SHA256 => Hash::Sha256,
                        _ => return None,
                    };
                    let mac = manager.hmac_key(mac, &mut [5; 64]);
                    match cipher {
                        cipher if *cipher == AES => {
                            (Kind::Aes(manager.aes_key(&vec![1; key_len])), Some(mac))
                        }
                        cipher if *cipher == TDES && manager.has_des() => {
                            (Kind::Des(manager.des_key(&[1; 24])), Some(mac))
                        }
                        _ => return None,
                    }
                }
            };
            let packets = vec![vec![0; 24 + bytes]; BATCH];
            Some(Self { manager, kind, mac, bytes, packets, tags: vec![[0; 64]; BATCH] })
        }

        /// How long one batch takes.
        pub fn batch(&mut self, encrypt: bool) -> Duration {
            let Self { manager, kind, mac, bytes, packets, tags } = self;
            let text = 24..24 + *bytes;
            let start = cpu_time();
            if let Kind::Gcm(key) = kind {
                for packet in packets {
                    let text = &mut packet[text.clone()];
                    black_box(manager.gcm(key, encrypt, &[1; 12], &[2; 8], text));
                }
            } else {
                let jobs = packets.iter_mut().zip(tags).enumerate().map(|(index, (packet, tag))| {
                    let (cipher, iv): (_, &[u8]) = match &*kind {
                        Kind::Gcm(_) => (Cipher::None, &[]),
                        Kind::ChaCha => (Cipher::ChaCha { key: &[1; 32], aad: &[2; 8] }, &[1; 12]),
                        Kind::Aes(key) => (Cipher::AesCbc(key), &[3; 16]),
                        Kind::Des(key) => (Cipher::Des(key), &[3; 8]),
                    };
                    let over = if mac.is_some() { 0..text.end } else { text.clone() };
                    let (index, text, mac) = (index as u32, text.clone(), mac.as_ref());
                    Chained { index, encrypt, packet, cipher, text, iv, mac, over, tag }
                });
                manager.run(jobs, |_| {});
            }
            cpu_time() - start
        }
    }
}

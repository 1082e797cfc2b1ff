// SPDX-License-Identifier: Apache-2.0
//! Whether an SA of a file is the one that is installed, told without keeping its keys.

use ace_ipsec::SaSpec;
use sha2::{Digest, Sha256};

/// Tells whether an SA is the same as before without keeping its keys: a digest over everything that is in the file,
/// with a number of this process in front so that it says nothing about a key.
pub type Print = [u8; 32];

/// Of all of an SA; of what makes it this one, without name, selector and lifetime; of its keys.
#[derive(Clone, Copy)]
pub struct Prints {
    pub all: Print,
    pub core: Print,
    pub key: Print,
}

impl Prints {
    pub fn of(salt: &[u8; 32], sa: &SaSpec) -> Self {
        let digest = |parts: &[&[u8]]| -> Print {
            let mut hash = Sha256::new();
            hash.update(salt);
            // Each with its length, so that no two SAs read the same.
            for part in parts {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            hash.finalize().into()
        };
        // `Debug` of a secret shows nothing of it.
        let core = format!(
            "{:?}",
            (
                (sa.spi, sa.direction, sa.protocol, sa.mode, sa.local, sa.remote),
                (sa.cipher.name, sa.auth.name, sa.key_use, sa.esn, sa.replay_window, sa.first_sequence),
                sa.headers,
            )
        );
        let more = format!("{:?}", (&sa.name, &sa.selector, &sa.lifetime));
        let (key, auth_key) = (sa.key.as_bytes(), sa.auth_key.as_bytes());
        Self {
            all: digest(&[core.as_bytes(), more.as_bytes(), key, auth_key]),
            core: digest(&[core.as_bytes(), key, auth_key]),
            key: digest(&[key, auth_key]),
        }
    }
}

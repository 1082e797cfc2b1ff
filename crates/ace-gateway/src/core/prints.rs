// SPDX-License-Identifier: Apache-2.0
//! Whether an SA of a file is the one that is installed, told without keeping its keys.

use ace_ipsec::SaSpec;
use sha2::{Digest, Sha256};

use super::CoreError;

/// Tells whether an SA is the same as before without keeping its keys: a digest over everything that is in the file,
/// with a number of this process in front so that it says nothing about a key.
pub type Print = [u8; 32];

/// The number in front. Prints with one salt can be compared.
#[derive(Clone)]
pub struct Salt([u8; 32]);

impl Salt {
    /// # Errors
    /// The operating system gave no randomness.
    pub fn new() -> Result<Self, CoreError> {
        let mut salt = [0; 32];
        getrandom::fill(&mut salt).map_err(|_| CoreError::Randomness)?;
        Ok(Self(salt))
    }

    /// Of some bytes.
    pub fn print(&self, parts: &[&[u8]]) -> Print {
        let mut hash = Sha256::new();
        hash.update(self.0);
        // Each with its length, so that no two read the same.
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// Of all of an SA; of what makes it this one, without name, selector and lifetime; of its keys.
#[derive(Clone, Copy, Debug)]
pub struct Prints {
    pub all: Print,
    pub core: Print,
    pub key: Print,
}

impl Prints {
    pub fn of(salt: &Salt, sa: &SaSpec) -> Self {
        // `Debug` of a secret shows nothing of it.
        let core = format!(
            "{:?}",
            (
                (sa.spi, sa.direction, sa.protocol, sa.mode, sa.local, sa.remote),
                (sa.cipher.name, sa.auth.name, sa.key_use, sa.esn, sa.replay_window, sa.first_sequence),
                (sa.headers, sa.core, sa.if_id, sa.output_mark),
            )
        );
        let more = format!("{:?}", (&sa.name, &sa.selector, &sa.lifetime));
        let (key, auth_key) = (sa.key.as_bytes(), sa.auth_key.as_bytes());
        Self {
            all: salt.print(&[core.as_bytes(), more.as_bytes(), key, auth_key]),
            core: salt.print(&[core.as_bytes(), key, auth_key]),
            key: salt.print(&[key, auth_key]),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What a pcapng file has in it to decrypt the packets by: decryption secrets blocks.

use std::io::Read;
use std::path::Path;

use thiserror::Error;
use zeroize::Zeroizing;

use super::{Capture, CaptureError, Damage};

/// The type of a block of decryption secrets.
pub(crate) const SECRETS: u32 = 0x0a;
/// Bytes of all of them together.
const MOST: usize = 16 << 20;
/// In front of what is in it: type and length of the block, kind and length of the secrets.
const HEADER: usize = 16;

/// What secrets are, by the number that Wireshark has for them (`wiretap/secrets-types.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretsKind(pub u32);

impl SecretsKind {
    /// SAs of ESP, in the lines of Wireshark's table `esp_sa` (Wireshark from 4.7 on).
    pub const ESP: Self = Self(0x4553_5053);

    /// What it is called; `None` if it is not known here.
    pub fn name(self) -> Option<&'static str> {
        Some(match &self.0.to_be_bytes() {
            b"ESPS" => "SAs of ESP",
            b"TLSK" => "keys of TLS",
            b"SSHK" => "keys of SSH",
            b"WGKL" => "keys of WireGuard",
            b"ZNWK" | b"ZAPS" => "keys of ZigBee",
            b"UAKL" => "keys of OPC UA",
            _ => return None,
        })
    }
}

/// One block of them.
pub struct Secrets {
    /// What they are.
    pub kind: SecretsKind,
    /// As they stand there. Wiped when it is dropped.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// Why a capture gives no secrets.
#[derive(Debug, Error)]
pub enum SecretsError {
    /// It cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// It ends badly; what is behind the damage is not known.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// More bytes of secrets than anybody has.
    #[error("{0}: more than 16 MiB of decryption secrets")]
    Many(String),
}

/// Blocks of secrets as a reader comes by them.
#[derive(Default)]
pub(crate) struct Collected {
    found: Vec<Secrets>,
    bytes: usize,
    is_over: bool,
}

impl Collected {
    /// Whether a block of so many bytes is to be read.
    pub fn has_room(&mut self, len: usize) -> bool {
        self.bytes = self.bytes.saturating_add(len);
        self.is_over |= self.bytes > MOST;
        !self.is_over
    }

    /// Takes a block; false if it is shorter than it says.
    pub fn take(&mut self, block: &[u8], big_endian: bool) -> bool {
        let word = |at: usize| {
            let bytes = *block.get(at..)?.first_chunk()?;
            Some(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        let (Some(kind), Some(len)) = (word(8), word(12)) else { return false };
        let inside = block.len().saturating_sub(4);
        let bytes = block.get(HEADER..inside).and_then(|bytes| bytes.get(..len as usize));
        let Some(bytes) = bytes else { return false };
        self.found.push(Secrets { kind: SecretsKind(kind), bytes: Zeroizing::new(bytes.to_vec()) });
        true
    }
}

/// All secrets of a pcapng file; none of another capture. Nothing that was read of it stays in memory, but for what
/// gzip's unpacker has had, where the file is packed.
///
/// # Errors
/// When it is no capture, or not all of it can be read.
pub fn secrets(path: &Path) -> Result<Vec<Secrets>, SecretsError> {
    let name = path.display().to_string();
    let input = ace_fs::open(path).map_err(|error| CaptureError::Open { name: name.clone(), error })?;
    secrets_from(&name, Box::new(input))
}

/// The same from anywhere.
///
/// # Errors
/// As [`secrets`].
pub fn secrets_from(name: &str, input: Box<dyn Read + Send>) -> Result<Vec<Secrets>, SecretsError> {
    let mut capture = Capture::begin(name, input, None, true)?;
    while let Some(item) = capture.next_item() {
        item?;
    }
    let collected = capture.into_secrets().unwrap_or_default();
    if collected.is_over { Err(SecretsError::Many(name.to_owned())) } else { Ok(collected.found) }
}

/// Whether a file begins as a pcapng file, or one that gzip has packed.
///
/// # Errors
/// As the system says.
pub fn is_pcapng(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    let mut file = super::unpacked(Box::new(ace_fs::open(path)?))?.0;
    Ok(file.by_ref().take(4).read_to_end(&mut start).is_ok() && start == SECTION)
}

/// How a pcapng file begins.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

// SPDX-License-Identifier: Apache-2.0
//! Writes a configuration's bitstream through the configuration port of a slot.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ace_ecp5::{ConfigPort, Device};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::manifest::Configuration;

/// What a bitstream left in the slot's configuration memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Digest of the memory.
    pub memory: [u8; 32],
    /// Bytes that went through the port.
    pub bytes: u64,
}

/// A bitstream that came to nothing. The slot holds no configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Refused {
    /// What the port, or the check behind it, says about the bitstream.
    pub reason: String,
    /// Bytes that had gone through the port by then.
    pub bytes: u64,
    /// The stream went through without a complaint, and DONE did not come.
    pub not_done: bool,
}

/// What a process remembers, so that a configuration that is loaded a thousand times is parsed once. A whole
/// image overwrites everything, so the same bytes always leave the same memory.
#[derive(Default)]
struct Memo {
    /// Digest of a file's contents, as long as the file looks untouched.
    files: HashMap<PathBuf, (Stamp, [u8; 32])>,
    streams: HashMap<(u32, [u8; 32]), Result<Written, Refused>>,
}

#[derive(PartialEq, Eq)]
struct Stamp {
    len: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

static MEMO: Mutex<Option<Memo>> = Mutex::new(None);

/// Writes the bitstream of `configuration` into a blank slot of type `device`. The file is compared
/// with the manifest before a byte is sent.
pub fn write(configuration: &Configuration, device: &'static Device) -> Result<Written, Refused> {
    let file = &configuration.bitstream;
    let unsent = |reason: String| Refused { reason, bytes: 0, not_done: false };
    let unread = |error: io::Error| unsent(format!("{}: {error}", file.path.display()));
    let mut memo = MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    let memo = memo.get_or_insert_default();
    let (sha256, contents) = memo.read(&file.path).map_err(unread)?;
    if sha256 != file.sha256 {
        return Err(unsent(format!(
            "{} is not the file in the manifest (SHA-256 {}, expected {}); run `make models`",
            file.path.display(),
            hex::encode(sha256),
            hex::encode(file.sha256)
        )));
    }
    let key = (device.idcode, sha256);
    if let Some(known) = memo.streams.get(&key) {
        return known.clone();
    }
    let contents = match contents {
        Some(contents) => contents,
        None => {
            let contents = ace_fs::read(&file.path).map_err(unread)?;
            if Sha256::digest(&contents)[..] != sha256 {
                return Err(unsent(format!("{} changed while it was read", file.path.display())));
            }
            contents
        }
    };
    let outcome = stream(&contents, device);
    memo.streams.insert(key, outcome.clone());
    outcome
}

/// Reads a context set and compares it with the manifest. It goes to the slot as it is, whose loader looks at it again.
pub fn set(configuration: &Configuration) -> Result<Written, Refused> {
    let file = &configuration.bitstream;
    let unsent = |reason: String| Refused { reason, bytes: 0, not_done: false };
    let unread = |error: io::Error| unsent(format!("{}: {error}", file.path.display()));
    let mut memo = MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    let (sha256, _) = memo.get_or_insert_default().read(&file.path).map_err(unread)?;
    if sha256 != file.sha256 {
        return Err(unsent(format!(
            "{} is not the file in the manifest (SHA-256 {}, expected {}); run `ace array build`",
            file.path.display(),
            hex::encode(sha256),
            hex::encode(file.sha256)
        )));
    }
    Ok(Written { memory: sha256, bytes: file.bytes })
}

impl Memo {
    /// The digest of a file, and its contents if it had to be read.
    fn read(&mut self, path: &Path) -> Result<([u8; 32], Option<Vec<u8>>), io::Error> {
        let meta = fs::metadata(path)?;
        let stamp = Stamp {
            len: meta.len(),
            inode: meta.ino(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        };
        if let Some((known, sha256)) = self.files.get(path)
            && *known == stamp
        {
            return Ok((*sha256, None));
        }
        let contents = ace_fs::read(path)?;
        let sha256: [u8; 32] = Sha256::digest(&contents).into();
        self.files.insert(path.into(), (stamp, sha256));
        Ok((sha256, Some(contents)))
    }
}

/// Feeds a stream to the port of a blank device.
pub fn stream(contents: &[u8], device: &'static Device) -> Result<Written, Refused> {
    let mut port = ConfigPort::new(device);
    if let Err(error) = port.push(contents) {
        return Err(Refused { reason: error.to_string(), bytes: error.offset, not_done: false });
    }
    let bytes = contents.len() as u64;
    match port.finish() {
        Ok(memory) => Ok(Written { memory: memory.digest(), bytes }),
        Err(error) => Err(Refused { reason: error.to_string(), bytes, not_done: true }),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The highest version of a library that was seen, by key: an older one that the same key has signed is not taken for the
//! newest again.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::key::PublicKey;
use crate::error::SeenError;

/// Where versions that were seen are kept: a file for each key, with one number in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    folder: Option<PathBuf>,
}

impl Seen {
    /// In the state directory of the user (XDG Base Directory Specification): `$XDG_STATE_HOME`, else
    /// `~/.local/state`.
    pub fn of_user() -> Self {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
        Self { folder: state.map(|state| state.join("ace/library-versions")) }
    }

    /// In this folder, which is made when there is something to keep.
    pub fn at(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()) }
    }

    fn file(folder: &Path, key: &PublicKey) -> PathBuf {
        folder.join(hex::encode(key.to_bytes()))
    }

    /// The highest version that was seen of any of these keys; 0 if there was none.
    ///
    /// # Errors
    /// When what is kept cannot be read or is no version.
    pub fn highest(&self, keys: &[PublicKey]) -> Result<u64, SeenError> {
        let Some(folder) = &self.folder else { return Ok(0) };
        let mut highest = 0;
        for key in keys {
            let file = Self::file(folder, key);
            let version = match ace_fs::read_text(&file) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(SeenError::Read { file, error }),
                Ok(text) => text.trim().parse::<u64>().map_err(|_| SeenError::NoVersion { file })?,
            };
            highest = highest.max(version);
        }
        Ok(highest)
    }

    /// Keeps a version that these keys have signed, if none of them has signed a higher one.
    ///
    /// # Errors
    /// When it cannot be kept: then an older version will not be noticed.
    pub fn note(&self, keys: &[PublicKey], version: u64) -> Result<(), SeenError> {
        let folder = self.folder.as_ref().ok_or(SeenError::Nowhere)?;
        let low = |key: &&PublicKey| self.highest(&[**key]).is_ok_and(|highest| highest < version);
        if !keys.iter().any(|key| low(&key)) {
            return Ok(());
        }
        let wrong = |error| SeenError::Write { folder: folder.clone(), error };
        fs::create_dir_all(folder).map_err(wrong)?;
        let holder = File::open(folder).map_err(wrong)?;
        // Two at once: the higher one stays.
        holder.lock().map_err(wrong)?;
        for key in keys.iter().filter(low) {
            let mut file = tempfile::Builder::new().prefix(".part-").tempfile_in(folder).map_err(wrong)?;
            writeln!(file, "{version}").and_then(|()| file.as_file().sync_all()).map_err(wrong)?;
            file.persist(Self::file(folder, key)).map_err(|error| wrong(error.error))?;
        }
        Ok(())
    }
}

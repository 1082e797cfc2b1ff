// SPDX-License-Identifier: Apache-2.0
//! Files that are there whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Library;
use super::key::SecretKey;
use super::layout::Trust;
use crate::error::FileError;

/// A library and the length of its file.
#[derive(Debug)]
pub struct Opened {
    pub library: Library,
    pub bytes: u64,
}

/// Reads a library file.
///
/// # Errors
/// When the file cannot be read or is not what `trust` asks for.
pub fn read(path: &Path, trust: &Trust) -> Result<Opened, FileError> {
    let bytes = std::fs::read(path).map_err(|error| FileError::Read { path: path.to_owned(), error })?;
    let library = Library::from_bytes(&bytes, trust)
        .map_err(|refusal| FileError::Refused { path: path.to_owned(), refusal })?;
    Ok(Opened { library, bytes: bytes.len() as u64 })
}

/// Reads a library, lets `change` work on it, raises its version and puts it in the old one's place. Others that
/// do the same in the same folder wait meanwhile.
///
/// # Errors
/// Those of [`read`] and [`publish`] and of `change`; the file is then as before.
pub fn update<E: From<FileError>>(
    path: &Path,
    trust: &Trust,
    key: Option<&SecretKey>,
    change: impl FnOnce(&mut Library) -> Result<(), E>,
) -> Result<Library, E> {
    let wrong = |error| FileError::Write { path: path.to_owned(), error };
    let folder = File::open(folder(path)).map_err(wrong)?;
    folder.lock().map_err(wrong)?;
    let mut library = read(path, trust)?.library;
    change(&mut library)?;
    library.version = library.version.saturating_add(1);
    publish(path, &library.to_bytes(key))?;
    Ok(library)
}

/// Puts bytes at `path` at once: whoever looks sees the old file or the new one, also after a crash in the middle
/// or on a full disk.
///
/// # Errors
/// When it does not work; what was there is then unchanged.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write(path, bytes, 0o644, true).map_err(|error| FileError::Write { path: path.to_owned(), error })
}

/// The same for a secret: for the owner alone, and never over a file that is there.
///
/// # Errors
/// When it does not work or there is a file already.
pub fn publish_secret(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write(path, bytes, 0o600, false).map_err(|error| FileError::Write { path: path.to_owned(), error })
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32, replace: bool) -> std::io::Result<()> {
    let folder = folder(path);
    let holder = File::open(&folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ace-library-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = builder.tempfile_in(&folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if replace {
        file.persist(path).map_err(|error| error.error)?;
    } else {
        file.persist_noclobber(path).map_err(|error| error.error)?;
    }
    // The new name is on disk when the folder is.
    holder.sync_all()
}

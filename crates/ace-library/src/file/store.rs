// SPDX-License-Identifier: Apache-2.0
//! Files that are there whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::key::{PublicKey, SecretKey};
use super::layout::countersign;
use super::library::Library;
use super::seen::Seen;
use super::trust::{KeySet, Trust};
use crate::error::{FileError, Refusal, SeenError};

/// A library and the length of its file.
#[derive(Debug)]
pub struct Opened {
    /// What is in it.
    pub library: Library,
    /// Length of the file.
    pub bytes: u64,
    /// Who of those that are trusted have signed it.
    pub signers: Vec<PublicKey>,
    /// Why its version could not be kept, if so.
    pub unkept: Option<SeenError>,
}

/// Reads a library file, whatever versions were seen before.
///
/// # Errors
/// When the file cannot be read or is not what `trust` asks for.
pub fn read(path: &Path, trust: &Trust) -> Result<Opened, FileError> {
    let bytes = contents(path)?;
    let (library, signers) = Library::signed(&bytes, trust).map_err(refused(path))?;
    Ok(Opened { library, bytes: bytes.len() as u64, signers, unkept: None })
}

/// How libraries are opened: what they have to be, and that none takes the place of a newer one.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What they have to be.
    pub trust: Trust,
    /// The versions that were here.
    pub seen: Seen,
    /// Take versions that are older than one that was seen.
    pub allow_older: bool,
}

impl Guard {
    /// Reads a library file and keeps its version as seen. What is signed by nobody in particular has none.
    ///
    /// # Errors
    /// When the file cannot be read, is not what is asked for, or is older than one that was seen before.
    pub fn open(&self, path: &Path) -> Result<Opened, FileError> {
        let mut opened = read(path, &self.trust)?;
        self.newest(path, &opened.library, self.keys())?;
        if !opened.signers.is_empty() {
            opened.unkept = self.seen.note(&opened.signers, opened.library.version).err();
        }
        Ok(opened)
    }

    /// Whoever is trusted.
    fn keys(&self) -> &[PublicKey] {
        self.trust.keys.as_ref().map_or(&[], KeySet::keys)
    }

    /// Whether nothing newer was seen of any of these keys.
    fn newest(&self, path: &Path, library: &Library, keys: &[PublicKey]) -> Result<(), FileError> {
        if self.allow_older {
            return Ok(());
        }
        let (found, seen) = (library.version, self.seen.highest(keys)?);
        if found < seen {
            return Err(refused(path)(Refusal::Older { found, seen }));
        }
        Ok(())
    }

    /// The version of what takes the place of `old`: higher than that, and than all that were seen.
    ///
    /// # Errors
    /// When there is none.
    pub fn next_version(&self, path: &Path, old: u64) -> Result<u64, FileError> {
        let seen = self.seen.highest(self.keys());
        let seen = if self.allow_older { seen.unwrap_or(0) } else { seen? };
        let floor = self.trust.keys.as_ref().map_or(0, |keys| keys.oldest().saturating_sub(1));
        let next = old.max(seen).max(floor).checked_add(1);
        next.ok_or_else(|| FileError::LastVersion { path: path.to_owned() })
    }

    /// Reads a library, lets `change` work on it, raises its version, signs it with `key` alone and puts it in the old
    /// one's place. Others that do the same in the same folder wait meanwhile.
    ///
    /// # Errors
    /// Those of [`Guard::open`] and [`publish`] and of `change`; the file is then as before.
    pub fn update<E: From<FileError>>(
        &self,
        path: &Path,
        key: &SecretKey,
        change: impl FnOnce(&mut Library) -> Result<(), E>,
    ) -> Result<Opened, E> {
        let _holder = hold(path)?;
        let mut library = self.open(path)?.library;
        change(&mut library)?;
        library.version = self.next_version(path, library.version)?;
        Ok(self.put(path, library, Some(key))?)
    }

    /// Puts a library at `path`, signed by `key` or by nobody, and keeps its version as seen.
    ///
    /// # Errors
    /// Those of [`publish`].
    pub fn put(&self, path: &Path, library: Library, key: Option<&SecretKey>) -> Result<Opened, FileError> {
        let bytes = library.to_bytes(key);
        publish(path, &bytes)?;
        let signers: Vec<PublicKey> = key.map(SecretKey::public).into_iter().collect();
        let unkept = key.and_then(|_| self.seen.note(&signers, library.version).err());
        Ok(Opened { library, bytes: bytes.len() as u64, signers, unkept })
    }

    /// Adds a signature to a library; what is signed stays as it is, and so does its version. `signers` are then those
    /// that are trusted, and `key`.
    ///
    /// # Errors
    /// Those of [`Guard::open`] and [`publish`], and what `check` says of what is to be signed; the file is then as before.
    pub fn sign<E: From<FileError>>(
        &self,
        path: &Path,
        key: &SecretKey,
        check: impl FnOnce(&Library) -> Result<(), E>,
    ) -> Result<Opened, E> {
        let _holder = hold(path)?;
        let opened = self.open(path)?;
        check(&opened.library)?;
        // Nor does anybody sign what is older than what the same key has signed, whoever else was trusted.
        self.newest(path, &opened.library, &[key.public()])?;
        let bytes = countersign(&contents(path)?, &self.trust, key).map_err(refused(path))?;
        publish(path, &bytes)?;
        let mut signers = opened.signers;
        signers.retain(|signer| *signer != key.public());
        signers.push(key.public());
        let unkept = self.seen.note(&signers, opened.library.version).err();
        Ok(Opened { bytes: bytes.len() as u64, signers, unkept, ..opened })
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, FileError> {
    ace_fs::read(path).map_err(|error| FileError::Read { path: path.to_owned(), error })
}

fn refused(path: &Path) -> impl Fn(Refusal) -> FileError {
    move |refusal| FileError::Refused { path: path.to_owned(), refusal }
}

/// Waits until nobody else changes anything in the folder of a library; the lock ends with what is returned.
fn hold(path: &Path) -> Result<File, FileError> {
    let wrong = |error| FileError::Write { path: path.to_owned(), error };
    let folder = place(path).and_then(|place| File::open(folder(&place))).map_err(wrong)?;
    folder.lock().map_err(wrong)?;
    Ok(folder)
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

/// Where a file comes to lie: links are followed, and what is there has to be a file. A device would be gone.
fn place(path: &Path) -> std::io::Result<PathBuf> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(std::io::Error::other("it is no regular file, whose place another one could take"))
        }
        Ok(_) => path.canonicalize(),
        // A link that leads nowhere is nobody's to replace either.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => {
            Ok(path.to_owned())
        }
        Err(error) => Err(error),
    }
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32, replace: bool) -> std::io::Result<()> {
    let path = &place(path)?;
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

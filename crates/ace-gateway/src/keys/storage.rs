// SPDX-License-Identifier: Apache-2.0
//! Where the state stands: a file that nobody else has open.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use thiserror::Error;

/// Bytes that outlive the program.
pub trait Storage: Send {
    /// All of them.
    ///
    /// # Errors
    /// As the system says.
    fn read(&mut self) -> io::Result<Vec<u8>>;

    /// Puts bytes at a place. What of them is there after a crash is unknown until [`Storage::sync`].
    ///
    /// # Errors
    /// As the system says.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// What was written is there after a crash.
    ///
    /// # Errors
    /// As the system says: nothing is known then of what was written since the last time.
    fn sync(&mut self) -> io::Result<()>;
}

/// Why there is no state file.
#[derive(Debug, Error)]
pub enum StorageError {
    /// The system refuses.
    #[error("cannot open the state file {path}: {why}; `state` names another one")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// Two gateways would not know of each other's numbers.
    #[error("the state file {0} is another gateway's; each needs one of its own, which `state` names")]
    Taken(PathBuf),
    /// Somebody else could have numbers used again.
    #[error("others may write the state file {path} (mode {mode:o}); chmod go-w {path}")]
    Writable {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is not what a gateway writes.
    #[error(
        "the state file {0} is damaged, or no state file; move it away if none of its keys is used any more, else give all SAs \
         new keys first"
    )]
    Damaged(PathBuf),
    /// No random salt.
    #[error("no randomness from the operating system")]
    Randomness,
}

/// A file, locked.
pub struct StateFile {
    file: Flock<File>,
}

impl StateFile {
    /// Opens or creates it. A new one is there after a crash, its name too.
    ///
    /// # Errors
    /// [`StorageError`].
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let failed = |why| StorageError::Open { path: path.to_owned(), why };
        let new = !path.exists();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        if mode & 0o022 != 0 {
            return Err(StorageError::Writable { path: path.to_owned(), mode });
        }
        let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let file = locked.map_err(|_| StorageError::Taken(path.to_owned()))?;
        if new {
            file.sync_all().map_err(failed)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new("."))).and_then(|it| it.sync_all()).map_err(failed)?;
        }
        Ok(Self { file })
    }
}

impl Storage for StateFile {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&*self.file).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

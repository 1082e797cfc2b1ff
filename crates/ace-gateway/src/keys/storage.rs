// SPDX-License-Identifier: Apache-2.0
//! Where the state stands: a file that nobody else has open.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
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

    /// Other bytes in place of all: after a crash all of the old ones are there or all of the new ones, and when this is
    /// done the new ones.
    ///
    /// # Errors
    /// As the system says: either are there then.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;
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
    /// A copy is behind whoever it is a copy of.
    #[error(
        "the state file {0} is a standby's copy: the other gateway counts under its keys; `ace gateway standby CONFIG` waits \
         for its place, and `ace gateway take-over` asks for it"
    )]
    Copy(PathBuf),
    /// The standby counts under its keys.
    #[error(
        "the state file {0} was given over: the other gateway has counted under its keys since, and numbers would be used \
         twice; `ace gateway standby CONFIG` makes this one its standby"
    )]
    Given(PathBuf),
    /// The standby may count under its keys.
    #[error(
        "the state file {0} belongs to a gateway with a standby, which may take over; put [standby] back into the \
         configuration, or first let that gateway run and the standby stop"
    )]
    Attached(PathBuf),
    /// No random salt.
    #[error("no randomness from the operating system")]
    Randomness,
}

/// A file, locked.
pub struct StateFile {
    file: Flock<File>,
    path: PathBuf,
}

/// What a name of a file leads to is the file that is open.
fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    let (named, open) = (std::fs::metadata(path)?, file.metadata()?);
    Ok((named.dev(), named.ino()) == (open.dev(), open.ino()))
}

/// The name of a file is there after a crash.
fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).and_then(|it| it.sync_all())
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
        // Whoever had it may have put another one in its place.
        if !is_at(path, &file).map_err(failed)? {
            return Err(StorageError::Taken(path.to_owned()));
        }
        if new {
            file.sync_all().and_then(|()| sync_name(path)).map_err(failed)?;
        }
        Ok(Self { file, path: path.to_owned() })
    }
}

impl Storage for StateFile {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&*self.file).rewind()?;
        (&*self.file).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let path = std::fs::canonicalize(&self.path)?;
        let mut name = path.clone().into_os_string();
        name.push(".new");
        let beside = PathBuf::from(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        // It is locked before it has the name.
        let file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, why)| io::Error::from(why))?;
        file.write_all_at(bytes, 0)?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)?;
        self.file = file;
        sync_name(&path)
    }
}

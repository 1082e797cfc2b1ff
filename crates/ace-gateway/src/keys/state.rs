// SPDX-License-Identifier: Apache-2.0
//! A state file that is open: whose keys these are, and how far they were used.

use std::path::{Path, PathBuf};

use super::book::Book;
use super::record::{self, PART, RECORDS, Record};
use super::role::{Phase, Role};
use super::storage::{StateFile, Storage, StorageError};

/// What a state file says.
pub struct State {
    /// What errors call it.
    pub name: PathBuf,
    pub storage: Box<dyn Storage>,
    pub salt: [u8; 32],
    pub role: Role,
    /// Of each key; `None`: never written.
    records: Vec<Option<Record>>,
}

impl State {
    /// Of a file, which is created if there is none.
    ///
    /// # Errors
    /// [`StorageError`], with the remedy.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::read(path, Box::new(StateFile::open(path)?))
    }

    /// The same elsewhere. A file of an older version becomes one of this version.
    ///
    /// # Errors
    /// As there.
    pub fn read(name: &Path, mut storage: Box<dyn Storage>) -> Result<Self, StorageError> {
        let failed = |why| StorageError::Open { path: name.to_owned(), why };
        let damaged = || StorageError::Damaged(name.to_owned());
        let mut bytes = storage.read().map_err(failed)?;
        if let Some(newer) = record::upgraded(&bytes) {
            storage.replace(&newer).map_err(failed)?;
            bytes = newer;
        }
        let (header, rest) = bytes.split_at_checked(PART).unwrap_or((&bytes, &[]));
        let salt = match record::salt(header) {
            Some(salt) => salt,
            // A header that was cut short has nothing behind it.
            None if rest.is_empty() => {
                let mut salt = [0; 32];
                getrandom::fill(&mut salt).map_err(|_| StorageError::Randomness)?;
                let header = record::header(&salt);
                storage.write_at(0, &header).and_then(|()| storage.sync()).map_err(failed)?;
                salt
            }
            None => return Err(damaged()),
        };
        let (role, records) = rest.split_at_checked(RECORDS - PART).unwrap_or((rest, &[]));
        let role = Role::from_copies(role).map_err(|_| damaged())?;
        let records: Result<Vec<_>, _> = records.chunks(2 * PART).map(Record::from_copies).collect();
        let records = records.map_err(|_| damaged())?;
        Ok(Self { name: name.to_owned(), storage, salt, role, records })
    }

    /// Whether nothing was ever counted by it.
    pub fn is_new(&self) -> bool {
        self.role.is_first() && self.records.iter().all(Option::is_none)
    }

    /// What it remembers, and where it goes on being remembered.
    pub fn into_book(self) -> (Book, Box<dyn Storage>) {
        (Book::new(self.salt, self.records), self.storage)
    }

    /// Whether whoever has no standby may count under its keys.
    ///
    /// # Errors
    /// [`StorageError`]: somebody else does, or may begin to.
    pub fn alone(&self) -> Result<(), StorageError> {
        self.may_count()?;
        match self.role.phase {
            Phase::Attached { .. } => Err(StorageError::Attached(self.name.clone())),
            _ => Ok(()),
        }
    }

    /// Whether anybody may count under its keys.
    ///
    /// # Errors
    /// [`StorageError`]: somebody else does.
    pub fn may_count(&self) -> Result<(), StorageError> {
        match self.role.phase {
            Phase::Alone | Phase::Attached { .. } => Ok(()),
            Phase::Standby { .. } => Err(StorageError::Copy(self.name.clone())),
            Phase::Given => Err(StorageError::Given(self.name.clone())),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The rooms of the algorithms: `algorithms/<name>/` with `algorithm.toml`, RTL, programs for the array and known answers.
//!
//! Build scripts of the crates that have tables of algorithms read them here and generate these tables;
//! `flow/ace_flow/algorithms.py` reads the same files for the rows that the flow builds. A file that is wrong ends with
//! its name, the line and what to write instead. docs/adding-an-algorithm.md explains the keys.
//!
//! ```
//! let all = ace_algorithms::load(&ace_algorithms::folder())?;
//! let aes = all.iter().find(|algorithm| algorithm.name == "aes").expect("its folder is there");
//! assert_eq!(aes.code(), Some(0x01));
//! # Ok::<(), ace_algorithms::Error>(())
//! ```
#![warn(missing_docs)]

mod check;
mod raw;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The file that a folder needs to be an algorithm's.
pub const FILE: &str = "algorithm.toml";

/// An algorithm's room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// The folder's: small letters, digits and hyphens.
    pub name: String,
    /// As pages have it.
    pub title: String,
    /// Other names under which it is found.
    pub aliases: Vec<String>,
    /// What it is called in Rust.
    pub identifier: String,
    /// What it looks like from outside.
    pub kind: Kind,
    /// The Rust types that compute it on the CPU: one for each length of key, or one for all. None: no CPU does.
    pub cpu: Vec<String>,
    /// The standard.
    pub source: String,
    /// A sentence or two.
    pub about: String,
    /// Whether it has a configuration that is not for studies alone.
    pub hardware: bool,
    /// Which programs for the array serve which keys.
    pub variants: Vec<Variant>,
    /// Which programs serve AEADs that are made of it.
    pub aeads: Vec<Variant>,
    /// Which programs set keys up.
    pub setups: Vec<Setup>,
    /// Its folder.
    pub folder: PathBuf,
}

/// A cipher or a hash behind the slot boundary, or something that is in software as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block cipher.
    Cipher {
        /// Byte 0 of a request frame.
        code: u8,
        /// Length of a block in bytes.
        block: usize,
        /// The key lengths that the cipher takes, in bytes.
        keys: Vec<usize>,
    },
    /// A hash.
    Hash {
        /// Byte 0 of a request frame.
        code: u8,
        /// Length in bytes of the block that the compression function takes.
        block: usize,
        /// Length of the digest in bytes.
        digest: usize,
    },
    /// An AEAD that no slot computes.
    Aead,
}

/// A program for the array and the keys that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The file, without its folder.
    pub file: String,
    /// What the variants' names begin with.
    pub stem: String,
    /// Bytes of a key; none of a hash.
    pub keys: Vec<usize>,
    /// The AEAD whose frames it serves, by its name in the engines, and not those of the cipher's modes.
    pub aead: Option<String>,
}

/// A program for the array that sets keys up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The file, without its folder.
    pub file: String,
    /// Whose keys these are, among the [`Variant`]s.
    pub stem: String,
    /// What stands behind `_keys` in names, where each length has a set.
    pub bits: String,
    /// Bytes of a raw key.
    pub bytes: usize,
}

/// Why the rooms cannot be read.
#[derive(Debug, Error)]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file says something that it must not, or not enough.
    #[error("{}:{line}: {message}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what to write instead.
        message: String,
    },
}

impl Algorithm {
    /// Byte 0 of a frame.
    pub fn code(&self) -> Option<u8> {
        match self.kind {
            Kind::Cipher { code, .. } | Kind::Hash { code, .. } => Some(code),
            Kind::Aead => None,
        }
    }

    /// Where it stands in listings: by code, then by the shortest key.
    fn order(&self) -> (u16, usize, &str) {
        let shortest = match &self.kind {
            Kind::Cipher { keys, .. } => keys.first().copied().unwrap_or_default(),
            _ => 0,
        };
        (self.code().map_or(0x100, u16::from), shortest, &self.name)
    }

    /// Its known answers: what they are of, as `ace kat` is told it, and the file. `kat.csv` is of the algorithm itself,
    /// another file of what its name says.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn known_answers(&self) -> Result<Vec<(String, PathBuf)>, Error> {
        let of = |path: PathBuf| {
            let stem = path.file_stem()?.to_str()?;
            let name = if stem == "kat" { self.name.clone() } else { stem.to_owned() };
            Some((name, path))
        };
        Ok(files(&self.folder, "csv")?.into_iter().filter_map(of).collect())
    }

    /// Its files for the array: programs, which end with `.ace`, in the order of their names.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn programs(&self) -> Result<Vec<PathBuf>, Error> {
        files(&self.folder.join("array"), "ace")
    }

    /// Which programs serve frames: of its modes and of AEADs that are made of it.
    pub fn served(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().chain(&self.aeads)
    }

    /// The digests of its context sets, if it has any.
    pub fn sets(&self) -> Option<PathBuf> {
        Some(self.folder.join("array").join("sets.toml")).filter(|path| path.is_file())
    }
}

/// Files of a folder with this ending, by name; none if there is no folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in entries(folder)? {
        if entry.extension().is_some_and(|e| e == ending) {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let io = |error| Error::Io { path: folder.to_owned(), error };
    fs::read_dir(folder).map_err(io)?.map(|entry| entry.map(|e| e.path()).map_err(io)).collect()
}

/// All algorithms of a folder, in the order of listings.
///
/// # Errors
/// If a file cannot be read or is wrong.
pub fn load(folder: &Path) -> Result<Vec<Algorithm>, Error> {
    let mut read = Vec::new();
    for room in entries(folder)? {
        let path = room.join(FILE);
        if path.is_file() {
            let text = fs::read_to_string(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
            read.push(raw::read(&path, &text)?);
        }
    }
    read.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
    check::together(&read)?;
    Ok(read.into_iter().map(|(algorithm, _)| algorithm).collect())
}

/// The folder of all algorithms: that of this crate, which in the repository is a link to `algorithms/` at its root.
pub fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms");
    own.canonicalize().unwrap_or(own)
}

/// The lines by which a build script says what it depends on: each algorithm's file and its programs. A new folder is not
/// among them: watched as a whole, every edit of RTL would compile the workspace anew. `make ace` and `ace new` see to it,
/// and a test of ace-engine does.
///
/// # Errors
/// If a folder cannot be read.
pub fn watched(algorithms: &[Algorithm]) -> Result<String, Error> {
    let mut lines = String::from("cargo::rerun-if-changed=build.rs\n");
    for algorithm in algorithms {
        let own =
            [algorithm.folder.join(FILE)].into_iter().chain(algorithm.programs()?).chain(algorithm.sets());
        for path in own {
            let _ = writeln!(lines, "cargo::rerun-if-changed={}", path.display());
        }
    }
    Ok(lines)
}

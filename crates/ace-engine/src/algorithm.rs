// SPDX-License-Identifier: Apache-2.0
//! The table of algorithms, generated from `algorithms/*/algorithm.toml`: one row each, data only. What the CPU runs for
//! a row is generated beside it, for [`crate::software`].

use std::fmt;

/// One algorithm: what the slot boundary calls it and what it looks like from outside.
#[derive(Debug)]
pub struct Algorithm {
    /// Lower case, as in SA files and on the command line.
    pub name: &'static str,
    /// Byte 0 of a request frame.
    pub code: u8,
    /// Cipher or hash, with its lengths.
    pub kind: Kind,
    /// As pages have it.
    pub title: &'static str,
    /// The standard.
    pub source: &'static str,
}

/// A cipher or a hash, and its lengths.
#[derive(Debug)]
pub enum Kind {
    /// Block and key lengths in bytes.
    Cipher {
        /// Length of a block in bytes.
        block: usize,
        /// The key lengths that the cipher takes, in bytes.
        keys: &'static [usize],
    },
    /// Block and digest lengths in bytes.
    Hash {
        /// Length of the block that the compression function takes, in bytes.
        block: usize,
        /// Length of the whole digest in bytes.
        digest: usize,
    },
}

include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));

impl Algorithm {
    /// By name; `tdes` and `des-ede3` are accepted for `3des`, `cast5` for `cast128` and the like (`aliases`).
    pub fn by_name(name: &str) -> Option<&'static Algorithm> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, algorithm)| *algorithm);
        alias.or_else(|| ALGORITHMS.iter().copied().find(|a| a.name == name))
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Algorithm {}

impl std::hash::Hash for Algorithm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make ace` and `ace new` see to new folders; whoever calls cargo alone is told.
    #[test]
    fn every_room_is_in_this_build() {
        let rooms = ace_algorithms::load(&ace_algorithms::folder()).unwrap();
        let rooms: Vec<&str> =
            rooms.iter().filter(|room| room.code().is_some()).map(|room| room.name.as_str()).collect();
        let known: Vec<&str> = ALGORITHMS.iter().map(|a| a.name).collect();
        assert_eq!(known, rooms, "a folder came or went: `touch crates/*/build.rs`, and build again");
    }

    #[test]
    fn other_names_are_found() {
        for (alias, name) in
            [("tdes", "3des"), ("des-ede3", "3des"), ("cast5", "cast128"), ("sha-256", "sha256")]
        {
            assert_eq!(Algorithm::by_name(alias).map(|a| a.name), Some(name));
        }
        assert!(Algorithm::by_name("rot13").is_none() && Algorithm::by_name("AES").is_none());
    }
}

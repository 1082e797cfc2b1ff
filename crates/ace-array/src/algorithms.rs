// SPDX-License-Identifier: Apache-2.0
//! The programs of `algorithms/*/array/`, and what they serve, as they were when this was built.

use crate::Error;
use crate::frontend::Program;

include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));

/// A program, by its file's name.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Files that are algorithms, and not part of others.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|(_, text)| text.contains("\nalgorithm ")).map(|(name, _)| *name)
}

/// An algorithm, by its file's name.
pub fn program(name: &str) -> Result<Program, Error> {
    let text = file(name).ok_or_else(|| Error::Use(format!("no algorithm has a file array/{name}")))?;
    Program::parse(name, text, &|other| file(other).map(str::to_owned))
}

/// What frames of one code ask for: which file's variants serve which keys.
pub struct Served {
    /// Byte 0 of a frame.
    pub code: u8,
    /// Its name in the engines' table.
    pub algorithm: &'static str,
    /// The file of `algorithms/*/array/` that has its variants.
    pub file: &'static str,
    /// What the variants' names begin with.
    pub stem: &'static str,
    /// Bytes of a key; none of a hash.
    pub keys: &'static [usize],
    /// The AEAD of these frames, by its name in the engines; of those of a cipher's modes and of a hash none.
    pub aead: Option<&'static str>,
}

impl Served {
    /// Who serves frames of this code with a key of so many bytes; of a hash whatever its key.
    pub fn find(code: u8, key: usize) -> Option<&'static Served> {
        SERVED
            .iter()
            .find(|served| served.code == code && (served.keys.is_empty() || served.keys.contains(&key)))
    }

    /// Who serves frames of this code that ask for an AEAD with a key of so many bytes.
    pub fn aead(code: u8, key: usize) -> Option<&'static Served> {
        AEADS.iter().find(|served| served.code == code && served.keys.contains(&key))
    }

    /// The variant for a direction; a hash has one.
    pub fn variant(&self, decrypt: bool) -> String {
        match (self.keys.is_empty(), decrypt) {
            (true, _) => self.stem.to_owned(),
            (_, true) => format!("{}_decrypt", self.stem),
            (_, false) => format!("{}_encrypt", self.stem),
        }
    }
}

/// What sets the keys of a cipher up: of raw keys of so many bytes, shorter ones with what stands behind them in the source.
pub struct KeySetup {
    /// The file of `algorithms/*/array/` with the variants that expand its keys.
    pub file: &'static str,
    /// The cipher's, in [`SERVED`].
    pub stem: &'static str,
    /// What stands behind `_keys` in the names, where each length has a set.
    pub bits: &'static str,
    /// Bytes of the raw key.
    pub bytes: usize,
}

impl KeySetup {
    /// Whose keys these are.
    pub fn served(&self) -> Option<&'static Served> {
        SERVED.iter().find(|served| served.stem == self.stem)
    }

    /// The variant for a direction.
    pub fn variant(&self, decrypt: bool) -> String {
        let direction = if decrypt { "decrypt" } else { "encrypt" };
        format!("{}_{direction}_keys{}", self.stem, self.bits)
    }
}

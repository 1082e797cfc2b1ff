// SPDX-License-Identifier: Apache-2.0
//! The algorithms of `array/`, as they were when this was built.

use crate::Error;
use crate::frontend::Program;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Every file of `array/`, by its name.
        pub const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../array/", $name)))),*];
    };
}

files![
    "aes.ace",
    "aes_boxes.ace",
    "aes_keys.ace",
    "cast128.ace",
    "cast128_key_boxes.ace",
    "cast128_key_bytes.ace",
    "cast128_keys.ace",
    "cast256.ace",
    "cast_boxes.ace",
    "des.ace",
    "des_keys.ace",
    "idea.ace",
    "idea_keys.ace",
    "mars.ace",
    "mars_boxes.ace",
    "md5.ace",
    "rc6.ace",
    "rc6_keys.ace",
    "serpent.ace",
    "serpent_boxes.ace",
    "serpent_keys.ace",
    "sha1.ace",
    "sha256.ace",
    "sm4.ace",
    "sm4_boxes.ace",
    "sm4_keys.ace",
    "twofish.ace",
    "twofish_boxes.ace",
    "twofish_keys.ace",
];

/// A file of `array/`.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Files that are algorithms, and not part of others.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|(_, text)| text.contains("\nalgorithm ")).map(|(name, _)| *name)
}

/// An algorithm of `array/`, by its file's name.
pub fn program(name: &str) -> Result<Program, Error> {
    let text = file(name).ok_or_else(|| Error::Use(format!("there is no file {name} in array/")))?;
    Program::parse(name, text, &|other| file(other).map(str::to_owned))
}

/// What frames of one code ask for: which file's variants serve which keys.
pub struct Served {
    /// Byte 0 of a frame.
    pub code: u8,
    /// Its name in the engines' table.
    pub algorithm: &'static str,
    pub file: &'static str,
    /// What the variants' names begin with.
    pub stem: &'static str,
    /// Bytes of a key; none of a hash.
    pub keys: &'static [usize],
}

/// Every algorithm whose sets fit the tile.
pub const SERVED: &[Served] = &[
    Served { code: 0x01, algorithm: "aes", file: "aes.ace", stem: "aes128", keys: &[16] },
    Served { code: 0x01, algorithm: "aes", file: "aes.ace", stem: "aes192", keys: &[24] },
    Served { code: 0x01, algorithm: "aes", file: "aes.ace", stem: "aes256", keys: &[32] },
    Served { code: 0x02, algorithm: "des", file: "des.ace", stem: "des", keys: &[8] },
    Served { code: 0x02, algorithm: "3des", file: "des.ace", stem: "tdes", keys: &[16, 24] },
    Served {
        code: 0x03,
        algorithm: "mars",
        file: "mars.ace",
        stem: "mars",
        keys: &[16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56],
    },
    Served { code: 0x04, algorithm: "rc6", file: "rc6.ace", stem: "rc6", keys: &[16, 24, 32] },
    Served { code: 0x05, algorithm: "serpent", file: "serpent.ace", stem: "serpent", keys: &[16, 24, 32] },
    Served { code: 0x06, algorithm: "twofish", file: "twofish.ace", stem: "twofish128", keys: &[16] },
    Served { code: 0x06, algorithm: "twofish", file: "twofish.ace", stem: "twofish192", keys: &[24] },
    Served { code: 0x06, algorithm: "twofish", file: "twofish.ace", stem: "twofish256", keys: &[32] },
    Served {
        code: 0x07,
        algorithm: "cast128",
        file: "cast128.ace",
        stem: "cast128_short",
        keys: &[5, 6, 7, 8, 9, 10],
    },
    Served {
        code: 0x07,
        algorithm: "cast128",
        file: "cast128.ace",
        stem: "cast128",
        keys: &[11, 12, 13, 14, 15, 16],
    },
    Served {
        code: 0x08,
        algorithm: "cast256",
        file: "cast256.ace",
        stem: "cast256",
        keys: &[16, 20, 24, 28, 32],
    },
    Served { code: 0x09, algorithm: "idea", file: "idea.ace", stem: "idea", keys: &[16] },
    Served { code: 0x0B, algorithm: "sm4", file: "sm4.ace", stem: "sm4", keys: &[16] },
    Served { code: 0x41, algorithm: "md5", file: "md5.ace", stem: "md5", keys: &[] },
    Served { code: 0x42, algorithm: "sha1", file: "sha1.ace", stem: "sha1", keys: &[] },
    Served { code: 0x44, algorithm: "sha256", file: "sha256.ace", stem: "sha256", keys: &[] },
];

impl Served {
    /// Who serves frames of this code with a key of so many bytes; of a hash whatever its key.
    pub fn find(code: u8, key: usize) -> Option<&'static Served> {
        SERVED
            .iter()
            .find(|served| served.code == code && (served.keys.is_empty() || served.keys.contains(&key)))
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
    pub file: &'static str,
    /// The cipher's, in [`SERVED`].
    pub stem: &'static str,
    /// What stands behind `_keys` in the names, where each length has a set.
    pub bits: &'static str,
    pub bytes: usize,
}

/// Every key set-up that fits the tile.
pub const SETUPS: &[KeySetup] = &[
    KeySetup { file: "aes_keys.ace", stem: "aes128", bits: "", bytes: 16 },
    KeySetup { file: "aes_keys.ace", stem: "aes192", bits: "", bytes: 24 },
    KeySetup { file: "aes_keys.ace", stem: "aes256", bits: "", bytes: 32 },
    KeySetup { file: "des_keys.ace", stem: "des", bits: "", bytes: 8 },
    KeySetup { file: "des_keys.ace", stem: "tdes", bits: "", bytes: 24 },
    KeySetup { file: "rc6_keys.ace", stem: "rc6", bits: "128", bytes: 16 },
    KeySetup { file: "rc6_keys.ace", stem: "rc6", bits: "192", bytes: 24 },
    KeySetup { file: "rc6_keys.ace", stem: "rc6", bits: "256", bytes: 32 },
    KeySetup { file: "serpent_keys.ace", stem: "serpent", bits: "", bytes: 32 },
    KeySetup { file: "twofish_keys.ace", stem: "twofish128", bits: "", bytes: 16 },
    KeySetup { file: "twofish_keys.ace", stem: "twofish192", bits: "", bytes: 24 },
    KeySetup { file: "twofish_keys.ace", stem: "twofish256", bits: "", bytes: 32 },
    KeySetup { file: "cast128_keys.ace", stem: "cast128_short", bits: "", bytes: 16 },
    KeySetup { file: "cast128_keys.ace", stem: "cast128", bits: "", bytes: 16 },
    KeySetup { file: "idea_keys.ace", stem: "idea", bits: "", bytes: 16 },
    KeySetup { file: "sm4_keys.ace", stem: "sm4", bits: "", bytes: 16 },
];

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

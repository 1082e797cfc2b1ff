// SPDX-License-Identifier: Apache-2.0
//! What a configuration computes: the words of its manifest (docs/flow.md), parsed when it is read.

use ace_engine::{Aead, Algorithm, Direction, Mode, Need};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{cbc_mac, ccm};

/// What a hash core's frames may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashOperation {
    /// The digest of a message.
    Hash,
    /// HMAC from the two states behind the pads.
    HmacStates,
    /// HMAC from the key, of at most a block.
    HmacKey,
}

impl HashOperation {
    /// All, in the order of manifests.
    pub const ALL: [Self; 3] = [Self::Hash, Self::HmacStates, Self::HmacKey];

    /// As manifests write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::HmacStates => "hmac-states",
            Self::HmacKey => "hmac-key",
        }
    }
}

/// One algorithm that a configuration computes, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Words", into = "Words")]
pub struct Capability {
    /// As the manifest names it. One that is not in the table of `ace-engine` serves no need.
    pub algorithm: String,
    /// Byte 0 of a request frame.
    pub code: u8,
    /// Ciphers: key lengths in bytes.
    pub key_bytes: Vec<usize>,
    /// Ciphers: which of both. For CTR and OFB it does not matter.
    pub directions: Vec<Direction>,
    /// Ciphers: modes.
    pub modes: Vec<Mode>,
    /// Ciphers: AEADs that are made of it. What computes those has no modes.
    pub aeads: Vec<Aead>,
    /// Hashes: what frames may ask for.
    pub operations: Vec<HashOperation>,
    /// The one of this name and code in the table.
    known: Option<&'static Algorithm>,
}

impl Capability {
    /// Of an algorithm of this name and code, nothing yet.
    pub fn of(algorithm: &str, code: u8) -> Self {
        let known =
            Algorithm::by_name(algorithm).filter(|known| known.name == algorithm && known.code == code);
        Self {
            algorithm: algorithm.to_owned(),
            code,
            key_bytes: Vec::new(),
            directions: Vec::new(),
            modes: Vec::new(),
            aeads: Vec::new(),
            operations: Vec::new(),
            known,
        }
    }

    /// Whether this computes `need`.
    pub fn serves(&self, need: &Need) -> bool {
        if let Need::Aead { aead: Aead::Ccm, direction, key_len } = need {
            let (first, second) = ccm::computed(*direction, *key_len);
            return self.serves(&first) && self.serves(&second);
        }
        let need = cbc_mac::computed(need);
        if self.known.is_none() || self.known != asked_of(&need) {
            return false;
        }
        match &need {
            Need::Cipher { mode, direction, key_len, .. } => {
                self.key_bytes.contains(key_len)
                    && self.modes.contains(mode)
                    && (!mode.has_direction() || self.directions.contains(direction))
            }
            Need::Hash { .. } => self.operations.contains(&HashOperation::Hash),
            // Keys longer than a block are hashed by the slot first.
            Need::Hmac { .. } => {
                [HashOperation::HmacKey, HashOperation::Hash].iter().all(|it| self.operations.contains(it))
            }
            Need::Aead { aead, direction, key_len } => {
                self.key_bytes.contains(key_len)
                    && self.aeads.contains(aead)
                    && self.directions.contains(direction)
            }
            // A packet is longer than the associated data of a frame.
            Need::Gmac { .. } => false,
            // A cipher's pass, above.
            Need::Xcbc | Need::Cmac { .. } => false,
        }
    }

    /// Whether there are frames that both answer: same code, and a direction and a mode of a cipher, whatever the length of
    /// the key, or an operation of a hash. Frames of an AEAD are others than those of its cipher.
    pub fn answers_like(&self, other: &Self) -> bool {
        self.code == other.code
            && self.aeads.is_empty() == other.aeads.is_empty()
            && ((self.directions.iter().any(|way| other.directions.contains(way))
                && (!self.aeads.is_empty() || self.modes.iter().any(|mode| other.modes.contains(mode))))
                || self.operations.iter().any(|operation| other.operations.contains(operation)))
    }
}

/// The algorithm of the table by whose code a slot is asked.
pub(crate) fn asked_of(need: &Need) -> Option<&'static Algorithm> {
    match need {
        Need::Aead { aead, .. } => aead.cipher(),
        need => need.algorithm(),
    }
}

/// As a manifest has it.
#[derive(Deserialize, Serialize)]
struct Words {
    algorithm: String,
    code: u8,
    #[serde(default)]
    key_bytes: Vec<usize>,
    #[serde(default)]
    directions: Vec<String>,
    #[serde(default)]
    modes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aeads: Vec<String>,
    #[serde(default)]
    operations: Vec<String>,
}

/// A word of a manifest that is none of those that there are.
#[derive(Debug, Error)]
#[error("{algorithm}: `{what}` names the unknown {word:?}; known: {known}")]
struct UnknownWord {
    algorithm: String,
    what: &'static str,
    word: String,
    known: String,
}

impl TryFrom<Words> for Capability {
    type Error = UnknownWord;

    fn try_from(words: Words) -> Result<Self, UnknownWord> {
        let Words { algorithm, code, key_bytes, directions, modes, aeads, operations } = words;
        Ok(Self {
            key_bytes,
            directions: parse(&algorithm, "directions", directions, &Direction::BOTH, Direction::name)?,
            modes: parse(&algorithm, "modes", modes, &Mode::ALL, Mode::name)?,
            aeads: parse(&algorithm, "aeads", aeads, &Aead::ALL, Aead::name)?,
            operations: parse(
                &algorithm,
                "operations",
                operations,
                &HashOperation::ALL,
                HashOperation::name,
            )?,
            ..Self::of(&algorithm, code)
        })
    }
}

impl From<Capability> for Words {
    fn from(can: Capability) -> Self {
        Self {
            algorithm: can.algorithm,
            code: can.code,
            key_bytes: can.key_bytes,
            directions: can.directions.into_iter().map(|it| it.name().to_owned()).collect(),
            modes: can.modes.into_iter().map(|it| it.name().to_owned()).collect(),
            aeads: can.aeads.into_iter().map(|it| it.name().to_owned()).collect(),
            operations: can.operations.into_iter().map(|it| it.name().to_owned()).collect(),
        }
    }
}

fn parse<T: Copy>(
    algorithm: &str,
    what: &'static str,
    words: Vec<String>,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, UnknownWord> {
    let one = |word: String| {
        all.iter().copied().find(|it| name(*it) == word).ok_or_else(|| UnknownWord {
            algorithm: algorithm.to_owned(),
            what,
            word,
            known: all.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", "),
        })
    };
    words.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AES: &str = r#"{"algorithm":"aes","code":1,"kind":"cipher","block_bytes":16,"key_bytes":[16],
        "directions":["encrypt"],"modes":["cbc","ctr"]}"#;

    fn read(text: &str) -> serde_json::Result<Capability> {
        serde_json::from_str(text)
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let can = read(AES).unwrap();
        let written = serde_json::to_string(&can).unwrap();
        assert_eq!(
            written,
            r#"{"algorithm":"aes","code":1,"key_bytes":[16],"directions":["encrypt"],"modes":["cbc","ctr"],"operations":[]}"#
        );
        assert_eq!(read(&written).unwrap(), can);
    }

    #[test]
    fn a_word_that_nobody_knows_is_an_error() {
        for (old, new, wanted) in [
            ("ctr", "xts", r#"aes: `modes` names the unknown "xts"; known: ecb, cbc, ctr, cfb, cfb8, ofb"#),
            ("encrypt", "forth", r#"`directions` names the unknown "forth"; known: encrypt, decrypt"#),
            (r#""modes":["#, r#""operations":["mac"],"modes":["#, "known: hash, hmac-states, hmac-key"),
        ] {
            let error = read(&AES.replace(old, new)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn an_aead_is_served_by_what_names_it_and_by_nothing_else() {
        let text = AES.replace(r#""modes":["cbc","ctr"]"#, r#""aeads":["aes-gcm"]"#);
        let can = read(&text).unwrap();
        assert_eq!(read(&serde_json::to_string(&can).unwrap()).unwrap(), can);
        let aead = |aead, direction, key_len| Need::Aead { aead, direction, key_len };
        let sealed = aead(Aead::Gcm, Direction::Encrypt, 16);
        assert!(can.serves(&sealed) && !read(AES).unwrap().serves(&sealed));
        for other in [
            aead(Aead::Gcm, Direction::Decrypt, 16),
            aead(Aead::Gcm, Direction::Encrypt, 32),
            aead(Aead::Ccm, Direction::Encrypt, 16),
            aead(Aead::ChaCha20Poly1305, Direction::Encrypt, 32),
        ] {
            assert!(!can.serves(&other), "{other}");
        }
        let algorithm = Algorithm::by_name("aes").unwrap();
        for mode in Mode::ALL {
            let need = Need::Cipher { algorithm, mode, direction: Direction::Encrypt, key_len: 16 };
            assert!(!can.serves(&need), "{need}");
        }
        // Of a slot's two kinds of frames each has a key of its own.
        assert!(can.answers_like(&can) && !can.answers_like(&read(AES).unwrap()));
        let error = read(&text.replace("aes-gcm", "gcm")).unwrap_err().to_string();
        assert!(error.contains("`aeads` names the unknown \"gcm\"; known: aes-gcm, aes-ccm"), "{error}");
    }

    #[test]
    fn only_the_table_s_name_with_its_code_serves() {
        let need = |direction, mode| {
            let algorithm = Algorithm::by_name("aes").unwrap();
            Need::Cipher { algorithm, mode, direction, key_len: 16 }
        };
        let (on, back) = (Direction::Encrypt, Direction::Decrypt);
        let can = read(AES).unwrap();
        assert!(can.serves(&need(on, Mode::Cbc)) && can.serves(&need(back, Mode::Ctr)));
        assert!(!can.serves(&need(back, Mode::Cbc)) && !can.serves(&need(on, Mode::Ecb)));
        // MACs that are CBC encryption.
        assert!(can.serves(&Need::Xcbc) && can.serves(&Need::Cmac { key_len: 16 }));
        let ctr = read(&AES.replace(r#""modes":["cbc","ctr"]"#, r#""modes":["ctr"]"#)).unwrap();
        // AES-CCM is a pass of each, of which both encipher.
        let sealed = |direction| Need::Aead { aead: Aead::Ccm, direction, key_len: 16 };
        assert!(can.serves(&sealed(on)) && can.serves(&sealed(back)));
        assert!(
            !ctr.serves(&sealed(on))
                && !ctr.serves(&Need::Aead { aead: Aead::Ccm, direction: on, key_len: 32 })
        );
        assert!(!ctr.serves(&Need::Xcbc) && !ctr.serves(&Need::Cmac { key_len: 16 }));
        for (old, new) in
            [(r#""code":1"#, r#""code":2"#), (r#""aes""#, r#""rot-13""#), (r#""aes""#, r#""AES""#)]
        {
            let other = read(&AES.replace(old, new)).unwrap();
            assert!(!other.serves(&need(on, Mode::Cbc)) && !other.serves(&Need::Xcbc), "{new}");
        }
    }
}

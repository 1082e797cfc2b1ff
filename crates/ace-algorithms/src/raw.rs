// SPDX-License-Identifier: Apache-2.0
//! One `algorithm.toml`: what it says, and whether that can be.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::{Algorithm, Error, Kind, Setup, Variant};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    title: String,
    #[serde(default)]
    aliases: Vec<String>,
    identifier: Option<Spanned<String>>,
    code: Option<Spanned<i64>>,
    kind: Spanned<String>,
    block_bytes: Option<Spanned<usize>>,
    key_bytes: Option<Spanned<Vec<usize>>>,
    digest_bytes: Option<Spanned<usize>>,
    cpu: Option<Spanned<Vec<String>>>,
    source: String,
    about: String,
    // What rows can, and rows: the flow's, which says what is wrong with them.
    #[serde(default, rename = "can")]
    _can: toml::Table,
    #[serde(default)]
    configuration: Vec<Row>,
    #[serde(default)]
    variant: Vec<Row>,
    #[serde(default)]
    array: Array,
}

#[derive(Deserialize)]
struct Row {
    sets: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Array {
    #[serde(default)]
    variant: Vec<Spanned<RawVariant>>,
    #[serde(default)]
    aead: Vec<Spanned<RawAead>>,
    #[serde(default)]
    keys: Vec<Spanned<RawSetup>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVariant {
    file: String,
    stem: String,
    #[serde(default)]
    key_bytes: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAead {
    name: String,
    file: String,
    stem: String,
    key_bytes: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSetup {
    file: String,
    stem: String,
    #[serde(default)]
    bits: String,
    key_bytes: usize,
}

/// A file's text, to say where it is wrong.
pub struct Place {
    path: PathBuf,
    text: String,
}

impl Place {
    /// An error at a byte of the text.
    pub fn at(&self, byte: usize, message: impl Into<String>) -> Error {
        let before = self.text.as_bytes().iter().take(byte);
        let line = 1 + before.filter(|b| **b == b'\n').count();
        Error::Wrong { path: self.path.clone(), line, message: message.into() }
    }

    /// An error where a key stands, or at the beginning.
    pub fn key(&self, key: &str, message: impl Into<String>) -> Error {
        let starts = |line: &str| line.split('=').next().is_some_and(|k| k.trim() == key);
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if starts(line) {
                return self.at(at, message);
            }
            at += line.len();
        }
        self.at(0, message)
    }

    fn of<T>(&self, value: &Spanned<T>, message: impl Into<String>) -> Error {
        self.at(value.span().start, message)
    }
}

/// Reads one file; its text is kept for what is wrong with all together.
pub fn read(path: &Path, text: &str) -> Result<(Algorithm, Place), Error> {
    let place = Place { path: path.to_owned(), text: text.to_owned() };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(fits) {
        return Err(place
            .at(0, format!("the folder is called `{name}`; small letters, digits and hyphens make a name")));
    }
    let raw: Raw = toml::from_str(text).map_err(|error| {
        let message = format!("{}; docs/adding-an-algorithm.md has all keys", error.message());
        place.at(error.span().map_or(0, |span| span.start), message)
    })?;
    let kind = kind(&raw, &place)?;
    let lengths = match &kind {
        Kind::Cipher { keys, .. } => keys.len(),
        Kind::Hash { .. } => 1,
        Kind::Aead => 0,
    };
    if let Some(cpu) = &raw.cpu
        && ![1, lengths].contains(&cpu.get_ref().len())
    {
        return Err(place.of(
            cpu,
            format!("`cpu` names {} types; one, or one for each length of key", cpu.get_ref().len()),
        ));
    }
    let study = |row: &Row| row.sets.as_ref().is_some_and(|sets| sets.iter().all(|set| set == "study"));
    let mut rows = raw.configuration.iter().chain(&raw.variant);
    let algorithm = Algorithm {
        identifier: identifier(&raw, &name, &place)?,
        hardware: rows.any(|row| !study(row)),
        variants: raw.array.variant.iter().map(|v| variant(v, &kind, &place)).collect::<Result<_, _>>()?,
        aeads: raw.array.aead.iter().map(|v| aead(v, &kind, &place)).collect::<Result<_, _>>()?,
        setups: raw.array.keys.iter().map(setup).collect(),
        cpu: raw.cpu.map(Spanned::into_inner).unwrap_or_default(),
        title: raw.title,
        aliases: raw.aliases,
        source: raw.source,
        about: raw.about,
        name,
        kind,
        folder,
    };
    Ok((algorithm, place))
}

fn kind(raw: &Raw, place: &Place) -> Result<Kind, Error> {
    let missing =
        |key: &str| place.of(&raw.kind, format!("`{key}` is missing: a {} has one", raw.kind.get_ref()));
    let code = |low: i64, high: i64| {
        let code = raw.code.as_ref().ok_or_else(|| missing("code"))?;
        let wrong = || {
            place.of(
                code,
                format!(
                    "`code` is {:#04x}; {low:#04x} to {high:#04x} are for a {}",
                    code.get_ref(),
                    raw.kind.get_ref()
                ),
            )
        };
        let fits = (low..=high).contains(code.get_ref());
        u8::try_from(*code.get_ref()).ok().filter(|_| fits).ok_or_else(wrong)
    };
    let number = |key: &str, value: &Option<Spanned<usize>>, allowed: &[usize]| {
        let value = value.as_ref().ok_or_else(|| missing(key))?;
        let fits = allowed.contains(value.get_ref());
        fits.then_some(*value.get_ref()).ok_or_else(|| {
            let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
            place.of(value, format!("`{key}` is {}; allowed: {}", value.get_ref(), allowed.join(", ")))
        })
    };
    match raw.kind.get_ref().as_str() {
        "cipher" => {
            let keys = raw.key_bytes.as_ref().ok_or_else(|| missing("key_bytes"))?;
            let list = keys.get_ref();
            if list.is_empty()
                || !list.is_sorted_by(|a, b| a < b)
                || list.iter().any(|n| !(5..=56).contains(n))
            {
                return Err(
                    place.of(keys, "`key_bytes` must be lengths from 5 to 56, each once, the shortest first")
                );
            }
            let block = number("block_bytes", &raw.block_bytes, &[8, 16])?;
            Ok(Kind::Cipher { code: code(0x01, 0x3f)?, block, keys: list.clone() })
        }
        "hash" => {
            let block = number("block_bytes", &raw.block_bytes, &[64, 128])?;
            let digest = number("digest_bytes", &raw.digest_bytes, &[16, 20, 28, 32, 48, 64])?;
            Ok(Kind::Hash { code: code(0x41, 0x7f)?, block, digest })
        }
        "aead" => Ok(Kind::Aead),
        other => Err(place.of(&raw.kind, format!("`kind` is `{other}`; cipher, hash or aead is wanted"))),
    }
}

fn identifier(raw: &Raw, name: &str, place: &Place) -> Result<String, Error> {
    let given = raw.identifier.as_ref().map(|i| i.get_ref().clone());
    let identifier = given.unwrap_or_else(|| name.to_uppercase().replace('-', "_"));
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if identifier.starts_with(|c: char| c.is_ascii_uppercase()) && identifier.chars().all(fits) {
        return Ok(identifier);
    }
    let message = format!(
        "`{identifier}` is no name for a static in Rust; say another one: identifier = \"A_{identifier}\""
    );
    Err(raw.identifier.as_ref().map_or_else(|| place.key("title", &message), |i| place.of(i, &message)))
}

fn variant(raw: &Spanned<RawVariant>, kind: &Kind, place: &Place) -> Result<Variant, Error> {
    let RawVariant { file, stem, key_bytes } = raw.get_ref();
    let fits = match kind {
        Kind::Cipher { keys, .. } => !key_bytes.is_empty() && key_bytes.iter().all(|n| keys.contains(n)),
        _ => key_bytes.is_empty(),
    };
    if !fits {
        let message =
            format!("array variant `{stem}`: `key_bytes` must be some of the cipher's; a hash has none");
        return Err(place.of(raw, message));
    }
    Ok(Variant { file: file.clone(), stem: stem.clone(), keys: key_bytes.clone(), aead: None })
}

/// What AEADs there are the engines know.
fn aead(raw: &Spanned<RawAead>, kind: &Kind, place: &Place) -> Result<Variant, Error> {
    let RawAead { name, file, stem, key_bytes } = raw.get_ref();
    match kind {
        Kind::Cipher { keys, .. } if !key_bytes.is_empty() && key_bytes.iter().all(|n| keys.contains(n)) => {
            let aead = Some(name.clone());
            Ok(Variant { file: file.clone(), stem: stem.clone(), keys: key_bytes.clone(), aead })
        }
        _ => {
            let message = format!("array AEAD `{stem}`: `key_bytes` must be some of the cipher's");
            Err(place.of(raw, message))
        }
    }
}

fn setup(raw: &Spanned<RawSetup>) -> Setup {
    let RawSetup { file, stem, bits, key_bytes } = raw.get_ref();
    Setup { file: file.clone(), stem: stem.clone(), bits: bits.clone(), bytes: *key_bytes }
}

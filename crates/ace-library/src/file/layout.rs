// SPDX-License-Identifier: Apache-2.0
//! The bytes of a library file; docs/library-format.md has the same as a table.

use ace_ecp5::memory::EBR_BYTES;
use sha2::{Digest, Sha256};

use super::delta::{BLOCK_ENTRY_BYTES, RUN_BYTES};
use super::image::{INDEX_ENTRY_BYTES, Image};
use super::key::{PublicKey, SecretKey};
use super::library::Library;
use super::name::NAME_BYTES;
use super::parse::parse;
use super::reader::{Malformed, Reader};
use super::set::{self, ContextSet};
use super::trust::{KEYS_MAX, KeySet, Trust, fingerprints};
use crate::codec::{CONTEXTS_BYTES, DICTIONARY_BYTES, Tables};
use crate::error::Refusal;

pub(super) const MAGIC: &[u8; 8] = b"ACELIB\r\n";
const FORMAT: u32 = 7;
/// The same, but that streams are small, and the tables that they need stand behind the dictionary.
pub(super) const FORMAT_SMALL: u32 = 8;
/// Added to the format of a file that has context sets: whoever does not know them takes none of it.
pub(super) const SETS: u32 = 16;
/// All of them, for whoever has another one.
const KNOWN: &str = "7 and 8, and 16 more with context sets";
const HEADER: usize = 40;
const DIGEST: usize = 32;
/// In front of the signatures: how many there are, and zero.
const SIGNERS: usize = 8;
/// A public key and what it has signed.
pub const SIGNATURE_BYTES: usize = 32 + 64;

/// Bytes of a file by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What a reader looks at first.
    pub header: usize,
    /// The rows that occur most.
    pub dictionary: usize,
    /// The tables of small streams.
    pub contexts: usize,
    /// Of block RAMs, each once.
    pub contents: usize,
    /// Of the configurations.
    pub index: usize,
    /// Which frames streams hold.
    pub runs: usize,
    /// Streams.
    pub frames: usize,
    /// The streams that make bases of their variants again.
    pub home: usize,
    /// Lists of block RAMs.
    pub blocks: usize,
    /// Context sets and their index.
    pub sets: usize,
    /// Manifests and proofs.
    pub texts: usize,
    /// The digest, and how many signatures there are.
    pub trailer: usize,
}

impl Parts {
    /// What decompression reads.
    pub fn configurations(&self) -> usize {
        let streams = self.runs + self.frames + self.home + self.blocks;
        self.dictionary + self.contexts + self.contents + self.index + streams
    }

    /// Length of the file without signatures.
    pub fn total(&self) -> usize {
        self.configurations() + self.header + self.sets + self.texts + self.trailer
    }
}

impl Library {
    /// What a file of this library is made of.
    pub fn parts(&self) -> Parts {
        let sum = |bytes: &dyn Fn(&Image) -> usize| self.images.iter().map(bytes).sum();
        Parts {
            header: HEADER,
            dictionary: DICTIONARY_BYTES,
            contexts: self.tables.contexts.as_ref().map_or(0, |_| CONTEXTS_BYTES),
            contents: self.contents.len() * EBR_BYTES,
            index: self.images.len() * INDEX_ENTRY_BYTES,
            runs: sum(&|i| i.runs.len() * RUN_BYTES + i.used_bytes().len()),
            frames: sum(&|i| i.frames.len()),
            home: sum(&|i| i.home.len()),
            blocks: sum(&|i| i.blocks.len() * BLOCK_ENTRY_BYTES),
            sets: self.sets.iter().map(ContextSet::stored_bytes).sum(),
            texts: sum(&Image::text_bytes) + self.sets.iter().map(ContextSet::text_bytes).sum::<usize>(),
            trailer: DIGEST + SIGNERS,
        }
    }

    /// The file's bytes. Without a key it is unsigned, and nothing but `sign` takes it.
    pub fn to_bytes(&self, key: Option<&SecretKey>) -> Vec<u8> {
        let total = self.parts().total();
        let signed = total - SIGNERS;
        let mut out = Vec::with_capacity(total + SIGNATURE_BYTES);
        out.extend(MAGIC);
        let Tables { dictionary, contexts } = &self.tables;
        let format = if contexts.is_some() { FORMAT_SMALL } else { FORMAT };
        let format = if self.sets.is_empty() { format } else { format | SETS };
        out.extend(format.to_le_bytes());
        out.extend((self.images.len() as u32).to_le_bytes());
        out.extend(self.version.to_le_bytes());
        out.extend((signed as u64).to_le_bytes());
        out.extend((self.contents.len() as u32).to_le_bytes());
        out.extend((self.sets.len() as u32).to_le_bytes());
        out.extend(dictionary.to_bytes());
        contexts.iter().for_each(|contexts| out.extend(contexts.to_bytes()));
        self.contents.iter().for_each(|contents| out.extend(contents));
        let mut offset = out.len() + self.images.len() * INDEX_ENTRY_BYTES;
        for i in &self.images {
            let mut name = [0; NAME_BYTES];
            name[..i.name.len()].copy_from_slice(i.name.as_bytes());
            out.extend(name);
            out.extend((offset as u64).to_le_bytes());
            let words = [
                i.device.idcode,
                i.control0,
                i.usercode,
                (i.used_bytes().len() + i.frames.len()) as u32,
                i.blocks.len() as u32,
                i.manifest.deflated.len() as u32,
                i.manifest.len as u32,
                i.proof.deflated.len() as u32,
                i.proof.len as u32,
            ];
            words.iter().for_each(|word| out.extend(word.to_le_bytes()));
            out.extend(i.digest);
            let base = i.base.as_ref().and_then(|base| self.images.iter().position(|i| i.name == *base));
            out.extend(base.map_or(0, |at| at as u32 + 1).to_le_bytes());
            out.extend((i.runs.len() as u32).to_le_bytes());
            out.extend((i.home.len() as u32).to_le_bytes());
            offset += i.stored_frame_bytes() + i.blocks.len() * BLOCK_ENTRY_BYTES + i.text_bytes();
        }
        for i in &self.images {
            for run in &i.runs {
                out.extend(run.address.to_le_bytes());
                out.extend(run.frames.to_le_bytes());
            }
            out.extend(i.used_bytes());
            out.extend(&i.frames);
            out.extend(&i.home);
            for (id, number) in &i.blocks {
                out.extend(id.to_le_bytes());
                out.extend(number.to_le_bytes());
            }
            out.extend(&i.manifest.deflated);
            out.extend(&i.proof.deflated);
        }
        set::put(&self.sets, &mut out);
        out.extend(Sha256::digest(&out));
        let signatures = key.map(|key| (key.public().to_bytes(), key.sign(&out)));
        close(&mut out, signatures.as_slice());
        out
    }

    /// Reads a file's bytes. Nothing in them is believed before digest and signatures are right.
    ///
    /// # Errors
    /// When they are not what `trust` asks for.
    pub fn from_bytes(bytes: &[u8], trust: &Trust) -> Result<Self, Refusal> {
        Self::signed(bytes, trust).map(|(library, _)| library)
    }

    /// The same, and who of those that are trusted have signed it; of nobody in particular, nobody.
    ///
    /// # Errors
    /// As [`Library::from_bytes`].
    pub fn signed(bytes: &[u8], trust: &Trust) -> Result<(Self, Vec<PublicKey>), Refusal> {
        let Checked { format, body, signers, .. } = check(bytes, trust)?;
        let library = parse(body, format).map_err(|Malformed(what)| Refusal::Malformed { what })?;
        Ok((library, signers))
    }
}

/// The bytes of a file with one more signature, or with a new one in the place of that of the same key. What is signed
/// stays as it is. Signatures that are wrong are left out, which only makes a difference where anybody is trusted.
///
/// # Errors
/// When they are not what `trust` asks for, or there is no place for another signature.
pub fn countersign(bytes: &[u8], trust: &Trust, key: &SecretKey) -> Result<Vec<u8>, Refusal> {
    Library::from_bytes(bytes, trust)?;
    let Checked { signed, mut signatures, .. } = check(bytes, trust)?;
    let own = key.public().to_bytes();
    let good = |(key, signature): &Signed| {
        *key != own && PublicKey::from_bytes(key).is_some_and(|key| key.verifies(signed, signature))
    };
    signatures.retain(good);
    signatures.push((own, key.sign(signed)));
    signatures.sort_unstable();
    if signatures.len() > KEYS_MAX {
        return Err(Refusal::Malformed { what: "number of signatures".to_owned() });
    }
    let mut out = signed.to_vec();
    close(&mut out, &signatures);
    Ok(out)
}

/// A key and its signature.
type Signed = ([u8; 32], [u8; 64]);

/// Puts signatures behind what is signed.
fn close(out: &mut Vec<u8>, signatures: &[Signed]) {
    out.extend((signatures.len() as u32).to_le_bytes());
    out.extend([0; 4]);
    for (key, signature) in signatures {
        out.extend(key);
        out.extend(signature);
    }
}

/// A file about which everything is as it must be, but what is in it.
struct Checked<'a> {
    format: u32,
    /// The part in front of the digest.
    body: &'a [u8],
    /// What is signed: the digest, too.
    signed: &'a [u8],
    signatures: Vec<Signed>,
    /// Those of them that are trusted.
    signers: Vec<PublicKey>,
}

fn check<'a>(bytes: &'a [u8], trust: &Trust) -> Result<Checked<'a>, Refusal> {
    let found = bytes.len() as u64;
    let head = bytes.get(..bytes.len().min(MAGIC.len())).unwrap_or_default();
    if head.is_empty() || !MAGIC.starts_with(head) {
        return Err(Refusal::NoLibrary);
    }
    let Some(mut header) = bytes.get(MAGIC.len()..HEADER).map(Reader::new) else {
        return Err(Refusal::Truncated { found, wanted: (HEADER + DIGEST + SIGNERS) as u64 });
    };
    let (format, _, version, length) = (header.word(), header.word(), header.long(), header.long());
    let (format, version, length) = (format.unwrap_or(0), version.unwrap_or(0), length.unwrap_or(u64::MAX));
    if ![FORMAT, FORMAT_SMALL].contains(&(format & !SETS)) {
        return Err(Refusal::Format { found: format, known: KNOWN, version });
    }
    let wanted = length.saturating_add(SIGNERS as u64);
    let split = usize::try_from(length).ok().filter(|_| found >= wanted);
    let (signed, rest) = split.map(|at| bytes.split_at(at)).ok_or(Refusal::Truncated { found, wanted })?;
    let (body, digest) = signed.split_last_chunk::<DIGEST>().ok_or(Refusal::Altered)?;
    let mut rest = Reader::new(rest);
    let count = rest.word().map_or(u64::MAX, u64::from);
    let wanted = wanted.saturating_add(count.saturating_mul(SIGNATURE_BYTES as u64));
    if found < wanted {
        return Err(Refusal::Truncated { found, wanted });
    }
    if found > wanted {
        return Err(Refusal::Trailing { more: found - wanted });
    }
    if body.len() < HEADER || Sha256::digest(body)[..] != digest[..] {
        return Err(Refusal::Altered);
    }
    let signatures = signatures(&mut rest)?;
    let signers = match &trust.keys {
        None => Vec::new(),
        Some(keys) => signers(signed, &signatures, keys)?,
    };
    let required = trust.required_version.max(trust.keys.as_ref().map_or(0, KeySet::oldest));
    if version < required {
        return Err(Refusal::Downgraded { found: version, required });
    }
    Ok(Checked { format, body, signed, signatures, signers })
}

/// What stands behind the number of signatures: each key once, in order.
fn signatures(rest: &mut Reader) -> Result<Vec<Signed>, Refusal> {
    let malformed = || Refusal::Malformed { what: "list of signatures".to_owned() };
    rest.zeros(4).ok_or_else(malformed)?;
    let mut signatures: Vec<Signed> = Vec::new();
    while rest.left() > 0 {
        let (key, signature) = (rest.take(32), rest.take(64));
        let key = *key.and_then(|key| key.first_chunk()).ok_or_else(malformed)?;
        let signature = *signature.and_then(|bytes| bytes.first_chunk()).ok_or_else(malformed)?;
        if signatures.last().is_some_and(|(last, _)| *last >= key) || signatures.len() == KEYS_MAX {
            return Err(malformed());
        }
        signatures.push((key, signature));
    }
    Ok(signatures)
}

/// Who of the keys have signed, if that is enough. No signature may be wrong, whosever it is.
fn signers(signed: &[u8], signatures: &[Signed], trusted: &KeySet) -> Result<Vec<PublicKey>, Refusal> {
    if signatures.is_empty() {
        return Err(Refusal::Unsigned);
    }
    let mut all = Vec::new();
    for (key, signature) in signatures {
        let wrong = || Refusal::Signature { key: hex::encode(key) };
        let key = PublicKey::from_bytes(key).ok_or_else(wrong)?;
        if !key.verifies(signed, signature) {
            return Err(Refusal::Signature { key: key.fingerprint() });
        }
        all.push(key);
    }
    let signers: Vec<PublicKey> = all.iter().copied().filter(|key| trusted.keys().contains(key)).collect();
    if signers.is_empty() {
        return Err(Refusal::OtherKey { found: fingerprints(&all), trusted: trusted.to_string() });
    }
    if signers.len() < trusted.threshold() {
        return Err(Refusal::TooFew { found: fingerprints(&signers), trusted: trusted.to_string() });
    }
    Ok(signers)
}

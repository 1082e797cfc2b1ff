// SPDX-License-Identifier: Apache-2.0
//! The bytes of a library file; docs/library-format.md has the same as a table.

use ace_ecp5::Device;
use ace_ecp5::memory::EBR_BYTES;
use sha2::{Digest, Sha256};

use super::delta::{self, RUN_BYTES, Run};
use super::image::Text;
use super::key::{PublicKey, SecretKey};
use super::name::{NAME_BYTES, is_name};
use super::set;
use super::trust::{KEYS_MAX, KeySet, Trust, fingerprints};
use super::used::Used;
use super::{BLANK, ContextSet, Image, Library, METADATA_MAX};
use crate::codec::{BLOCK_ENTRY_BYTES, CONTEXTS_BYTES, Contexts, DICTIONARY_BYTES, Dictionary, Tables};
use crate::error::Refusal;

const MAGIC: &[u8; 8] = b"ACELIB\r\n";
const FORMAT: u32 = 7;
/// The same, but that streams are small, and the tables that they need stand behind the dictionary.
const FORMAT_SMALL: u32 = 8;
/// As the first, but that frames are not cut into rows where tiles begin.
const FORMAT_EVEN: u32 = 6;
/// And that the streams of whole configurations hold all frames.
const FORMAT_ALL: u32 = 5;
/// Added to the format of a file that has context sets: whoever does not know them takes none of it.
const SETS: u32 = 16;
const HEADER: usize = 40;
/// Bytes of the index for one configuration.
pub const INDEX_ENTRY_BYTES: usize = 128;
const DIGEST: usize = 32;
/// In front of the signatures: how many there are, and zero.
const SIGNERS: usize = 8;
/// A public key and what it has signed.
pub const SIGNATURE_BYTES: usize = 32 + 64;

/// Bytes of a file by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub header: usize,
    pub dictionary: usize,
    /// The tables of small streams.
    pub contexts: usize,
    pub contents: usize,
    pub index: usize,
    pub runs: usize,
    pub frames: usize,
    /// The streams that make bases of their variants again.
    pub home: usize,
    pub blocks: usize,
    /// Context sets and their index.
    pub sets: usize,
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
        let format = match contexts {
            Some(_) => FORMAT_SMALL,
            None if dictionary.is_even() => FORMAT_EVEN,
            None => FORMAT,
        };
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
        let library = parse(body, format).map_err(|what| Refusal::Malformed { what })?;
        if let Some(wanted) = trust.device
            && let Some(image) = library.images.iter().find(|i| i.device != wanted)
        {
            let (name, found) = (image.name.clone(), image.device.name);
            return Err(Refusal::WrongDevice { name, found, wanted });
        }
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
    let Some(mut header) = bytes.get(MAGIC.len()..HEADER).map(Reader) else {
        return Err(Refusal::Truncated { found, wanted: (HEADER + DIGEST + SIGNERS) as u64 });
    };
    let (format, _, version, length) = (header.word(), header.word(), header.long(), header.long());
    let (format, version, length) = (format.unwrap_or(0), version.unwrap_or(0), length.unwrap_or(u64::MAX));
    let with_sets = [FORMAT, FORMAT_SMALL, FORMAT_EVEN].map(|format| format | SETS);
    if ![FORMAT, FORMAT_SMALL, FORMAT_EVEN, FORMAT_ALL].contains(&format) && !with_sets.contains(&format) {
        return Err(Refusal::Format { found: format, known: FORMAT_SMALL | SETS, version });
    }
    let wanted = length.saturating_add(SIGNERS as u64);
    let split = usize::try_from(length).ok().filter(|_| found >= wanted);
    let (signed, rest) = split.map(|at| bytes.split_at(at)).ok_or(Refusal::Truncated { found, wanted })?;
    let (body, digest) = signed.split_last_chunk::<DIGEST>().ok_or(Refusal::Altered)?;
    let mut rest = Reader(rest);
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
    while !rest.0.is_empty() {
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

fn parse(body: &[u8], format: u32) -> Result<Library, String> {
    let mut all = Reader(body);
    let header = || "header".to_owned();
    all.take(MAGIC.len() + 4).ok_or_else(header)?;
    let count = all.word().ok_or_else(header)? as usize;
    let version = all.long().ok_or_else(header)?;
    all.take(8).ok_or_else(header)?;
    let contents = all.word().ok_or_else(header)? as usize;
    let sets = all.word().ok_or_else(header)? as usize;
    if (sets != 0) != (format & SETS != 0) {
        return Err(header());
    }
    let format = format & !SETS;
    let dictionary = all.take(DICTIONARY_BYTES).and_then(|bytes| match format {
        FORMAT | FORMAT_SMALL => Dictionary::from_bytes(bytes),
        _ => Dictionary::even(bytes),
    });
    let dictionary = dictionary.ok_or("dictionary")?;
    let contexts = match format {
        FORMAT_SMALL => {
            let contexts = all.take(CONTEXTS_BYTES).and_then(Contexts::from_bytes);
            Some(Box::new(contexts.ok_or("tables of small streams")?))
        }
        _ => None,
    };
    let bytes = contents.checked_mul(EBR_BYTES).and_then(|n| all.take(n)).ok_or("block RAM contents")?;
    let contents: Vec<Vec<u8>> = bytes.chunks_exact(EBR_BYTES).map(<[u8]>::to_vec).collect();
    let index = count.checked_mul(INDEX_ENTRY_BYTES).and_then(|n| all.take(n)).ok_or("index")?;
    let mut images: Vec<Image> = Vec::new();
    let mut bases: Vec<Option<usize>> = Vec::new();
    for entry in index.chunks_exact(INDEX_ENTRY_BYTES) {
        let offset = body.len() - all.0.len();
        let image = image(format, &mut Reader(entry), offset as u64, &mut all, contents.len());
        let (image, base) = image.ok_or_else(|| format!("index entry {}", images.len()))?;
        if images.last().is_some_and(|last| last.name >= image.name) {
            return Err(format!("order at {}", image.name));
        }
        images.push(image);
        bases.push(base);
    }
    for at in 0..images.len() {
        let Some(number) = bases[at] else { continue };
        let whole = bases.get(number) == Some(&None) && images[number].device == images[at].device;
        if !whole {
            return Err(format!("base of {}", images[at].name));
        }
        images[at].base = Some(images[number].name.clone());
    }
    let sets = set::take(sets, body.len(), &mut all)?;
    if all.left() != 0 {
        return Err("end".to_owned());
    }
    Ok(Library { version, tables: Tables { dictionary, contexts }, contents, images, sets })
}

/// One configuration: its entry in the index and, next in `data`, the rest; with the place of its base in the index.
fn image(
    format: u32,
    entry: &mut Reader,
    offset: u64,
    data: &mut Reader,
    contents: usize,
) -> Option<(Image, Option<usize>)> {
    let name = entry.name()?;
    if entry.long()? != offset {
        return None;
    }
    let device = Device::by_idcode(entry.word()?)?;
    let (control0, usercode) = (entry.word()?, entry.word()?);
    let (frames, blocks) = (entry.word()? as usize, entry.word()? as usize);
    let mut text = || Some((entry.word()? as usize, entry.word()? as usize));
    let (manifest, proof) = (text()?, text()?);
    let digest = *entry.take(32)?.first_chunk::<32>()?;
    let base = (entry.word()? as usize).checked_sub(1);
    let (runs, home) = (entry.word()? as usize, entry.word()? as usize);
    let mut runs = Reader(data.take(runs.checked_mul(RUN_BYTES)?)?);
    let runs = std::iter::from_fn(|| Some(Run { address: runs.word()?, frames: runs.word()? }));
    let runs: Vec<Run> = runs.collect();
    // Without a base the frames of the runs have a stream of their own; with one there is no other stream.
    let home_is_good = if base.is_none() { runs.is_empty() == (home == 0) } else { home == 0 };
    if !home_is_good || delta::positions(device, &runs).is_none() {
        return None;
    }
    let (frames, home) = (data.take(frames)?, data.take(home)?.to_vec());
    let (used, frames) = match base {
        Some(_) => (Used::default(), frames),
        None if format != FORMAT_ALL => Used::split(device, frames)?,
        None => (Used::all(device), frames),
    };
    let blocks = data.take(blocks.checked_mul(BLOCK_ENTRY_BYTES)?)?;
    let blocks: Vec<(u16, u16)> = blocks
        .chunks_exact(BLOCK_ENTRY_BYTES)
        .map(|b| (u16::from_le_bytes([b[0], b[1]]), u16::from_le_bytes([b[2], b[3]])))
        .collect();
    let known = |number: u16| number == BLANK || usize::from(number) < contents;
    if !blocks.iter().all(|(_, number)| known(*number)) {
        return None;
    }
    let mut text = |(deflated, len): (usize, usize)| {
        (len <= METADATA_MAX).then_some(Text { deflated: data.take(deflated)?.to_vec(), len })
    };
    let (manifest, proof) = (text(manifest)?, text(proof)?);
    let image = Image {
        name,
        device,
        control0,
        usercode,
        digest,
        base: None,
        runs,
        used,
        frames: frames.to_vec(),
        home,
        blocks,
        manifest,
        proof,
    };
    Some((image, base))
}

/// Takes bytes from the front.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// How many bytes there still are.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// A name with zeros behind it.
    pub(super) fn name(&mut self) -> Option<String> {
        let name = self.take(NAME_BYTES)?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        let (name, fill) = name.split_at(end);
        let name = String::from_utf8(name.to_vec()).ok().filter(|name| is_name(name))?;
        fill.iter().all(|byte| *byte == 0).then_some(name)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().map(|b| u32::from_le_bytes(*b))
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    pub(super) fn zeros(&mut self, len: usize) -> Option<()> {
        self.take(len)?.iter().all(|byte| *byte == 0).then_some(())
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What is in a file whose digest and signatures are right.

use ace_ecp5::Device;
use ace_ecp5::memory::EBR_BYTES;

use super::delta::{self, BLOCK_ENTRY_BYTES, RUN_BYTES, Run};
use super::image::{BLANK, INDEX_ENTRY_BYTES, Image, METADATA_MAX, Text};
use super::layout::{FORMAT_SMALL, MAGIC, SETS};
use super::library::Library;
use super::reader::{Malformed, Reader};
use super::set;
use super::used::Used;
use crate::codec::{CONTEXTS_BYTES, Contexts, DICTIONARY_BYTES, Dictionary, Tables};

pub(super) fn parse(body: &[u8], format: u32) -> Result<Library, Malformed> {
    let mut all = Reader::new(body);
    let header = || Malformed::from("header");
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
    let dictionary = all.take(DICTIONARY_BYTES).and_then(Dictionary::from_bytes);
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
        let offset = body.len() - all.left();
        let image = image(&mut Reader::new(entry), offset as u64, &mut all, contents.len());
        let (image, base) = image.ok_or_else(|| format!("index entry {}", images.len()))?;
        if images.last().is_some_and(|last| last.name >= image.name) {
            return Err(format!("order at {}", image.name).into());
        }
        images.push(image);
        bases.push(base);
    }
    for at in 0..images.len() {
        let Some(number) = bases[at] else { continue };
        let whole = bases.get(number) == Some(&None) && images[number].device == images[at].device;
        if !whole {
            return Err(format!("base of {}", images[at].name).into());
        }
        images[at].base = Some(images[number].name.clone());
    }
    let sets = set::take(sets, body.len(), &mut all)?;
    if all.left() != 0 {
        return Err("end".into());
    }
    Ok(Library { version, tables: Tables { dictionary, contexts }, contents, images, sets })
}

/// One configuration: its entry in the index and, next in `data`, the rest; with the place of its base in the index.
fn image(
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
    let mut runs = Reader::new(data.take(runs.checked_mul(RUN_BYTES)?)?);
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
        None => Used::split(device, frames)?,
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

// SPDX-License-Identifier: Apache-2.0
//! Table 4: what configurations take when index and dictionary both count.

use crate::page::{say, say_part};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use ace_board::Catalogue;
use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_library::codec::{Contexts, Dictionary, Stored, Tables};
use ace_library::paper;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A row of the paper's Tables 3 and 4.
#[derive(Deserialize, Serialize)]
pub struct Published {
    name: String,
    bits: u64,
    redundancy: f64,
    lzw: Sizes,
    phase1: Sizes,
    phase2: Sizes,
}

/// Bits of index and dictionary, and both over the bitstream.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Sizes {
    index: u64,
    dictionary: u64,
    percent: f64,
}

/// The same of a bitstream of ours, and others beside it, in percent of its frames and block RAM contents.
#[derive(Serialize)]
pub struct Row {
    name: String,
    lut4: Option<u64>,
    bits: u64,
    lzw: Sizes,
    phase1: Sizes,
    phase2: Sizes,
    gzip_percent: f64,
    xz_percent: f64,
    zstd_percent: f64,
    device_percent: f64,
    /// The library's own, with pointers and the whole of the dictionary that all share.
    library_bits: u64,
    library_percent: f64,
    /// Compressed frames over frames.
    frames_percent: f64,
    /// The same in small streams, the tables not counted.
    frames_small_percent: f64,
    /// What gzip, xz and zstd make of the frames alone.
    frames_gzip_percent: f64,
    frames_xz_percent: f64,
    frames_zstd_percent: f64,
}

/// Reads a bitstream into the memory it leaves behind.
pub fn image(path: &Path) -> Result<ConfigMemory> {
    let bytes = ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut port = ConfigPort::for_any_device();
    port.push(&bytes).with_context(|| path.display().to_string())?;
    Ok(port.finish().with_context(|| path.display().to_string())?.clone())
}

/// The rows of what is built; those of `also` come last and have no part in the dictionary.
pub fn rows(catalogue: &Catalogue, also: &[PathBuf]) -> Result<Vec<Row>> {
    let mut images = Vec::new();
    let mut variants = BTreeSet::new();
    for configuration in &catalogue.configurations {
        let manifest = catalogue.folder.join(&configuration.name).join("manifest.json");
        let manifest: serde_json::Value = serde_json::from_slice(&ace_fs::read(&manifest)?)?;
        let lut4 = manifest["area"]["lut4"].as_u64();
        if manifest["variant_of"].is_string() {
            variants.insert(configuration.name.clone());
        }
        images.push((configuration.name.clone(), lut4, image(&configuration.bitstream.path)?));
    }
    let dictionary = Dictionary::train(images.iter().map(|(_, _, image)| image));
    // As `ace library build --format small` does.
    let bases = images.iter().filter(|(name, ..)| !variants.contains(name));
    let contexts = Contexts::train(bases.map(|(_, _, image)| image));
    let small = Tables { dictionary: dictionary.clone(), contexts: Some(Box::new(contexts)) };
    let fast = Tables::from(dictionary);
    for path in also {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        images.push((name, None, image(path)?));
    }
    images.iter().map(|(name, lut4, image)| row(name, *lut4, image, (&fast, &small))).collect()
}

fn row(
    name: &str,
    lut4: Option<u64>,
    image: &ConfigMemory,
    (fast, small): (&Tables, &Tables),
) -> Result<Row> {
    let frames: Vec<u8> = image.frames().flatten().copied().collect();
    let mut data = frames.clone();
    image.ebr().for_each(|(_, bytes)| data.extend_from_slice(bytes));
    let percent = |bytes: usize, of: &[u8]| 100.0 * bytes as f64 / of.len() as f64;
    let sizes = |c: &paper::Compressed| Sizes {
        index: c.index_bits(),
        dictionary: c.dictionary_bits(),
        percent: 100.0 * (c.index_bits() + c.dictionary_bits()) as f64 / (data.len() * 8) as f64,
    };
    let scheme = paper::compress(&data);
    let stored = Stored::of(fast, image);
    let native = Emit { compress: true, ..Emit::default() }.whole(image).len();
    Ok(Row {
        name: name.to_owned(),
        lut4,
        bits: data.len() as u64 * 8,
        lzw: sizes(&scheme.lzw),
        phase1: sizes(&scheme.phase1),
        phase2: sizes(&scheme.phase2),
        gzip_percent: percent(gzip(&data)?, &data),
        xz_percent: percent(xz(&data)?, &data),
        zstd_percent: percent(zstd(&data)?, &data),
        device_percent: percent(native, &data),
        library_bits: stored.alone() as u64 * 8,
        library_percent: percent(stored.alone(), &data),
        frames_percent: percent(stored.frames, &frames),
        frames_small_percent: percent(Stored::of(small, image).frames, &frames),
        frames_gzip_percent: percent(gzip(&frames)?, &frames),
        frames_xz_percent: percent(xz(&frames)?, &frames),
        frames_zstd_percent: percent(zstd(&frames)?, &frames),
    })
}

fn gzip(data: &[u8]) -> Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data)?;
    Ok(encoder.finish()?.len())
}

fn xz(data: &[u8]) -> Result<usize> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 9);
    encoder.write_all(data)?;
    Ok(encoder.finish()?.len())
}

fn zstd(data: &[u8]) -> Result<usize> {
    Ok(zstd::bulk::compress(data, 19)?.len())
}

/// The paper's table, ours in the same columns, and ours beside other ways.
pub fn print(published: &[Published], rows: &[Row]) {
    let head = |title: &str| {
        say!("## {title}\n");
        say!(
            "| bitstream | bits | LZW index | dictionary | % | phase I index | dictionary | % | phase II index | dictionary | % |"
        );
        say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    };
    let line = |name: &str, bits: u64, ways: [Sizes; 3]| {
        say_part!("| {name} | {bits} ");
        for way in ways {
            say_part!("| {} | {} | {:.2} ", way.index, way.dictionary, way.percent);
        }
        say!("|");
    };
    head("Table 4 of the paper: Virtex bitstreams, sizes in bits");
    for p in published {
        line(&p.name, p.bits, [p.lzw, p.phase1, p.phase2]);
    }
    say!();
    head("The same ways with ours: frames and block RAM contents of ECP5 images, sizes in bits");
    for r in rows {
        line(&r.name, r.bits, [r.lzw, r.phase1, r.phase2]);
    }
    say!(
        "\nThe redundancy factor of Table 3 is LZW's index over the bitstream: {} in the paper, {} here.\n",
        range(published.iter().map(|p| p.redundancy)),
        range(rows.iter().map(|r| r.lzw.index as f64 / r.bits as f64)),
    );
    say!("## Beside other ways, in % of frames and block RAM contents\n");
    say!(
        "| bitstream | LUT4 | LZW | phase I | phase II | gzip -9 | xz -9 | zstd -19 | the device's own | library | frames alone: gzip -9 | xz -9 | zstd -19 | library | library, small |"
    );
    say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for r in rows {
        let lut4 = r.lut4.map_or("–".to_owned(), |n| n.to_string());
        say_part!("| {} | {lut4} ", r.name);
        for percent in [
            r.lzw.percent,
            r.phase1.percent,
            r.phase2.percent,
            r.gzip_percent,
            r.xz_percent,
            r.zstd_percent,
            r.device_percent,
            r.library_percent,
            r.frames_gzip_percent,
            r.frames_xz_percent,
            r.frames_zstd_percent,
            r.frames_percent,
            r.frames_small_percent,
        ] {
            say_part!("| {percent:.2} ");
        }
        say!("|");
    }
    say!(
        "\nLZW, phases I and II, and the library count everything that has to be in memory for decompression: index or \
         stream, pointers, dictionary (of the library's, shared by all, the whole is counted in every row). gzip, xz \
         and zstd rebuild their dictionaries in memories of 32 KiB to 8 MiB. The device's own is a whole bitstream \
         with its CRCs."
    );
}

fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    format!("{low:.2} to {:.2}", values.fold(0.0, f64::max))
}
